/** Recordings of many PEs, and files of many types: opening them costs what their number does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { OpenRecording } from 'triscope/query';
import { afterAll, describe, expect, it } from 'vitest';
import { registerScans, scanCall } from '../../src/query/scan.ts';
import { lineOf } from '../../src/query/sql-errors.ts';
import type { Table } from '../../src/query/table.ts';
import { grows, processorTime } from '../support/grows.ts';
import { openHere } from './support/open-here.ts';
import { placeOf, recordingOf, writeFolder } from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-budgets-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** CPU time of opening, in this process. */
async function opening(path: string, sql: string, expected: readonly object[]): Promise<number> {
  const opened: OpenRecording[] = [];
  const taken = await processorTime(async () => opened.push(await openHere(path)));
  const [recording] = opened;
  expect(await recording.query(sql)).toEqual(expected);
  await recording.close();
  return taken;
}

it('many PEs', () =>
  grows(2_500, (size) => {
    const pes = Array.from({ length: size }, (_, pe) => placeOf({ pe, cpu: pe }));
    const path = writeFolder(join(folder, `${size}.tri`), {
      'recording.json': recordingOf({ pes }),
    });
    const sql = 'SELECT count(*) AS n, max(cpu) AS most FROM pes';
    return opening(path, sql, [{ n: size, most: size - 1 }]);
  }));

describe('many types of raw stats', () => {
  it('cost what their number does', () =>
    grows(50, (size) => {
      const types = Array.from({ length: size }, (_, k) => `t${k}`);
      const group = (s: number) => [
        '',
        `${1772366400 + s}.000000 - h1`,
        ...types.map((type, k) => `${type} - ${k + s}`),
      ];
      const lines = ['$hpcperfstats 2.3', '$hostname h1', ...types.map((type) => `!${type} a,E`)];
      const path = writeFolder(join(folder, `types-${size}`), {
        '1772366400': [...lines, ...group(0), ...group(2), ''].join('\n'),
      });
      // The first table's scan has a function of its own, the last one's not.
      const [first, last] = [0, size - 1].map((k) => `node_t${k}`);
      const sql = `SELECT count(DISTINCT table_name) AS n FROM metrics WHERE kind IS NOT NULL UNION ALL
        (SELECT a FROM ${first} WHERE t = 0) UNION ALL (SELECT a FROM ${last} WHERE t = 2) UNION ALL
        (SELECT a FROM ${last}_rate)`;
      return opening(path, sql, [{ n: size }, { n: 0 }, { n: size + 1 }, { n: 1 }]);
    }));

  it('take no more functions of JavaScript than a few: each makes calls of all others slower', () => {
    const made = (tables: number) => {
      let count = 0;
      const connection = { registerTableFunction: () => count++ } as unknown as DuckDBConnection;
      registerScans(connection, 'scan', new Array<Table>(tables));
      return count;
    };
    expect([20, 1000, 4000].map(made)).toEqual([20, 129, 129]);
    expect([0, 127, 128, 999].map((n) => scanCall('scan', n))).toEqual([
      'scan_0()',
      'scan_127()',
      'scan_others(128)',
      'scan_others(999)',
    ]);
  });
});

it('an error names no more tables than one can read', () => {
  const names = Array.from({ length: 4000 }, (_, k) => `t${k}`);
  const error = new Error('Catalog Error: Table with name x does not exist!');
  expect(lineOf(error, names)).toMatch(/, t99 and 3900 more \(FROM metrics\)$/);
});
