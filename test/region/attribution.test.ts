/**
 * The example of geopm_report(7), worked by hand, and genuine traces attributed again.
 *
 * The document's own slips: CPU 0 is in A for three rows (0.002 to 0.004), where it lists 0.002; the mean of its list
 * for B is 0.004, where it prints 0.002875. So A is 0.004 (not 0.00375) and B is 0.004; its sync-runtimes are right.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generalText } from '../../src/formats/geopm/write.ts';
import { HASH_UNMARKED as UNMARKED } from '../../src/model/region-hash.ts';
import {
  type AttributedSignal,
  Attribution,
  EPOCH_ALL,
  EPOCH_SOME,
  ROW,
} from '../../src/region/attribution.ts';
import { exactTotals, type ProcessRecord } from '../../src/region/exact-totals.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const A = 0xd3d99e8b;
const B = 0x4ad0cf31;

/** Rows 0.001 to 0.011 s of the document's table, a column per CPU. */
const CPUS = ['-AAA-BBBBB-', '--AAAABBBB-', '---AAAABBB-', '-AAAAABBBB-'].map((column) =>
  [...column].map((letter) => ({ '-': UNMARKED, A, B })[letter] ?? 0),
);

const agree = (hashes: readonly number[]) =>
  hashes.every((hash) => hash === hashes[0]) ? hashes[0] : UNMARKED;

describe('the example of geopm_report(7)', () => {
  const scopes = [
    [0, 1, 2, 3],
    [0, 1],
    [2, 3],
  ];
  const time = (scope: number): AttributedSignal => ({ behaviour: 'monotone', scope });
  const attribution = new Attribution([time(0), time(1), time(2)]);
  for (let ms = 0; ms <= 12; ms += 2) {
    const at = (cpu: number) => CPUS[cpu][ms - 1] ?? UNMARKED;
    const hashes = new Uint32Array(scopes.map((cpus) => agree(cpus.map(at))));
    attribution.update(ms / 1000, new Float64Array(3).fill(ms / 1000), hashes, 0);
  }
  const sync = (hash: number) =>
    [0, 1, 2].map((s) => generalText(attribution.total(attribution.rowOf(hash), s)));

  it('gives the sync-runtimes of board, package 0 and package 1', () => {
    expect(sync(A)).toEqual(['0.002', '0.002', '0.004']);
    expect(sync(B)).toEqual(['0.004', '0.004', '0.004']);
    expect(sync(UNMARKED)).toEqual(['0.006', '0.006', '0.004']);
    expect(generalText(attribution.total(ROW.application, 0))).toBe('0.012');
  });

  it('gives runtimes as means over processes', () => {
    const millis = (hash: number, cpu: number) => CPUS[cpu].filter((h) => h === hash).length;
    const processes = CPUS.map((_, cpu): ProcessRecord => {
      const region = (name: string, hash: number) => ({
        name,
        hash,
        count: 1,
        seconds: millis(hash, cpu) / 1000,
        threadSeconds: millis(hash, cpu) / 1000,
      });
      const regions = [region('A', A), region('B', B)];
      const inside = regions.reduce((sum, { seconds }) => sum + seconds, 0);
      return {
        pid: cpu + 1,
        started: 0,
        ended: 0.011,
        regions,
        inside,
        epochs: 0,
        firstEpoch: Number.NaN,
        overhead: 0,
      };
    });
    const { regions, unmarked, epoch } = exactTotals(processes);
    const shown = regions.map(({ name, runtime, count }) => [name, generalText(runtime), count]);
    expect(shown.sort()).toEqual([
      ['A', '0.004', 1],
      ['B', '0.004', 1],
    ]);
    expect(generalText(unmarked)).toBe('0.003');
    expect(epoch).toBeUndefined();
  });
});

describe('attribution', () => {
  const one = (behaviour: 'monotone' | 'variable') => [{ behaviour, scope: 0 }] as const;
  const feed = (attribution: Attribution, rows: readonly (readonly [number, number, number])[]) => {
    for (const [time, value, hash] of rows) {
      attribution.update(time, Float64Array.of(value), Uint32Array.of(hash), 0);
    }
    return attribution;
  };

  it('credits a variable signal, at the value of the end of the interval, to the region at its start', () => {
    const rows = [
      [1, 10, A],
      [2, 20, B],
      [5, 40, UNMARKED],
    ] as const;
    const ours = feed(new Attribution(one('variable')), rows);
    expect(ours.total(ours.rowOf(A), 0)).toBe(20);
    expect(ours.total(ours.rowOf(B), 0)).toBe(40);
    expect(ours.total(ROW.application, 0)).toBe((20 + 3 * 40) / 4);
    const geopm = feed(new Attribution(one('variable'), { weighFromZero: true }), rows);
    expect(geopm.total(ROW.application, 0)).toBe((2 * 20 + 3 * 40) / 5);
  });

  it('gives the change over a gap in a counter to the region in which the gap began', () => {
    const rows = [
      [0, 0, A],
      [1, Number.NaN, B],
      [2, 7, B],
      [3, 9, B],
    ] as const;
    const monotone = feed(new Attribution(one('monotone')), rows);
    expect(monotone.total(monotone.rowOf(A), 0)).toBe(7);
    expect(monotone.total(monotone.rowOf(B), 0)).toBe(2);
  });

  it('says which signals never were', () => {
    const rows = [
      [0, Number.NaN, A],
      [1, Number.NaN, A],
    ] as const;
    const absent = feed(new Attribution(one('monotone')), rows);
    expect(absent.seen(0)).toBe(false);
    const variable = feed(new Attribution(one('variable')), rows);
    expect(variable.total(ROW.application, 0)).toBeNaN();
  });

  it('begins epoch totals with the first epoch of any process, and apart with that of the last', () => {
    const attribution = new Attribution(one('monotone'));
    const bits = [0, EPOCH_SOME, EPOCH_SOME | EPOCH_ALL, EPOCH_SOME | EPOCH_ALL];
    for (const [k, bit] of bits.entries()) {
      const at = Float64Array.of(k);
      attribution.update(k, at, Uint32Array.of(UNMARKED), bit);
    }
    expect(attribution.total(ROW.epoch, 0)).toBe(2);
    expect(attribution.total(ROW.epochOfAll, 0)).toBe(1);
  });

  it('has room for any number of regions', () => {
    const attribution = new Attribution(one('monotone'));
    for (let k = 0; k <= 1000; k++) {
      const at = Float64Array.of(k);
      attribution.update(k, at, Uint32Array.of(k + 1), 0);
    }
    for (const hash of [1, 500, 1000]) {
      expect(attribution.total(attribution.rowOf(hash), 0)).toBe(1);
    }
    expect(attribution.total(attribution.rowOf(5000), 0)).toBe(0);
  });
});

interface Table {
  readonly names: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

function tableOf(file: string): Table {
  const text = readFileSync(join(GOLDEN ?? '', 'geopm/real-run', file), 'utf8');
  const [names, ...rows] = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split('|'));
  return { names, rows };
}

/** Region → the number behind `key` in a genuine report. */
function reported(file: string, key: string): Map<string, string> {
  const text = readFileSync(join(GOLDEN ?? '', 'geopm/real-run', file), 'utf8');
  const found = new Map<string, string>();
  let section = '';
  for (const line of text.split('\n')) {
    const hash = /^ {6}hash: (0x\w+)/.exec(line)?.[1];
    section = hash ?? /^ {4}(\w+ Totals):/.exec(line)?.[1] ?? section;
    if (line.trim().startsWith(`${key}:`)) found.set(section, line.split(': ')[1]);
  }
  return found;
}

describe.skipIf(GOLDEN === undefined)('genuine runs (TRISCOPE_GOLDEN)', () => {
  it.each(['one-rank', 'two-rank', 'no-epoch', 'killed-app', 'no-regions'])(
    'attributing the trace of %s again gives its report’s sync-runtimes and energies',
    (run) => {
      const { names, rows } = tableOf(`${run}.trace-vm`);
      const at = (name: string) => names.indexOf(name);
      const columns = [at('TIME'), at('CPU_ENERGY'), at('DRAM_ENERGY')];
      const attribution = new Attribution(columns.map(() => ({ behaviour: 'monotone', scope: 0 })));
      for (const row of rows) {
        const values = Float64Array.from(columns, (column) => Number(row[column]));
        const hash = Uint32Array.of(Number(row[at('REGION_HASH')]));
        const epoch = Number(row[at('EPOCH_COUNT')]) > 0 ? EPOCH_SOME | EPOCH_ALL : 0;
        attribution.update(values[0], values, hash, epoch);
      }
      const fields = ['sync-runtime (s)', 'package-energy (J)', 'dram-energy (J)'];
      for (const [signal, key] of fields.entries()) {
        for (const [section, text] of reported(`${run}.report-vm`, key)) {
          if (!section.startsWith('0x')) continue;
          const ours = attribution.total(attribution.rowOf(Number(section)), signal);
          expect(generalText(ours), `${section} ${key}`).toBe(text);
        }
        // The trace lacks the last interval, which is in no region.
        const whole = attribution.total(ROW.application, signal);
        const inTrace = Number(rows.at(-1)?.[columns[signal]]) - Number(rows[0][columns[signal]]);
        expect(whole).toBeCloseTo(inTrace, 6);
      }
    },
  );

  it.each(['one-rank', 'two-rank', 'proxy-epoch', 'edit-distance', 'no-epoch'])(
    'the profile trace of %s gives its report’s runtimes and counts',
    (run) => {
      const { rows } = tableOf(`${run}.profile-trace-vm`);
      const short = new Set(rows.filter((r) => r[2] === 'EVENT_SHORT_REGION').map((r) => r[3]));
      const pids = [...new Set(rows.map(([, pid]) => pid))];
      const processes = pids.map((pid): ProcessRecord => {
        const own = rows.filter((row) => row[1] === pid);
        const timeOf = (event: string) => Number(own.find((row) => row[2] === event)?.[0]);
        const visits = new Map<string, { count: number; seconds: number; entered: number }>();
        for (const [time, , event, signal] of own) {
          if (!event.startsWith('REGION_')) continue;
          const visit = visits.get(signal) ?? { count: 0, seconds: 0, entered: 0 };
          visits.set(signal, visit);
          if (event === 'REGION_ENTRY') visit.entered = Number(time);
          else {
            visit.count++;
            visit.seconds += Number(time) - visit.entered;
          }
        }
        const regions = [...visits].map(([hash, { count, seconds }]) => {
          return { name: hash, hash: Number(hash), count, seconds, threadSeconds: seconds };
        });
        return {
          pid: Number(pid),
          started: timeOf('EVENT_START_PROFILE'),
          ended: timeOf('EVENT_STOP_PROFILE'),
          regions,
          inside: regions.reduce((sum, { seconds }) => sum + seconds, 0),
          epochs: own.filter((row) => row[2] === 'EPOCH_COUNT').length,
          firstEpoch: timeOf('EPOCH_COUNT'),
          overhead: timeOf('EVENT_OVERHEAD'),
        };
      });
      const totals = exactTotals(processes);
      const runtimes = reported(`${run}.report-vm`, 'runtime (s)');
      const counts = reported(`${run}.report-vm`, 'count');
      for (const { name, runtime, count } of totals.regions) {
        // Short visits are summed up in the file: their times are lost.
        if (short.has(name)) continue;
        expect(generalText(count), name).toBe(counts.get(name));
        expect(generalText(runtime), name).toBe(runtimes.get(name));
      }
      const least = totals.epoch?.leastCount;
      expect(least === undefined ? undefined : generalText(least)).toBe(counts.get('Epoch Totals'));
      const application = totals.ended - totals.started;
      expect(generalText(application)).toBe(runtimes.get('Application Totals'));
    },
  );
});
