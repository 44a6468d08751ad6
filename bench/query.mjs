// Queries over a recording of samples of PEs (33 columns), as ratios to: our reader alone for the same
// columns, DuckDB over a table of them in its memory (the limit: what it takes without reading), on Parquet of the same data, loops over rows in Node, and wc on the same data as CSV. Rivals take turns, and the best of some
// rounds is taken, so that a busy machine slows all alike.
// Usage: node bench/query.mjs [rows] [rounds]
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { FrameEncoder } from '../dist/formats/frames/index.js';
import { openData } from '../dist/formats/registry.js';
import { ROSS_PE } from '../dist/model/schemas/ross.js';
import { exportRecording, openRecording } from '../dist/query/index.js';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = Number(process.argv[3] ?? 5);
const PES = 8;
const COLUMNS = ['pe_id', 'events_processed', 'events_rolled_back'];
/** The columns are read, and little is done with them. */
const TOTALS = `SELECT max(pe_id) AS last, sum(events_processed) AS events, sum(events_rolled_back) AS back FROM ross_pe`;
const SQL = `SELECT pe_id, sum(events_processed) AS events, sum(events_rolled_back) AS back FROM ross_pe GROUP BY pe_id ORDER BY pe_id`;

const folder = mkdtempSync(join(tmpdir(), 'bench-query-'));
const path = join(folder, 'run.tri');
const arrays = { u32: Uint32Array, f32: Float32Array, f64: Float64Array };

function record() {
  mkdirSync(path);
  const encoder = new FrameEncoder();
  const parts = [];
  const step = 4096;
  for (let from = 0; from < ROWS; from += step) {
    const length = Math.min(step, ROWS - from);
    const columns = ROSS_PE.metrics.map(({ key, cell }, k) => {
      if (cell === 'label') return new Array(length).fill('gvt');
      return arrays[cell].from({ length }, (_, row) => {
        const at = from + row;
        if (key === 'pe_id') return at % PES;
        if (key === 'real_time') return at * 1e-5;
        return (at * (k + 3)) % 1000;
      });
    });
    parts.push(...encoder.encode({ schema: ROSS_PE, rows: length, columns }));
  }
  writeFileSync(join(path, 'extra.frames'), Buffer.concat(parts));
}

/** The same sums as the query, over typed columns. */
function sums(batches) {
  const events = new Float64Array(PES);
  const back = new Float64Array(PES);
  for (const [pe, processed, undone] of batches) {
    for (let row = 0; row < pe.length; row++) {
      events[pe[row]] += processed[row];
      back[pe[row]] += undone[row];
    }
  }
  return [...events].map((sum, pe) => ({ pe_id: pe, events: sum, back: back[pe] }));
}

record();
await exportRecording(
  { paths: [path], format: 'parquet', tables: ['ross_pe'] },
  join(folder, 'a.parquet'),
);
await exportRecording({ paths: [path], format: 'csv', tables: ['ross_pe'] }, join(folder, 'a.csv'));
const cache = join(folder, 'cache');
const recording = await openRecording(path);
const cached = await openRecording(path, { cache });
const duck = await (
  await DuckDBInstance.create(':memory:', { threads: String(Math.min(4, availableParallelism())) })
).connect();
const frames = openData(join(path, 'extra.frames'), 'frames');
const [table] = frames.parts;
const numbers = COLUMNS.map((key) => ROSS_PE.metrics.findIndex((metric) => metric.key === key));

await duck.run(
  `CREATE TABLE held AS SELECT ${COLUMNS.join(', ')} FROM '${join(folder, 'a.parquet')}'`,
);
const held = (sql) => duck.runAndReadAll(sql.replace('ross_pe', 'held'));

async function parquet() {
  const reader = await duck.runAndReadAll(SQL.replace('ross_pe', `'${join(folder, 'a.parquet')}'`));
  return reader.getRowObjectsJS();
}

function readAll() {
  let rows = 0;
  for (const read of table.read(numbers)) rows += read.rows;
  return rows;
}

async function rowLoop() {
  const groups = new Map();
  const { blocks } = await recording.rows(`SELECT ${COLUMNS.join(', ')} FROM ross_pe`);
  for await (const block of blocks) {
    for (const values of block) {
      const row = Object.fromEntries(COLUMNS.map((key, k) => [key, values[k]]));
      const group = groups.get(row.pe_id) ?? { pe_id: row.pe_id, events: 0, back: 0 };
      group.events += row.events_processed;
      group.back += row.events_rolled_back;
      groups.set(row.pe_id, group);
    }
  }
  return [...groups.values()];
}

async function columnLoop() {
  const all = [];
  for await (const { columns } of recording.table('ross_pe').batches(COLUMNS)) {
    all.push(COLUMNS.map((key) => columns[key]));
  }
  return sums(all);
}

const cli = fileURLToPath(new URL('../bin/triscope', import.meta.url));
const run = (command, args) => {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command}: ${stderr}`);
};

const CASES = {
  'the query': () => recording.query(SQL),
  'the same columns, totals only': () => recording.query(TOTALS),
  'the query, cached': () => cached.query(SQL),
  'our reader, the same columns': readAll,
  'our reader, and the sums in a loop': () =>
    sums(
      (function* () {
        for (const { columns } of table.read(numbers)) yield columns;
      })(),
    ),
  'DuckDB, the query of a table in memory': () => held(SQL),
  'DuckDB, totals of a table in memory': () => held(TOTALS),
  'columns to this thread, sums here': columnLoop,
  'rows as objects, sums here': rowLoop,
  'DuckDB on Parquet': parquet,
  'wc on the CSV': () => run('wc', [join(folder, 'a.csv')]),
  'triscope query, from start to answer': () => run(process.execPath, [cli, 'query', path, SQL]),
  'the same, cached': () => run(process.execPath, [cli, 'query', path, SQL, '--cache-dir', cache]),
};

const best = {};
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, work] of Object.entries(CASES)) {
    const started = performance.now();
    await work();
    best[name] = Math.min(best[name] ?? Infinity, performance.now() - started);
  }
}
const size = (name) => `${(statSync(join(folder, name)).size / 1e6).toFixed(0)} MB`;
console.log(
  `${ROWS} samples, 3 of ${ROSS_PE.metrics.length} columns; ${size('run.tri/extra.frames')} of frames, ${size('a.parquet')} of Parquet, ${size('a.csv')} of CSV`,
);
const query = best['the query'];
for (const [name, ms] of Object.entries(best)) {
  const ratio =
    name === 'the query' ? '' : `the query takes ${(query / ms).toFixed(2)} times as long`;
  console.log(`${ms.toFixed(1).padStart(9)} ms  ${name.padEnd(38)} ${ratio}`);
}
const limit = (name, is) => console.log(`${is ? 'holds ' : 'FAILS '} ${name}`);
const reader = best['our reader, the same columns'];
for (const [name, whole, own] of [
  ['the query', query, best['DuckDB, the query of a table in memory']],
  ['totals', best['the same columns, totals only'], best['DuckDB, totals of a table in memory']],
]) {
  const times = (part) => (whole / part).toFixed(1);
  console.log(
    `${name}: ${times(reader)} times our reader, ${times(reader + own)} times our reader and DuckDB's own sums`,
  );
  limit(`${name} at most 3 times our reader`, whole <= 3 * reader);
  limit(`${name} at most 3 times our reader and DuckDB's sums`, whole <= 3 * (reader + own));
}
limit('first answer within a second', best['triscope query, from start to answer'] < 1000);
limit('faster than loops over rows', query < best['rows as objects, sums here']);
await recording.close();
await cached.close();
duck.closeSync();
frames.close();
rmSync(folder, { recursive: true });
