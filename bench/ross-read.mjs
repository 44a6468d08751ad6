// Decodes ROSS's files to columns: framed samples, events, GVT records of 2017. Each line is a median, in MB/s of
// file, against what the original readers do (15.5, 19.5 and 30 MB/s) and against reading the file alone.
// Usage: node bench/ross-read.mjs [megabytes] [repetitions]
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodedBytes, encodeRows, openFile, ROSS, writeEvent24 } from '../dist/formats/index.js';
import { PE_FIELDS } from '../dist/model/schemas/ross.js';
import { ROW_FIELDS, ROW_WORDS } from '../dist/model/schemas/ross-rows.js';

const MEGABYTES = Number(process.argv[2] ?? 200);
const REPETITIONS = Math.max(5, Number(process.argv[3] ?? 5));
const folder = mkdtempSync(join(tmpdir(), 'ross-read-'));

/** Sampling points of 4 PEs with the kinds of rows given. */
function points(layout, kinds, mode) {
  const words = kinds.reduce((sum, kind) => sum + ROW_WORDS[kind], 0);
  const one = new Int32Array(words * 4);
  const sampled = encodedBytes(layout, rowsAt(one, kinds, mode, 0), 0, one.length);
  const count = Math.ceil((MEGABYTES * 1e6) / sampled);
  const file = new Uint8Array(count * sampled);
  for (let k = 0; k < count; k++) {
    encodeRows(layout, rowsAt(one, kinds, mode, k), 0, one.length, file, k * sampled);
  }
  return file;
}

function rowsAt(rows, kinds, mode, k) {
  const f64 = new Float64Array(rows.buffer);
  const f32 = new Float32Array(rows.buffer);
  let at = 0;
  for (let pe = 0; pe < 4; pe++) {
    let kp = 0;
    for (const kind of kinds) {
      rows[at] = kind;
      f64[(at + 2) >> 1] = k * 1e-3;
      f64[(at + 4) >> 1] = k * 0.5;
      f64[(at + 6) >> 1] = k * 0.5;
      rows[at + 9] = mode;
      for (let n = 0; n < 13; n++) rows[at + ROW_FIELDS + n] = kind === 0 || n < 9 ? k + n : 0;
      rows[at + ROW_FIELDS] = pe;
      if (kind > 0) rows[at + ROW_FIELDS + 1] = kp++ % 4;
      if (kind === 0) {
        const first = PE_FIELDS.findIndex(({ key }) => key === 'efficiency');
        for (let n = first; n < PE_FIELDS.length; n++) f32[at + ROW_FIELDS + n] = 1e-4 * n;
      } else if (kind === 1) f32.fill(0.5, at + ROW_FIELDS + 9, at + ROW_FIELDS + 11);
      else f32[at + ROW_FIELDS + 8] = 50;
      at += ROW_WORDS[kind];
    }
  }
  return rows;
}

function events() {
  const count = Math.ceil((MEGABYTES * 1e6) / 24);
  const u32 = new Uint32Array(count * 6);
  const f32 = new Float32Array(u32.buffer);
  for (let k = 0; k < count; k++) {
    writeEvent24(u32, f32, 6 * k, k % 1000, (k * 7) % 1000, k * 0.5, k * 0.5 + 1, k * 1e-6, 0);
  }
  return new Uint8Array(u32.buffer);
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

function seconds(run) {
  const times = [];
  for (let k = 0; k < REPETITIONS; k++) {
    const started = process.hrtime.bigint();
    run();
    times.push(Number(process.hrtime.bigint() - started) / 1e9);
  }
  return median(times);
}

function readAlone(path) {
  const buffer = new Uint8Array(1 << 22);
  const fd = openSync(path, 'r');
  while (readSync(fd, buffer, 0, buffer.length, null) > 0);
  closeSync(fd);
}

function decode(path, columns) {
  const source = openFile(path);
  let rows = 0;
  for (const part of ROSS.open(source).parts) {
    const asked = [...part.schema.metrics.keys()].filter(
      (k) => columns?.includes(part.schema.metrics[k].key) ?? true,
    );
    for (const step of part.read(asked)) rows += step.rows;
  }
  source.close();
  return rows;
}

const CASES = [
  ['framed, PEs', 'a-gvt.bin', 15.5, () => points('ross-7', [0], 1)],
  ['framed, PEs KPs LPs', 'b-gvt.bin', 15.5, () => points('ross-7', [0, 1, 1, 2, 2, 2, 2], 1)],
  [
    'framed v8.1, PEs KPs LPs',
    'c-gvt.bin',
    15.5,
    () => points('ross-8.1', [0, 1, 1, 2, 2, 2, 2], 1),
  ],
  ['events', 'd-evtrace.bin', 19.5, events],
  ['2017 GVT, PEs', 'e-gvt.bin', 30, () => points('ross-2017', [0], 1)],
];

const EVENTS = [
  'source_lp',
  'destination_lp',
  'virtual_send_time',
  'virtual_recv_time',
  'real_time',
];

console.log('file                      all columns, MB/s  × original  of reading alone');
try {
  for (const [name, file, original, make] of CASES) {
    const path = join(folder, file);
    const bytes = make();
    writeFileSync(path, bytes);
    const megabytes = bytes.length / 1e6;
    const rate = megabytes / seconds(() => decode(path, file.startsWith('d') ? EVENTS : undefined));
    const alone = megabytes / seconds(() => readAlone(path));
    const share = `${((100 * rate) / alone).toFixed(0)} %`;
    console.log(
      name.padEnd(26) +
        rate.toFixed(0).padStart(17) +
        (rate / original).toFixed(0).padStart(12) +
        share.padStart(18),
    );
    rmSync(path);
  }
} finally {
  rmSync(folder, { recursive: true });
}
