/** What is worked out from metrics: hand-worked numbers, and the same in SQL. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { measuresText } from '../../src/model/measures/docs.ts';
import {
  ACTIVITIES,
  bytes,
  COMMITTED_RATE,
  CPU_BUSY,
  CPU_IDLE,
  CPU_STOLEN,
  CPU_SYSTEM,
  CPU_USER,
  duration,
  EFFICIENCY,
  evaluate,
  HANDLED_RATE,
  inputsOf,
  type Measure,
  modeOf,
  percent,
  pooled,
  ROLLED_BACK_SHARE,
  SECONDARY_SHARE,
  type SumOf,
  scatter,
  sqlOf,
} from '../../src/model/measures/index.ts';
import { PE_FIELDS } from '../../src/model/schemas/ross.ts';

const sums =
  (of: Readonly<Record<string, number>>): SumOf =>
  (key) =>
    of[key] ?? null;

describe('a measure', () => {
  const work = sums({ events_processed: 900, events_rolled_back: 600 });

  it('is one sum over another', () => {
    expect(evaluate(HANDLED_RATE, work, 3)).toBe(300);
    expect(evaluate(COMMITTED_RATE, work, 3)).toBe(100);
    expect(evaluate(ROLLED_BACK_SHARE, work, null)).toBeCloseTo(66.667, 3);
    // Net 300, 600 undone: 100 (1 - 600 / 300).
    expect(evaluate(EFFICIENCY, work, null)).toBe(-100);
    expect(
      evaluate(SECONDARY_SHARE, sums({ secondary_rollbacks: 1, total_rollbacks: 8 }), null),
    ).toBe(12.5);
  });

  it('is null where an input was not measured, or nothing divides it', () => {
    expect(evaluate(EFFICIENCY, sums({ events_processed: 5 }), null)).toBeNull();
    expect(
      evaluate(EFFICIENCY, sums({ events_processed: 5, events_rolled_back: 5 }), null),
    ).toBeNull();
    expect(
      evaluate(ROLLED_BACK_SHARE, sums({ events_processed: 0, events_rolled_back: 0 }), null),
    ).toBeNull();
    expect(evaluate(HANDLED_RATE, work, null)).toBeNull();
    expect(evaluate(HANDLED_RATE, work, 0)).toBeNull();
  });

  it('is made of metrics that PEs are sampled for', () => {
    const keys: readonly string[] = PE_FIELDS.map(({ key }) => key);
    const all: readonly Measure[] = [
      ...[HANDLED_RATE, COMMITTED_RATE, EFFICIENCY, ROLLED_BACK_SHARE, SECONDARY_SHARE],
      ...ACTIVITIES,
    ];
    expect(all.flatMap(inputsOf).filter((key) => !keys.includes(key))).toEqual([]);
    expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
  });

  it('says that it is an estimate where a metric of it is one', () => {
    const estimated = new Set<string>(
      PE_FIELDS.flatMap((metric) => ('estimate' in metric ? [metric.key] : [])),
    );
    for (const activity of ACTIVITIES) {
      const isEstimate = inputsOf(activity).some((key) => estimated.has(key));
      expect([activity.key, activity.estimate === true]).toEqual([activity.key, isEstimate]);
    }
  });
});

describe('a measure in SQL', () => {
  it('is what it is here, over any rows', async () => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    const groups = [
      [[900, 600, 2, 8, 3]],
      [
        [10, 1, 0, 2, 0.5],
        [30, 2, 1, 2, 0.25],
      ],
      [[5, 5, 0, 0, 0]],
      [[null, 4, 1, 2, null]],
      [],
    ];
    const columns = [
      ...['events_processed', 'events_rolled_back', 'secondary_rollbacks', 'total_rollbacks'],
      'seconds',
    ];
    for (const rows of groups) {
      const total = (k: number) => {
        const known = rows.flatMap((row) => row[k] ?? []);
        return known.length === 0 ? null : known.reduce((all, one) => all + one, 0);
      };
      const sumOf: SumOf = (key) => total(columns.indexOf(key));
      const measures = [
        HANDLED_RATE,
        COMMITTED_RATE,
        EFFICIENCY,
        ROLLED_BACK_SHARE,
        SECONDARY_SHARE,
      ];
      await connection.run(
        `CREATE OR REPLACE TABLE t (${columns.map((name) => `${name} DOUBLE`).join(', ')})`,
      );
      for (const row of rows) {
        await connection.run(`INSERT INTO t VALUES (${row.map((v) => v ?? 'NULL').join(', ')})`);
      }
      const found = await connection.runAndReadAll(
        `SELECT ${measures.map((one) => sqlOf(one)).join(', ')} FROM t`,
      );
      expect(found.getRows()[0]).toEqual(measures.map((one) => evaluate(one, sumOf, total(4))));
    }
  });
});

describe('a CPU', () => {
  const states = { user: 30, nice: 20, system: 5, irq: 1, softirq: 2, idle: 40, iowait: 2 };

  it('is told by state: niced programs are programs, interrupts the kernel', () => {
    const of = (measure: Measure) => evaluate(measure, sums(states), 1);
    expect([CPU_USER, CPU_SYSTEM, CPU_IDLE, CPU_BUSY].map(of)).toEqual([50, 8, 42, 58]);
  });

  it('is not told of states that nobody recorded, and goes without optional ones', () => {
    expect(evaluate(CPU_STOLEN, sums(states), 1)).toBeNull();
    const old = sums({ user: 30, system: 5, idle: 65 });
    expect([CPU_USER, CPU_SYSTEM].map((one) => evaluate(one, old, 1))).toEqual([30, 5]);
    expect(evaluate(CPU_USER, sums({ nice: 3 }), 1)).toBeNull();
  });

  it('is the same in SQL, by the columns that there are', async () => {
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(
      'CREATE TABLE t AS SELECT * FROM (VALUES (30.0, NULL, 5.0, 1.0), (10.0, 4.0, 7.0, 3.0)) v("user", nice, system, seconds)',
    );
    const has = (key: string) => ['user', 'nice', 'system'].includes(key);
    const inputs = { metric: (key: string) => `sum("${key}")`, has };
    const measures = [CPU_USER, CPU_SYSTEM, CPU_STOLEN];
    const found = await connection.runAndReadAll(
      `SELECT ${measures.map((one) => `(${sqlOf(one, inputs)})::DOUBLE`).join(', ')} FROM t`,
    );
    expect(found.getRows()[0]).toEqual([11, 3, null]);
  });
});

describe('samples of several modes', () => {
  it('are never mixed: of GVT and real time those that are more, virtual time only alone', () => {
    expect(
      modeOf(
        new Map([
          ['gvt', 3],
          ['rt', 5],
          ['vt', 100],
        ]),
      ),
    ).toBe('rt');
    expect(
      modeOf(
        new Map([
          ['rt', 5],
          ['gvt', 5],
        ]),
      ),
    ).toBe('gvt');
    expect(modeOf(new Map([['vt', 1]]))).toBe('vt');
    expect(modeOf(new Map())).toBe('');
  });
});

describe('a duration', () => {
  it.each([
    [0, '0 s'],
    [4.53e-6, '4.53 µs'],
    [0.00453, '4.53 ms'],
    [0.9999, '1 s'],
    [12.34, '12.3 s'],
    [59.96, '1:00 min'],
    [135, '2:15 min'],
    [8257, '2:17:37 h'],
    [172_799, '47:59:59 h'],
    [172_800, '2 d 0:00 h'],
    [2_591_400, '29 d 23:50 h'],
    [-135, '−2:15 min'],
    [null, '–'],
  ])('%s is “%s”', (value, text) => {
    expect(duration(value)).toBe(text);
  });
});

describe('per cent', () => {
  it.each([
    [12.3, '12 %'],
    [1.23, '1.2 %'],
    [99.43, '99.4 %'],
    [100, '100 %'],
    [0, '0 %'],
    [0.01, 'less than 0.1 %'],
    [-141.4, '−141 %'],
    [-0.01, '0 %'],
    [null, '–'],
    [Number.NaN, '–'],
  ])('%s is “%s”', (value, text) => {
    expect(percent(value)).toBe(text);
  });
});

describe('estimates', () => {
  const row = (...values: number[]) => Float64Array.from(values);

  it('widens bins until none is above 100 %, and keeps what was measured', () => {
    // A timed turn stands for those before it: 350 % in the fourth bin are 87.5 % of four.
    const [wide] = pooled([row(0, 0, 0, 350, 20)]);
    expect([...wide]).toEqual([87.5, 87.5, 87.5, 87.5, 20]);
    // What comes first has only what is after it; parts are joined together.
    const [a, b] = pooled([row(150, 0, 10), row(30, 0, 50)]);
    expect([...a]).toEqual([75, 75, 10]);
    expect([...b]).toEqual([15, 15, 50]);
  });

  it('leaves bins that were not measured as they are', () => {
    const [wide] = pooled([row(Number.NaN, 40, Number.NaN, 130)]);
    expect([...wide]).toEqual([Number.NaN, 85, Number.NaN, 85]);
  });

  it('says how far off a sum may be, from how its stretches scatter', () => {
    // Four stretches of 1 s: 1, 3, 1, 3 about a mean of 2: 1.96 sqrt(4/3 × 4).
    expect(scatter([1, 3, 1, 3], [1, 1, 1, 1])).toBeCloseTo(4.526, 3);
    expect(scatter([2, 4, 6], [1, 2, 3])).toBe(0);
    expect(scatter([2, Number.NaN], [1, 1])).toBeNull();
  });
});

describe('bytes as text', () => {
  it('have a prefix of one kind: GB is 10^9, GiB 2^30', () => {
    expect(bytes(999)).toBe('999 B');
    expect(bytes(1_234_567)).toBe('1.23 MB');
    expect(bytes(2 ** 30)).toBe('1.07 GB');
    expect(bytes(2 ** 30, { binary: true })).toBe('1 GiB');
    expect(bytes(999_999)).toBe('1 MB');
    expect(bytes(null)).toBe('–');
  });
});

describe('docs/measures.md', () => {
  it('has the tables that the declarations make', () => {
    const page = readFileSync(new URL('../../docs/measures.md', import.meta.url), 'utf8');
    expect(page).toContain(measuresText());
  });
});

describe('the source', () => {
  const ROOT = fileURLToPath(new URL('../..', import.meta.url));
  /** Lines of all files of the library and the page, as `path: line`. */
  const lines = ['src', 'web/src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(ts|svelte)$/.test(name))
      .flatMap((name) =>
        readFileSync(join(ROOT, folder, name), 'utf8')
          .split('\n')
          .map((line) => `${folder}/${name}: ${line.trim()}`),
      ),
  );
  const saying = (what: RegExp) => lines.filter((line) => what.test(line));
  const filesSaying = (what: RegExp) =>
    [...new Set(saying(what).map((line) => line.split(':')[0]))].sort();

  it('works a declared ratio out nowhere else', () => {
    // The simulator fills ROSS's own field in its samples and its result.
    const divided =
      /(rolled_?back|undone)\)?( \+ \w+)? \/ \(?(nullif|greatest|Math\.max\(1, \w*\.?processed|processed|handled|net)/i;
    expect(filesSaying(divided)).toEqual([
      'src/sim/instrument/sampler.ts',
      'src/sim/statistics.ts',
      // How far PEs may run ahead, of one stretch.
      'src/sim/window.ts',
    ]);
    expect(saying(/greatest\((0|1), ?sum/)).toEqual([]);
  });

  it('makes texts of numbers, and of names in SQL, in one place each', () => {
    // ROSS's report and its thresholds are printed as their makers do.
    expect(filesSaying(/\.to(Fixed|Precision)\(.*\)\)?\} ?%/)).toEqual([
      'src/cli/ross-report.ts',
      'src/findings/docs.ts',
      'src/model/measures/text.ts',
    ]);
    expect(filesSaying(/toLocaleString\('en-US'/)).toEqual(['src/model/measures/text.ts']);
    expect(filesSaying(/' [kMG]'/)).toEqual(['src/model/measures/text.ts']);
    expect(filesSaying(/replaceAll\("'", "''"\)/)).toEqual(['src/model/sql.ts']);
    expect(filesSaying(/replaceAll\('"', '""'\)/)).toEqual([
      'src/model/csv.ts',
      'src/model/sql.ts',
    ]);
  });
});
