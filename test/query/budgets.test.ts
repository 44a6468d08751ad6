/** Recordings of many PEs, and files of many types: opening them costs what their number does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openHere } from './support/open-here.ts';
import { placeOf, recordingOf, writeFolder } from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-budgets-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function opening(path: string, sql: string, expected: object): Promise<number> {
  const from = performance.now();
  const recording = await openHere(path);
  const taken = performance.now() - from;
  expect(await recording.query(sql)).toEqual([expected]);
  await recording.close();
  return taken;
}

/** Four times the size in less than ten times the time, of the best of two; a square would be 16 times. */
async function grows(sizes: readonly [number, number], of: (size: number) => Promise<number>) {
  await of(10);
  const times = [];
  for (const size of sizes) times.push(Math.min(await of(size), await of(size)));
  const growth = sizes[1] / sizes[0];
  expect(times[1] / times[0]).toBeLessThan(growth * 2.5);
}

it('many PEs', { timeout: 60_000 }, () =>
  grows([10_000, 40_000], (size) => {
    const pes = Array.from({ length: size }, (_, pe) => placeOf({ pe, cpu: pe }));
    const path = writeFolder(join(folder, `${size}.tri`), {
      'recording.json': recordingOf({ pes }),
    });
    const sql = 'SELECT count(*) AS n, max(cpu) AS most FROM pes';
    return opening(path, sql, { n: size, most: size - 1 });
  }),
);

it('many types of raw stats', { timeout: 60_000 }, () =>
  grows([150, 600], (size) => {
    const types = Array.from({ length: size }, (_, k) => `t${k}`);
    const group = (s: number) => [
      '',
      `${1772366400 + s}.000000 - h1`,
      ...types.map((type) => `${type} - ${s}`),
    ];
    const lines = ['$hpcperfstats 2.3', '$hostname h1', ...types.map((type) => `!${type} a,E`)];
    const path = writeFolder(join(folder, `types-${size}`), {
      '1772366400': [...lines, ...group(0), ...group(1), ''].join('\n'),
    });
    const sql = `SELECT count(DISTINCT table_name) AS n FROM metrics`;
    return opening(path, sql, { n: size });
  }),
);
