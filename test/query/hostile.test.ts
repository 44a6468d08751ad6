/** Recordings made to break in: what files say never becomes SQL, and nothing but the recording is read or written. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import type { Metric, Schema } from '../../src/model/metric.ts';
import { triscopeHere } from '../cli/support/run.ts';
import { openHere } from './support/open-here.ts';
import { batchOf, framesOf, recordingOf, writeFolder } from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-hostile-'));
afterAll(() => rmSync(folder, { recursive: true }));

const column = (key: string, more: Partial<Metric> = {}): Metric => ({
  ...{ key, cell: 'f64', kind: 'gauge', behaviour: 'variable', form: 'total' },
  ...{ unit: '', over: 'last', help: '' },
  ...more,
});

/** `sim_evil`: a time, and a counter with what is given. */
const schemaOf = (more: Readonly<Record<string, unknown>>): Schema => ({
  ...{ name: 'sim_evil', domain: 'pe', help: '' },
  metrics: [
    column('t', { unit: 's' }),
    column('n', { cell: 'u64', kind: 'event', behaviour: 'monotone', ...more }),
  ],
});

const secret = join(folder, 'secret.txt');
writeFileSync(secret, 'hunter2');
const written = join(folder, 'written.csv');

/** Widths in bits that, pasted, would read or write a file: where they are a value of a row, an argument of a view, or both. */
const BITS: readonly unknown[] = [
  `64) AS n FROM (SELECT 0 AS t0, 1 AS t, 2 AS "before n", 3 AS "n"); COPY (SELECT 42) TO '${written}'; --`,
  [`(SELECT length(content) FROM read_text('${secret}'))`],
  [`1, 'a', 'b'); COPY (SELECT 42) TO '${written}'; --`],
  { toString: 'x' },
  -1,
  65,
  1.5,
  '64',
  true,
];

let made = 0;
const recorded = (schema: Schema): string =>
  writeFolder(join(folder, `run${++made}.tri`), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(
      batchOf(schema, [
        { t: 1, n: 1 },
        { t: 2, n: 2 },
      ]),
    ),
  });

describe.each(BITS.map((bits) => ({ bits })))('a width of $bits', ({ bits }) => {
  const path = recorded(schemaOf({ bits }));

  it('is told, and the rest of the recording is there', async () => {
    const recording = await openHere(path);
    expect(existsSync(written)).toBe(false);
    expect(recording.suspects.map(({ what }) => what)).toEqual([
      'byte 0: the schema definition has a metric n whose bits are no integer of 1 to 64',
      expect.stringContaining('schema 1 was not defined before its data'),
    ]);
    expect(await recording.query('SELECT state FROM recording')).toEqual([{ state: 'finished' }]);
    expect(await recording.query('SELECT * FROM metrics WHERE kind IS NOT NULL')).toEqual([]);
    await recording.close();
  });
});

describe('a schema that is SQL', () => {
  const path = recorded(schemaOf({ bits: BITS[2] }));
  const out = join(folder, 'out');
  it.each([
    ['query', path, 'FROM metrics'],
    ['query', path, 'FROM metrics', '--cache-dir', join(folder, 'cache')],
    ['report', path],
    ['export', path, '--to', 'json', '-o', out],
    ['diff', path, path],
    ['info', path],
  ])('does nothing in triscope %s', async (...args) => {
    const { out: told, err } = await triscopeHere(args);
    expect(told + err).not.toContain('unexpected');
    expect(existsSync(written)).toBe(false);
  });
});

describe('names that mean something elsewhere', () => {
  const rows = [
    { t: 1, n: 1 },
    { t: 2, n: 3 },
  ];
  const named = (name: string, keys: readonly string[] = []) => ({
    ...schemaOf({}),
    name,
    metrics: [...schemaOf({}).metrics, ...keys.map((key) => column(key))],
  });
  const opened = (...schemas: readonly Schema[]) =>
    openHere(
      writeFolder(join(folder, `run${++made}.tri`), {
        'recording.json': recordingOf(),
        'extra.frames': framesOf(...schemas.map((schema) => batchOf(schema, rows))),
      }),
    );

  it.each(['recording', 'Metrics', 'pes', 'suspect', 'gvt', 'pe_on_node', 'clocks', 'entities'])(
    'a table %s is another one',
    async (name) => {
      const recording = await opened(named(name));
      expect(recording.suspects.map(({ what }) => what)).toEqual([
        `no table can be called "${name}" here: it is ${name}_2`,
      ]);
      expect(await recording.query(`SELECT sum(n) AS n FROM ${name}_2`)).toEqual([{ n: 4 }]);
      expect(await recording.query('SELECT count(*) AS n FROM recording')).toEqual([{ n: 1 }]);
      await recording.close();
    },
  );

  it('tables that would be another one’s rates are others', async () => {
    const recording = await opened(named('sim_a_rate'), named('sim_a'));
    expect(await recording.query('SELECT n FROM sim_a_rate')).toEqual([{ n: 2 }]);
    expect(await recording.query('SELECT sum(n) AS n FROM sim_a_rate_2')).toEqual([{ n: 4 }]);
    await recording.close();
  });

  it('tables and columns of JavaScript’s and SQL’s own names are there', async () => {
    const keys = [
      'constructor',
      '__proto__',
      'select',
      'T',
      't0',
      'before t',
      'a"b',
      "a'b",
      '%s',
      'x;--',
    ];
    const recording = await opened(named('__proto__', keys), named('constructor'), named('select'));
    expect(recording.suspects).toEqual([]);
    const [row] = await recording.query('SELECT * FROM "__proto__" LIMIT 1');
    expect(Object.keys(row)).toEqual([
      ...['t', 'n', 'constructor', '__proto__', 'select', 'T_2', 't0_2', 'before t_2'],
      ...['a"b', "a'b", '%s', 'x;--'],
    ]);
    expect(await recording.query('SELECT n FROM constructor JOIN "select" USING (n)')).toHaveLength(
      2,
    );
    await recording.close();
  });

  it('a view whose columns hold what they never do is left out, and told', async () => {
    const counts = ['events_processed', 'events_rolled_back', 'total_rollbacks'];
    const recording = await opened(named('ross_pe', ['real_time', ...counts]), named('sim_thread'));
    expect(recording.suspects.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^pe_on_node cannot be made: /),
    ]);
    expect(await recording.query('SELECT count(*) AS n FROM ross_pe')).toEqual([{ n: 2 }]);
    await recording.close();
  });

  it.each([
    [
      { pes: [{ pe: 2 ** 32, rank: 0, host: 'h', cpu: null, threadId: null }] },
      'pes[0].pe must be an integer of 0 to 4294967295',
    ],
    [{ pes: [{ pe: 0, rank: 0, host: 'h', cpu: 2 ** 40, threadId: null }] }, 'pes[0].cpu must be'],
    [
      { sources: [{ name: 's', files: [], zero: '9'.repeat(50), droppedBytes: 0 }] },
      'sources[0].zero must be',
    ],
    [
      {
        sources: [
          { name: 's', files: [{ path: 'a\0b', format: 'x' }], zero: '0', droppedBytes: 0 },
        ],
      },
      'must be a path inside the folder',
    ],
  ])('a number that no column holds is refused by its place: %j', async (more, expected) => {
    const path = writeFolder(join(folder, `run${++made}.tri`), {
      'recording.json': JSON.stringify({ ...recordingOf(), ...more }),
    });
    await expect(openHere(path)).rejects.toThrow(expected);
  });

  it('a NUL in a text is in its row', async () => {
    const path = writeFolder(join(folder, `run${++made}.tri`), {
      'recording.json': recordingOf({ error: "a\0b'; DROP TABLE pes; --" }),
    });
    const recording = await openHere(path);
    expect(await recording.query('SELECT length(error) AS n FROM recording')).toEqual([{ n: 24 }]);
    await recording.close();
  });
});

it('labels are what they are: quotes, NULs, control characters', async () => {
  const texts = ["a'b", 'a\0b', '\u001b[31m', "'; DROP TABLE pes; --", '__proto__'];
  const which = { ...column('which'), cell: 'label', behaviour: 'label' } as const;
  const schema: Schema = { name: 'words', domain: 'pe', help: "it's", metrics: [which] };
  const path = writeFolder(join(folder, `run${++made}.tri`), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(
      batchOf(
        schema,
        texts.map((text) => ({ which: text })),
      ),
    ),
  });
  const recording = await openHere(path);
  expect(await recording.query('SELECT which FROM words')).toEqual(
    texts.map((text) => ({ which: text })),
  );
  await recording.close();
});

describe('whatever a recording says', () => {
  const words = [
    't',
    'time',
    'real_time',
    'n',
    'gvt',
    'mode',
    'pe_id',
    'host',
    'device',
    'region',
    '__proto__',
  ];
  const evil = fc.oneof(
    fc.constantFrom(...words, "'; DROP TABLE pes; --", '"', '\0', '\u2028', '$1', '\\', '/*', ')'),
    fc.string({ unit: 'binary', maxLength: 12 }),
  );
  const junk = fc.oneof(
    evil,
    fc.integer(),
    fc.double(),
    fc.constant(null),
    fc.constant([BITS[0]]),
    fc.constant({}),
  );
  const sometimes = <T>(good: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 30, arbitrary: good }, { weight: 1, arbitrary: junk });
  const metric = fc.record({
    key: sometimes(evil),
    cell: sometimes(fc.constantFrom('u32', 'i32', 'u64', 'f32', 'f64', 'label')),
    kind: sometimes(fc.constantFrom('event', 'gauge', 'control')),
    behaviour: sometimes(fc.constantFrom('constant', 'monotone', 'variable', 'label')),
    form: sometimes(fc.constantFrom('total', 'change')),
    bits: fc.oneof(fc.constant(undefined), sometimes(fc.integer({ min: 1, max: 64 }))),
    unit: sometimes(evil),
    over: sometimes(fc.constantFrom('sum', 'mean', 'last', 'ratio')),
    help: sometimes(evil),
  });
  const names = [
    ...[
      'ross_pe',
      'ross_kp',
      'ross_lp',
      'ross_event',
      'ross_rollback',
      'sim_thread',
      'sim_x',
      'node_cpu',
    ],
    ...[
      'node_cpu_rate',
      'region_phase',
      'geopm_trace',
      'geopm_region',
      'recording',
      'gvt',
      'constructor',
    ],
  ];
  const schema = fc.record({
    name: sometimes(fc.constantFrom(...names)),
    domain: sometimes(fc.constantFrom('pe', 'host')),
    help: sometimes(evil),
    metrics: fc.array(metric, { maxLength: 6 }),
  });

  it('opens, and every table can be read', { timeout: 120_000 }, async () => {
    const path = join(folder, 'fuzzed.tri');
    await fc.assert(
      fc.asyncProperty(
        fc.array(schema, { minLength: 1, maxLength: 4 }),
        evil,
        async (schemas, text) => {
          const frames = schemas.flatMap((one) => {
            try {
              return [
                ...framesOf(batchOf(one as Schema, [{ t: 1, n: 1, host: text, mode: text }, {}])),
              ];
            } catch {
              // What no encoder takes.
              return [...framesOf(batchOf({ ...(one as Schema), metrics: [] }, []))];
            }
          });
          writeFolder(path, {
            'recording.json': recordingOf({ error: text, pes: [] }),
            'extra.frames': Uint8Array.from(frames),
          });
          const recording = await openHere(path);
          try {
            const tables = await recording.query<{ name: string }>(
              `SELECT table_name AS name FROM information_schema.tables WHERE table_catalog = 'memory'`,
            );
            expect(tables.length).toBeGreaterThanOrEqual(6);
            for (const { name } of tables) {
              await recording.query(`SELECT * FROM "${name}" LIMIT 3`);
            }
            expect(await recording.query('SELECT error FROM recording')).toHaveLength(1);
          } finally {
            await recording.close();
          }
          expect(existsSync(written)).toBe(false);
        },
      ),
      { seed: 16, numRuns: 40 },
    );
  });
});
