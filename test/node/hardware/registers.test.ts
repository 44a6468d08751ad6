/** Types of registers: what they give for machines made by hand, what they say where they are absent, what they write. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Collection, hardwareOf, NODE_TYPES, NodeTree, Programming, Sampling } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { totalsEpoch, WideCounter } from '../../../dist/node/hardware/wide-counter.js';
import {
  CASES,
  CBO_V1,
  CBO_V1_LINES,
  EIGHT,
  EIGHT_LINE,
  intel,
  msr,
  ONE,
  THREADS,
  TWO_CORES,
  ZEN,
} from './machines.ts';
import { collect, type Machine, machine, missing, program, typeNamed } from './support.ts';

const BOX_CONTROLS = [0xf4, 0x430, 0xa30, 0xd04, 0xd24, 0xe00, 0xe10, 0xc24, 0x710];
const FILTERS = [0xd14, 0xd34, 0xe05, 0xe06, 0xe15, 0xe16];
/** Registers that programming reads before it writes. */
const CONTROLS = [...BOX_CONTROLS, ...FILTERS, 0x38d, 0x38f, 0x391, 0x395, 0x700, 0xc0010015]
  .map((at) => `${at.toString(16)} 0`)
  .join('\n');

describe('types of registers', () => {
  it.each(CASES.map((one) => [one.type, one] as const))('%s', (type, { on, lines }) => {
    const { records, failures } = collect(machine(on), [type]);
    expect(failures).toEqual([]);
    expect(records.toSorted()).toEqual(lines.map((line) => `${type} ${line}`).toSorted());
  });

  it('are all here', () => {
    const names = NODE_TYPES.map(({ name }) => name).filter((name) =>
      /^(intel|amd)(?!_gpu)/.test(name),
    );
    expect(CASES.map(({ type }) => type)).toEqual(names);
  });

  it.each(CASES.map((one) => [one.type, one] as const))(
    '%s: programming writes no counter and resets none',
    (type, { on }) => {
      const registers = Object.entries(on.msr ?? {}).map(([cpu, text]) => [
        cpu,
        `${CONTROLS}\n${text}`,
      ]);
      const root = machine({ ...on, msr: Object.fromEntries(registers) });
      const before = collect(root, [type]);
      const after = collect(root, [type], true);
      expect(after.failures).toEqual([]);
      const keys = before.schemas[0].split(' ').slice(1);
      const counters = (record: string) => {
        const values = record.split(' ').slice(2);
        return values.filter((_, k) => keys[k].includes(',E'));
      };
      expect(after.records.map(counters)).toEqual(before.records.map(counters));

      const tree = new NodeTree(root);
      program(type, tree);
      for (const { at, value } of hardwareOf(tree).writes) {
        // Of a box: bit 0 resets its selectors, bit 1 its counters.
        if (BOX_CONTROLS.includes(at)) expect(value & 3n).toBe(0n);
        // Of an uncore's selector: bit 17 resets its counter.
        else if (
          /_(cbo|cha|pcu|imc|qpi|hau|r2pci|mc|edc)$/.test(type) &&
          at !== 0x700 &&
          !FILTERS.includes(at)
        )
          expect(value & (1n << 17n)).toBe(0n);
      }
    },
  );
});

describe('one type per processor', () => {
  const cores = NODE_TYPES.filter(({ help }) => help.startsWith('core counters')).map(
    ({ name }) => name,
  );
  const present = (on: Machine) => {
    const root = machine(on);
    return cores.filter((name) => missing(root, name) === null);
  };

  it.each([
    ['intel_nhm', 0x1a, THREADS],
    ['intel_wtm', 0x2c, THREADS],
    ['intel_snb', 0x2d, ONE],
    ['intel_4pmc3', 0x2d, THREADS],
    ['intel_ivb', 0x3e, ONE],
    ['intel_hsw', 0x3f, ONE],
    ['intel_hsw_ht', 0x3f, THREADS],
    ['intel_bdw', 0x4f, ONE],
    ['intel_skx', 0x55, THREADS],
    ['intel_8pmc3', 0x55, ONE],
    ['intel_knl', 0x57, THREADS],
  ] as const)('%s on model %i', (name, model, cpus) => {
    expect(present({ processor: intel(model), cpus, msr: { 0: EIGHT, 1: EIGHT } })).toEqual([name]);
  });

  it.each([[0x10], [0x17], [0x19], [0x1a]])('amd64_pmc on AMD family %i', (family) => {
    const registers = msr(
      ['c0010000', [1, 2, 3, 4, 5, 6, 7, 8]],
      ['c0010200', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
      ['c00000e7', [1, 2, 3]],
    );
    const processor = ['AuthenticAMD', family, 1] as const;
    expect(present({ processor, cpus: ONE, msr: { 0: registers } })).toEqual(['amd64_pmc']);
  });
});

describe('what is not there', () => {
  it('says which processor it is for, and which one this is', () => {
    const root = machine({ processor: intel(0x2d), cpus: ONE, msr: { 0: EIGHT } });
    expect(missing(root, 'intel_hsw')).toBe(
      'for Haswell; this is Intel 06_2D, whose type is intel_snb',
    );
    expect(missing(root, 'intel_hsw_cbo')).toBe('for Haswell; this is Intel 06_2D');
    expect(missing(root, 'amd64_rapl')).toBe(
      'for AMD families 17h, 19h and 1Ah; this is Intel 06_2D',
    );
    expect(missing(root, 'intel_hsw_imc')).toContain('/proc/bus/pci has no device 8086:2fb0');
  });

  it('says which register cannot be read', () => {
    const root = machine({ processor: intel(0x2d), cpus: ONE, msr: { 0: '186 1\n187 2' } });
    expect(missing(root, 'intel_snb')).toBe('no register 188h of msr 0');
  });

  it('leaves a CPU out that has no registers, and keeps the others', () => {
    const cpus = [
      [0, 0],
      [0, 1],
    ] as const;
    const root = machine({ processor: intel(0x2d), cpus, msr: { 1: EIGHT } });
    expect(collect(root, ['intel_snb']).records).toEqual([`intel_snb 1 ${EIGHT_LINE}`]);
  });

  it('writes energy as totals where it is read often enough: another schema, and nothing is lost', () => {
    const registers = msr(['606', [0xa0e03]], ['611', [4294967290]]);
    const root = machine({ processor: intel(0x3f), cpus: ONE, msr: { 0: registers } });
    let text = '';
    const sink = (bytes: Uint8Array) => {
      text += Buffer.from(bytes).toString();
    };
    const collection = new Collection(sink, { root, types: ['intel_rapl'], wide: true });
    collection.writer.header();
    collection.collect([]);
    collection.between();
    collection.collect([]);
    collection.close();
    expect(text.split('\n').filter((line) => /^!?intel_rapl/.test(line))).toEqual([
      '!intel_rapl MSR_PKG_ENERGY_STATUS,E MSR_RAPL_POWER_UNIT,C',
      `intel_rapl 0 0 ${0xa0e03}`,
      `intel_rapl 0 0 ${0xa0e03}`,
    ]);
  });

  it('widens a counter that rolls over between samples, and begins again where it may have unseen', () => {
    const metric = typeNamed('intel_rapl').metrics[0];
    const counter = new WideCounter('intel_rapl', metric);
    // 700 W at 2^-16 J for 600 s, read every 15 s: 6.4 times around.
    const step = 700 * 15 * 2 ** 16;
    for (let k = 0; k <= 40; k++) counter.step(Uint32Array.of((k * step) % 2 ** 32, 0), 15 * k);
    expect(counter.total).toBe(BigInt(40 * step));
    const before = totalsEpoch();
    counter.step(Uint32Array.of(5, 0), 700);
    expect(counter.total).toBe(0n);
    expect(totalsEpoch()).not.toBe(before);
  });

  it('a file of totals says whose they are, and is over where they begin again', () => {
    const root = machine({
      processor: intel(0x3f),
      cpus: ONE,
      msr: { 0: msr(['606', [0xa0e03]], ['611', [4294967290]]) },
    });
    const headOf = (wide: boolean) => {
      const sampling = new Sampling({ root, types: ['intel_rapl'], wide });
      return { sampling, text: Buffer.from(sampling.head.bytes).toString() };
    };
    expect(headOf(false).text).not.toContain('$totals');
    const { sampling, text } = headOf(true);
    expect(text).toContain(`\n$totals ${totalsEpoch()}\n`);
    expect(sampling.isOver).toBe(false);
    const counter = new WideCounter('intel_rapl', typeNamed('intel_rapl').metrics[0]);
    counter.step(Uint32Array.of(5, 0), 0);
    counter.step(Uint32Array.of(5, 0), 1e4);
    expect(sampling.isOver).toBe(true);
    expect(headOf(true).text).not.toContain(text.split('\n').find((line) => /totals/.test(line)));
  });

  it('has no key for an energy that the processor does not count', () => {
    const registers = msr(['606', [0xa1003]], ['611', [1]], ['619', [3]]);
    const root = machine({ processor: intel(0x3f), cpus: ONE, msr: { 0: registers } });
    expect(collect(root, ['intel_rapl'])).toMatchObject({
      schemas: [
        '!intel_rapl MSR_PKG_ENERGY_STATUS,E,W=32 MSR_DRAM_ENERGY_STATUS,E,W=32 MSR_RAPL_POWER_UNIT,C',
      ],
      records: ['intel_rapl 0 1 3 659459'],
    });
  });

  it('energy is told once: powercap has only the zones that registers do not tell', () => {
    const zone = (at: string, name: string) => ({
      [`sys/class/powercap/${at}/name`]: name,
      [`sys/class/powercap/${at}/energy_uj`]: '7',
      [`sys/class/powercap/${at}/max_energy_range_uj`]: '262143328850',
    });
    const files = {
      ...zone('intel-rapl:0', 'package-0'),
      ...zone('intel-rapl:0:0', 'dram'),
      ...zone('intel-rapl:0:1', 'uncore'),
      ...zone('intel-rapl:1', 'psys'),
    };
    const zones = (msr: Readonly<Record<number, string>>) => {
      let text = '';
      const root = machine({ processor: intel(0x3f), cpus: ONE, msr, files });
      const sink = (bytes: Uint8Array) => (text += Buffer.from(bytes).toString());
      const collection = new Collection(sink, { root, types: ['powercap'], wide: true });
      collection.collect([]);
      collection.close();
      return text.split('\n').flatMap((line) => /^powercap (\S+)/.exec(line)?.[1] ?? []);
    };
    expect(zones({ 0: msr(['606', [0xa1003]], ['611', [1]], ['619', [3]]) })).toEqual([
      'package-0/uncore',
      'psys',
    ]);
    expect(zones({})).toEqual(['package-0', 'package-0/dram', 'package-0/uncore', 'psys']);
  });

  it('points at the line of a recorded file that it cannot read', () => {
    const root = machine({ processor: intel(0x2d), cpus: ONE, msr: { 0: '186 1\n187 x' } });
    expect(missing(root, 'intel_snb')).toMatch(/msr\/cpu0, line 2: not a register/);
  });

  it('does not guess packages', () => {
    const root = machine({
      processor: intel(0x2d),
      cpus: [],
      msr: { 0: CBO_V1 },
      files: { 'sys/devices/system/cpu/online': '0\n', 'proc/cpuinfo': CPUINFO },
    });
    expect(missing(root, 'intel_snb_cbo')).toContain('which package each CPU is in');
  });
});

const CPUINFO = `processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 45
`;

describe('packages', () => {
  it('are known from /proc/cpuinfo where sysfs does not say', () => {
    const root = machine({
      cpus: [],
      msr: { 0: CBO_V1 },
      files: {
        'sys/devices/system/cpu/online': '0-1\n',
        'proc/cpuinfo': `${CPUINFO}physical id\t: 0\ncore id\t: 0\n\nprocessor\t: 1\nphysical id\t: 0\ncore id\t: 1\n`,
      },
    });
    expect(collect(root, ['intel_snb_cbo']).records).toEqual(
      CBO_V1_LINES.map((line) => `intel_snb_cbo ${line}`),
    );
  });
});

describe('programming', () => {
  it('refuses processors whose events are not known, and reads them all the same', () => {
    // A model of Zen 6.
    const zen6 = machine({
      processor: ['AuthenticAMD', 0x1a, 0x50],
      cpus: ONE,
      msr: {
        0: msr(['c0010200', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]], ['c00000e7', [1, 2, 3]]),
      },
    });
    const { records, failures } = collect(zen6, ['amd64_pmc'], true);
    expect(failures).toEqual([
      'amd64_pmc: no events are known for AMD 1A_50: its counters are not programmed',
    ]);
    expect(records).toEqual(['amd64_pmc 0 1 3 5 7 9 11 2 4 6 8 10 12 3 2 1']);
  });

  it.each([
    ['Zen 4', 0x19, 0x11, [0x431f03n, 0xf004000ffn, 0x4300c2n, 0x4300c3n, 0x432fafn, 0x43f7aen]],
    ['Zen 5', 0x1a, 0x02, [0x430f03n, 0xf004000ffn, 0x4300c2n, 0x4300c3n, 0x4327afn, 0x4357aen]],
  ] as const)('%s: selects its events, and lets the counters count', (_, family, model, events) => {
    const files = {
      processor: ['AuthenticAMD', family, model] as const,
      cpus: ONE,
      msr: {
        0: msr(
          ['c0000301', [0]],
          ['c0010015', [5]],
          ['c0010200', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
          ['c00000e7', [1, 2, 3]],
        ),
      },
    };
    const root = machine(files);
    const tree = new NodeTree(root);
    const saved = program('amd64_pmc', tree);
    expect(saved.at(-1)).toEqual({ space: 'msr 0', at: 0xc0000301, width: 8, value: '0' });
    expect(hardwareOf(tree).writes).toEqual([
      ...events.map((value, k) => ({ space: 'msr 0', at: 0xc0010200 + 2 * k, value })),
      { space: 'msr 0', at: 0xc0010015, value: 5n | (1n << 30n) },
      { space: 'msr 0', at: 0xc0000301, value: 0x3fn },
    ]);
  });

  it('keeps the bits of a register that it shares', () => {
    const root = machine({
      processor: ZEN,
      cpus: ONE,
      msr: {
        0: msr(
          ['c0010015', [5]],
          ['c0010200', [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]],
          ['c00000e7', [1, 2, 3]],
        ),
      },
    });
    const saved = program('amd64_pmc', new NodeTree(root));
    expect(saved.at(-1)).toEqual({ space: 'msr 0', at: 0xc0010015, width: 8, value: '5' });
  });

  it('writes nothing where a register is missing', () => {
    const root = machine({
      processor: intel(0x2d),
      cpus: TWO_CORES,
      msr: { 0: `${EIGHT}\n38d 1\n38f 2` },
    });
    const tree = new NodeTree(root);
    expect(() => program('intel_snb', tree)).toThrow('msr/cpu1');
    expect(hardwareOf(tree).writes).toEqual([]);
  });

  it('keeps what registers hold in a file before the first is written, and restores it after a crash', () => {
    const root = machine({
      processor: intel(0x2d),
      cpus: ONE,
      msr: { 0: `${EIGHT}\n38d 1\n38f 2` },
    });
    const path = join(root, 'registers');
    const killed = new NodeTree(root);
    expect(() =>
      typeNamed('intel_snb').program?.(killed, () => {
        throw new Error('killed');
      }),
    ).toThrow('killed');
    expect(hardwareOf(killed).writes).toEqual([]);

    const said: string[] = [];
    const programming = new Programming(path, (line) => said.push(line));
    expect(programming.begin(new NodeTree(root), ['intel_snb'])).toBe(true);
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    expect(kept.saved).toContainEqual({ space: 'msr 0', at: 0x38f, width: 8, value: '2' });
    // As a collector leaves it that was killed between the file and the last register.
    writeFileSync(path, JSON.stringify({ ...kept, done: false }));
    const next = new NodeTree(root);
    expect(programming.begin(next, ['intel_snb'])).toBe(true);
    const first = hardwareOf(next).writes.slice(0, kept.saved.length);
    expect(first.toReversed().map(({ value }) => String(value))).toEqual(
      kept.saved.map(({ value }: { value: string }) => value),
    );
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(kept);
    programming.end(next);
    expect(existsSync(path)).toBe(false);
    expect(said).toEqual([]);
  });
});
