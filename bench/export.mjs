// Exports a recording of a million traced events, in events/s: each line the best of some runs, one after another, so
// that a busy machine slows all alike; processor seconds are of all threads. The rival for traces is what one writes in
// an afternoon: rows as objects, JSON.stringify per trace event. The limit is a plain copy of the bytes, put on the disk.
// Usage: node bench/export.mjs [events] [repetitions]

import { once } from 'node:events';
import {
  closeSync,
  createWriteStream,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FrameEncoder } from '../dist/formats/frames/index.js';
import { ROSS_EVENT } from '../dist/model/schemas/ross.js';
import { exportRecording } from '../dist/query/export/index.js';
import { openRecording } from '../dist/query/index.js';

const EVENTS = Number(process.argv[2] ?? 1_000_000);
const REPETITIONS = Number(process.argv[3] ?? 3);
const PES = 4;
const KPS = 16;
const LPS = 4096;

const folder = mkdtempSync(join(tmpdir(), 'bench-export-'));
const path = join(folder, 'run.tri');

/** Each event is sent by an event handled before, as in PHOLD. */
function record() {
  mkdirSync(path);
  const encoder = new FrameEncoder();
  const lp = new Uint32Array(EVENTS);
  const at = new Float64Array(EVENTS);
  const rows = 1 << 16;
  const parts = [];
  for (let from = 0; from < EVENTS; from += rows) {
    const length = Math.min(rows, EVENTS - from);
    const source = new Uint32Array(length);
    const send = new Float64Array(length);
    const real = new Float64Array(length);
    for (let k = 0; k < length; k++) {
      const event = from + k;
      const cause = Math.max(0, event - LPS);
      lp[event] = (Math.imul(event, 2654435761) >>> 0) % LPS;
      at[event] = at[cause] + 0.1 + ((event * 7919) % 1000) / 1000;
      source[k] = lp[cause];
      send[k] = at[cause];
      real[k] = event * 3.1e-7;
    }
    const columns = [
      source,
      lp.slice(from, from + length),
      send,
      at.slice(from, from + length),
      real,
    ];
    parts.push(...encoder.encode({ schema: ROSS_EVENT, rows: length, columns }));
  }
  writeFileSync(join(path, 'extra.frames'), Buffer.concat(parts));
  const lines = Array.from({ length: LPS }, (_, k) => `${k} ${k % PES} ${((k / PES) % KPS) | 0}`);
  writeFileSync(join(path, 'lp-mapping.txt'), `${lines.join('\n')}\n`);
}

/** Slices only, without arrows, names and order: the least that a viewer can show. */
async function naive(to) {
  const recording = await openRecording(path);
  const out = createWriteStream(to);
  out.write('{"traceEvents":[\n');
  let text = '';
  for (const row of await recording.query('SELECT * FROM ross_event')) {
    const event = {
      ph: 'X',
      cat: 'event',
      name: `LP ${row.destination_lp}`,
      pid: row.destination_lp % PES,
    };
    event.tid = ((row.destination_lp / PES) % KPS) | 0;
    event.ts = row.t * 1e6;
    event.dur = 0.3;
    event.args = { from: row.source_lp, send: row.virtual_send_time, recv: row.virtual_recv_time };
    text += `${JSON.stringify(event)},\n`;
    if (text.length < 1 << 20) continue;
    if (!out.write(text)) await once(out, 'drain');
    text = '';
  }
  out.end(`${text}{}]}\n`);
  await once(out, 'finish');
  await recording.close();
}

function copy(from, to) {
  const block = Buffer.alloc(1 << 20);
  const [source, target] = [openSync(from), openSync(to, 'w')];
  for (;;) {
    const bytes = readSync(source, block);
    if (bytes === 0) break;
    writeSync(target, block, 0, bytes);
  }
  fsyncSync(target);
  closeSync(source);
  closeSync(target);
}

const to = (name) => join(folder, name);
const CASES = [
  [
    'trace-event, arrows',
    () => exportRecording({ paths: [path], format: 'trace-event' }, to('a.json')),
    'a.json',
  ],
  [
    'trace-event, no arrows',
    () => exportRecording({ paths: [path], format: 'trace-event', flows: false }, to('b.json')),
    'b.json',
  ],
  [
    'trace-event, arrows, .gz',
    () => exportRecording({ paths: [path], format: 'trace-event', gzip: true }, to('c.json.gz')),
    'c.json.gz',
  ],
  ['JSON.stringify, no arrows', () => naive(to('d.json')), 'd.json'],
  ['copy of trace-event, arrows', () => copy(to('a.json'), to('f.json')), 'f.json'],
  ...['parquet', 'arrow', 'csv', 'json'].map((format) => [
    format,
    () => exportRecording({ paths: [path], format, tables: ['ross_event'] }, to(`e.${format}`)),
    `e.${format}`,
  ]),
];

record();
const best = CASES.map(() => ({ wall: Infinity, cpu: Infinity }));
for (let round = 0; round < REPETITIONS; round++) {
  for (const [k, [, run, file]] of CASES.entries()) {
    // Of a file that is replaced, the blocks would be freed in the time.
    rmSync(to(file), { force: true });
    const start = performance.now();
    const before = process.cpuUsage();
    await run();
    const { user, system } = process.cpuUsage(before);
    best[k].wall = Math.min(best[k].wall, (performance.now() - start) / 1000);
    best[k].cpu = Math.min(best[k].cpu, (user + system) / 1e6);
  }
}
const [rival, limit] = [best[3], best[4]];
for (const [k, [name, , file]] of CASES.entries()) {
  const { wall, cpu } = best[k];
  const rate = (EVENTS / wall / 1e6).toFixed(2).padStart(6);
  const size = (statSync(to(file)).size / 1e6).toFixed(0).padStart(5);
  const ratio = name.startsWith('trace')
    ? `${(rival.wall / wall).toFixed(2)} times JSON.stringify (processor ${(rival.cpu / cpu).toFixed(2)}), ${(wall / limit.wall).toFixed(1)} copies`
    : '';
  console.log(
    `${name.padEnd(28)} ${rate} M events/s  ${wall.toFixed(2)} s ${cpu.toFixed(2)} processor s ${size} MB  ${ratio}`,
  );
}
rmSync(folder, { recursive: true });
