/**
 * The original's own fixtures: trees of registers that tacc_stats was run on, the records that it made of them, and
 * each write of its `begin`. The trees do not say which processor they are of, nor where its CPUs lie: README.txt does.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hardwareOf, NODE_TYPES, NodeTree, restoreRegisters } from 'triscope/node';
import { describe, expect, it } from 'vitest';
import { collect, folder, identify, type Machine, missing, program } from './support.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;

const SANDY_BRIDGE: Machine = { processor: ['GenuineIntel', 6, 0x2d] };
const OPTERON: Machine = { processor: ['AuthenticAMD', 16, 2] };

const SNB_TYPES = ['', '_cbo', '_hau', '_imc', '_pcu', '_qpi', '_r2pci'].map(
  (unit) => `intel_snb${unit}`,
);

interface Fixture {
  /** Folder of tree N, which has no register of ours in it. */
  tree(step: number, known: Machine | null): string;
  /** Records of the original at step N. */
  records(step: number, types: readonly string[]): string[];
  readonly schemas: readonly string[];
  readonly writes: readonly string[];
}

function fixture(name: string): Fixture {
  const place = join(GOLDEN ?? '', 'tacc_stats', name);
  const [host] = readdirSync(place).filter((entry) => entry.endsWith('.example'));
  const [file] = readdirSync(join(place, host));
  const groups = readFileSync(join(place, host, file), 'latin1').split(/\n\n/);
  let unpacked = 0;
  return {
    tree: (step, known) => {
      const into = join(folder, `${name}-${unpacked++}`);
      mkdirSync(into);
      execFileSync('tar', ['-xzf', join(place, 'trees.tar.gz'), '-C', into]);
      const root = join(into, `tree${step}`);
      if (known) identify(root, known);
      return root;
    },
    records: (step, types) =>
      groups[step + 1].split('\n').filter((line) => types.includes(line.split(' ')[0])),
    schemas: groups[0].split('\n').filter((line) => line.startsWith('!')),
    writes: readFileSync(join(place, 'register_writes_at_begin.txt'), 'latin1').trim().split('\n'),
  };
}

/** What programming these types writes, as the original's list has it. */
function writesOf(tree: NodeTree, types: readonly string[]): string[] {
  for (const type of types) program(type, tree);
  return hardwareOf(tree).writes.map(({ space, at, value }) => {
    const [kind, cpu] = space.split(' ');
    const where = kind === 'msr' ? `cpu${cpu} msr` : 'pci fd cfg';
    const hex = (number: number | bigint) => `0x${number.toString(16).toUpperCase()}`;
    return `${where} ${hex(at)} <- ${hex(value)}`;
  });
}

describe.skipIf(GOLDEN === undefined)('Sandy Bridge, tacc_stats 2.3.0', () => {
  const golden = GOLDEN === undefined ? null : fixture('fixture_snb_v2.3.0');
  if (golden === null) return it('needs TRISCOPE_GOLDEN', () => {});

  it.each([1, 2, 3])('step %i gives the records of the original', (step) => {
    const { records, failures } = collect(golden.tree(step, SANDY_BRIDGE), SNB_TYPES);
    expect(failures).toEqual([]);
    expect(records.length).toBe(26);
    expect(new Set(records)).toEqual(new Set(golden.records(step, SNB_TYPES)));
  });

  it('step 0, before begin, gives them once programmed', () => {
    const { records } = collect(golden.tree(0, SANDY_BRIDGE), SNB_TYPES, true);
    expect(new Set(records)).toEqual(new Set(golden.records(0, SNB_TYPES)));
  });

  it('has its schemas', () => {
    const { schemas } = collect(golden.tree(1, SANDY_BRIDGE), SNB_TYPES);
    expect(schemas).toEqual(
      golden.schemas.filter((line) => SNB_TYPES.includes(line.slice(1).split(' ')[0])),
    );
  });

  it('is known by its selectors and PCI ids where the tree does not say which processor it is of', () => {
    const { records } = collect(golden.tree(1, null), ['intel_snb', 'intel_snb_imc']);
    expect(records.length).toBe(12);
    expect(missing(golden.tree(0, null), 'intel_snb')).toContain('neither /proc/cpuinfo nor CPUID');
  });

  it('archives energy as it is counted: the original scales it, and loses its rollover', () => {
    const { records } = collect(golden.tree(0, SANDY_BRIDGE), ['intel_rapl']);
    // 4294967000 counts of 2^-16 J are the 65535995 mJ of the original.
    expect(records).toEqual([
      'intel_rapl 0 4294967000 1000 2000 659459',
      'intel_rapl 1 4294967000 1000 2000 659459',
    ]);
    expect(golden.records(0, ['intel_rapl'])).toContain('intel_rapl 0 65535995 15 30');
    expect(Math.floor((4294967000 * 1000) / 2 ** ((659459 >> 8) & 0x1f))).toBe(65535995);
  });

  it('has no ports that answer datagrams, where the original wrote rows of zeros', () => {
    expect(golden.records(0, ['ib_ext'])).toEqual(['ib_ext mlx4_0/1 0 0 0 0 0 0 0 0 0 0']);
    expect(golden.records(0, ['ib_sw'])).toEqual(['ib_sw mlx4_0/1 0 0 0 0']);
    const root = golden.tree(0, SANDY_BRIDGE);
    expect(missing(root, 'ib_ext')).toBe('no umad device is recorded for mlx4_0/1');
    expect(missing(root, 'ib_sw')).toBe('no umad device is recorded for mlx4_0/1');
  });

  it('is programmed by the writes of the original, but for two', () => {
    const tree = new NodeTree(golden.tree(0, SANDY_BRIDGE));
    const wanted = golden.writes.map((line) =>
      line
        // 2.3.0 counts fixed events in the kernel only, of both threads; later versions, as here, all of one.
        .replace('0x38D <- 0x555', '0x38D <- 0x333')
        // It resets the counters of power control; we reset none.
        .replace('0xC24 <- 0x10102', '0xC24 <- 0x10100'),
    );
    expect(writesOf(tree, SNB_TYPES)).toEqual(wanted);
  });

  it('has its registers back after restoring', () => {
    const root = golden.tree(0, SANDY_BRIDGE);
    const tree = new NodeTree(root);
    const saved = SNB_TYPES.flatMap((type) => program(type, tree));
    // As a file between `begin` and `end` would have it.
    restoreRegisters(tree, NODE_TYPES, JSON.parse(JSON.stringify(saved)));
    const { writes } = hardwareOf(tree);
    const last = new Map(writes.map(({ space, at, value }) => [`${space} ${at}`, value]));
    expect(new Set(last.values())).toEqual(new Set([0n]));
    expect(last.size).toBe(saved.length);
    // Counting goes on last.
    expect(writes.at(-1)?.space).toBe('msr 0');
    expect(writes.at(-1)?.at).toBe(0x38f);
  });
});

describe.skipIf(GOLDEN === undefined)('Opteron, tacc_stats 1.0.2', () => {
  const golden = GOLDEN === undefined ? null : fixture('fixture_amd10h_v1.0.2');
  if (golden === null) return it('needs TRISCOPE_GOLDEN', () => {});
  const types = ['amd64_pmc'];

  it.each([1, 2, 3])('step %i gives the records of the original', (step) => {
    const { records } = collect(golden.tree(step, OPTERON), types);
    expect(records.length).toBe(4);
    expect(new Set(records)).toEqual(new Set(golden.records(step, types)));
  });

  it('step 0, before begin, gives them once programmed', () => {
    const { records } = collect(golden.tree(0, OPTERON), types, true);
    expect(new Set(records)).toEqual(new Set(golden.records(0, types)));
  });

  it('is known by its selectors', () => {
    expect(collect(golden.tree(1, null), types).records.length).toBe(4);
  });

  it('has its schema, and is programmed by its writes', () => {
    const root = golden.tree(0, OPTERON);
    expect(golden.schemas).toContain(collect(root, types).schemas[0]);
    expect(writesOf(new NodeTree(root), types)).toEqual(golden.writes);
  });
});

describe.skipIf(GOLDEN === undefined)('schemas of tacc_stats', () => {
  /** Where we differ, and why. */
  const OTHERS = new Set([
    // Energy is archived as counted, not in mJ, with the register that says its unit.
    'intel_rapl',
    'amd64_rapl',
    // Counters are counters, not control registers.
    'intel_4pmc3',
    // Four counters, which is what these processors have; fixed ones first, as files of 1.0 and 2.0 have them.
    'intel_nhm',
    'intel_wtm',
  ]);

  it('are those of 2.3.0, 2.3.3 or 2.3.5', () => {
    if (GOLDEN === undefined) return;
    const text = readFileSync(join(GOLDEN, 'tacc_stats', 'schemas.txt'), 'utf8');
    const theirs = new Map<string, Set<string>[]>();
    const options = (key: string) => key.split(',').filter(Boolean).sort().join(',');
    for (const line of text.split('\n')) {
      const [version, type, ...keys] = line.split(' ');
      if (!/^\d/.test(version)) continue;
      theirs.set(type, [...(theirs.get(type) ?? []), new Set(keys.map(options))]);
    }
    const compared = NODE_TYPES.filter(
      ({ name }) => /^(intel|amd64|ib_)/.test(name) && theirs.has(name) && !OTHERS.has(name),
    );
    for (const { name, metrics } of compared) {
      const ours = new Set(
        metrics.map(({ key, kind, bits, unit }) =>
          options(
            [
              key,
              kind === 'event' ? 'E' : 'C',
              bits === undefined ? '' : `W=${bits}`,
              unit === '' ? '' : `U=${unit}`,
            ].join(','),
          ),
        ),
      );
      expect(theirs.get(name), name).toContainEqual(ours);
    }
    expect(compared.length).toBeGreaterThan(35);
  });
});
