/** Conditions on `t`: readers skip what lies outside, and results are those without skipping. */
import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { type OpenRecording, openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Within } from '../../src/formats/part.ts';
import { identifyOrFail, openData } from '../../src/formats/registry.ts';
import { writeEvent24At } from '../../src/formats/ross/write/index.ts';
import { openFile } from '../../src/formats/source.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import {
  batchOf,
  framesOf,
  NOON,
  nanoseconds,
  rawStats,
  recordingOf,
  writeFolder,
} from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-time-range-'));
const FRAMES = 20;
const ROWS = 10;
/** Frame `k` has the seconds from k to k + 0.9 of its source, which began one second after the recording. */
const AHEAD = 1;
let path: string;
let recording: OpenRecording;

const frame = (k: number) =>
  batchOf(
    ROSS_PE,
    Array.from({ length: ROWS }, (_, row) => ({
      pe_id: row % 2,
      mode: row % 3 === 0 ? 'gvt' : 'rt',
      real_time: row === 5 && k % 4 === 0 ? undefined : k + row / 10,
      events_processed: k * ROWS + row,
    })),
  );

beforeAll(async () => {
  const cpus = [{ user: 1 }, { user: 2 }];
  path = writeFolder(join(folder, 'run.tri'), {
    'recording.json': recordingOf({
      sources: [
        {
          name: 'node',
          files: [{ path: 'node', format: 'tacc' }],
          zero: nanoseconds(NOON),
          droppedBytes: 0,
        },
        {
          name: 'sim',
          files: [{ path: 'extra.frames', format: 'frames' }],
          zero: nanoseconds(NOON + AHEAD),
          droppedBytes: 0,
        },
      ],
    }),
    'extra.frames': framesOf(...Array.from({ length: FRAMES }, (_, k) => frame(k))),
    'node/h1/1': rawStats('h1', [
      { time: NOON, cpus },
      { time: NOON + 5, cpus },
    ]),
    'node/h1/2': rawStats('h1', [
      { time: NOON + 6, cpus },
      { time: NOON + 9, cpus },
    ]),
  });
  recording = await openRecording(path);
});

afterAll(async () => {
  await recording.close();
  rmSync(folder, { recursive: true });
});

/** Statements with a condition: on `t` it is told to readers, on `(t + 0)` it is not. */
const STATEMENTS = [
  'SELECT count(*) AS n, sum(events_processed) AS s FROM ross_pe WHERE %',
  `SELECT count(*) AS n, min(t) AS t FROM ross_pe WHERE % AND mode = 'gvt' AND pe_id IN (0, 7)`,
  'SELECT count(*) AS n FROM ross_pe a JOIN ross_pe USING (t) WHERE a.pe_id = 0 AND %',
  'WITH x AS (SELECT t - 1 AS u, t FROM ross_pe) SELECT count(*) AS n, max(u) AS s FROM x WHERE %',
  'SELECT (SELECT count(*) FROM ross_pe) AS whole, count(*) AS n FROM ross_pe WHERE %',
  'SELECT count(*) AS n FROM (FROM ross_pe WHERE %) UNION ALL SELECT count(*) FROM ross_pe',
  'SELECT sum("user") AS s, count(*) AS n FROM node_cpu WHERE %',
  'SELECT sum("user") AS s, count(*) AS n FROM node_cpu_rate WHERE %',
  'SELECT count(*) AS n FROM ross_pe WHERE NOT (%)',
  'SELECT count(*) AS n FROM ross_pe WHERE % OR t > 15',
];
const CONDITIONS = [
  '#t >= #a AND #t < #b',
  '#t BETWEEN #a AND #b',
  '#t > #a',
  '#b >= #t',
  '#t = #a',
  '(#t < #a OR #t > #b)',
];

describe('a condition on t', () => {
  it('changes no result', async () => {
    const tenths = fc.integer({ min: -10, max: 230 });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...STATEMENTS),
        fc.constantFrom(...CONDITIONS),
        tenths,
        tenths,
        async (statement, condition, a, b) => {
          const of = (t: string) => {
            const bounds = condition.replaceAll('#a', `${a / 10}`).replaceAll('#b', `${b / 10}`);
            return statement.replace('%', bounds.replaceAll('#t', t));
          };
          expect(await recording.query(of('t'))).toEqual(await recording.query(of('(t + 0)')));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('keeps frames outside from being read', () => {
    const frames = openData(join(path, 'extra.frames'), 'frames');
    const [table] = frames?.parts ?? [];
    const time = ROSS_PE.metrics.findIndex(({ key }) => key === 'real_time');
    const read = (from: number, to: number) => [...table.read([time], { time, from, to })].length;
    expect(read(3, 4.95)).toBe(2);
    expect(read(3.95, 4)).toBe(1);
    expect(read(-Infinity, Infinity)).toBe(FRAMES);
    expect(read(FRAMES, Infinity)).toBe(0);
    frames?.close();
  });

  it('is told to the reader through views, joins and names', async () => {
    // What was at the end when the file was opened is gone: only who reads there finds out.
    const cut = join(folder, 'cut.frames');
    writeFileSync(cut, framesOf(...Array.from({ length: FRAMES }, (_, k) => frame(k))));
    const open = await openRecording(cut);
    try {
      const early = 'SELECT count(*) AS n FROM ross_pe WHERE t < 3';
      expect(await open.query(early)).toEqual([{ n: 29 }]);
      truncateSync(cut, statSync(cut).size - 1000);
      expect(await open.query(early)).toEqual([{ n: 29 }]);
      expect(
        await open.query(
          `WITH x AS (SELECT t AS u, pe_id AS p FROM ross_pe) SELECT count(*) AS n FROM x
            JOIN (SELECT pe_id AS p, t FROM ross_pe WHERE t BETWEEN 1 AND 1.5) y USING (p)
            WHERE u < 2 AND p = 0`,
        ),
      ).toEqual([{ n: 30 }]);
      for (const whole of [
        'SELECT count(*) AS n FROM ross_pe WHERE t + 0 < 3',
        'SELECT count(events_processed) AS n FROM ross_pe WHERE t < 3 OR events_processed = 1',
      ]) {
        await expect(open.query(whole), whole).rejects.toThrow('the file became shorter');
      }
    } finally {
      await open.close();
    }
  });

  it('ends the reading of ROSS’s own files where all that follows is later, and changes no row', () => {
    const rows = 200_000;
    const file = join(folder, 'run-evtrace.bin');
    const bytes = new Uint8Array(32 * rows);
    const view = new DataView(bytes.buffer);
    for (let k = 0; k < rows; k++) {
      // PEs write blocks of their own: times go back a little.
      const time = 100 + k - (k % 100 < 50 ? 0 : 60);
      writeEvent24At(view, 32 * k, k % 2, 1, k, k + 0.5, time, 8);
    }
    writeFileSync(file, bytes);
    const source = openFile(file);
    const [part] = identifyOrFail(source).format.open(source).parts;
    const { schema } = part;
    const [real, lp] = ['real_time', 'source_lp'].map((key) =>
      schema.metrics.findIndex((metric) => metric.key === key),
    );
    const read = (within?: Within) => {
      const times: number[] = [];
      let steps = 0;
      for (const { columns } of part.read([lp, real], within)) {
        times.push(...Array.from(columns[1] as Float64Array));
        steps++;
      }
      return { times, steps };
    };
    const all = read();
    expect(all.times).toHaveLength(rows);
    for (const [from, to, steps] of [
      [0, 100, 1],
      [60_000, 65_500, 1],
      [65_400, 65_600, 2],
      [199_000, 300_000, all.steps],
      [300_000, 400_000, 0],
    ]) {
      const isWithin = (time: number) => time >= from && time <= to;
      const some = read({ time: real, from, to });
      expect(some.times.filter(isWithin)).toEqual(all.times.filter(isWithin));
      expect(some.steps).toBe(steps);
    }
    source.close();
  });
});
