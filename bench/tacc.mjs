// Reads a raw stats file of a 16-core node with 64-bit counters, like a genuine one (31 types, 10 KB a sample).
// Each line is the best of some runs, in MB/s of file; rivals run between them, so that a busy machine slows all alike.
// The fastest original reader, in Python, was measured at 80 MB/s where wc took 266: a ratio to wc of 0.30.
// Usage: node bench/tacc.mjs [megabytes] [repetitions]
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFile } from '../dist/formats/index.js';
import { parseSchema, RawParser, RawWriter, TACC } from '../dist/formats/tacc/index.js';

const MEGABYTES = Number(process.argv[2] ?? 64);
const REPETITIONS = Number(process.argv[3] ?? 5);
const PYTHON = 80;
const PYTHON_TO_WC = 80 / 266;

const events = (count, options = 'E') =>
  Array.from({ length: count }, (_, k) => `k${k},${options}`);
const controls = (count) => Array.from({ length: count }, (_, k) => `CTL${k},C`);

/** Types with devices, and how many digits their values have. */
const TYPES = [
  ['intel_snb', [...controls(8), ...events(11, 'E,W=48')], 16, (k) => (k < 8 ? 7 : 13)],
  ['intel_snb_cbo', [...controls(4), ...events(4, 'E,W=44')], 16, (k) => (k < 4 ? 8 : 13)],
  ['intel_snb_imc', [...controls(4), ...events(5, 'E,W=48')], 8, (k) => (k < 4 ? 8 : 12)],
  ['cpu', events(7, 'E,U=cs'), 16, (k) => [8, 1, 7, 8, 5, 1, 3][k]],
  ['net', events(23), 4, (k) => (k % 6 === 2 ? 12 : 1)],
  ['llite', events(39), 3, (k) => (k < 2 ? 14 : k < 12 ? 7 : 1)],
  ['mem', events(16, 'U=KB'), 2, () => 8],
  ['vm', events(21), 1, (k) => (k < 10 ? 11 : 1)],
  ['ib', events(17), 2, (k) => (k === 5 || k === 11 ? 10 : 1)],
  ['nfs', events(209), 1, () => 1],
  ['numa', events(6), 2, () => 9],
  ['block', events(11), 2, () => 7],
  ['ps', events(7), 1, () => 5],
];

function write(path) {
  const schemas = TYPES.map(([type, keys]) => parseSchema([type, ...keys].join(' ')));
  const parts = [];
  let size = 0;
  const sink = (bytes) => {
    parts.push(Buffer.from(bytes));
    size += bytes.length;
  };
  const writer = new RawWriter({ hostname: 'c1', uname: 'Linux', uptime: 1, schemas }, sink, '2.3');
  writer.header();
  let seed = 1;
  for (let group = 0; size < MEGABYTES * 1e6; group++) {
    writer.group(1.4e15 + group * 6e8, ['1835740']);
    for (const [type, keys, devices, digits] of TYPES) {
      for (let device = 0; device < devices; device++) {
        writer.record(type, String(device));
        for (let k = 0; k < keys.length; k++) {
          seed = (seed * 1103515245 + 12345) % 2 ** 31;
          const most = 10 ** digits(k);
          // Rising, as counters do.
          writer.number(
            most === 10 ? 0 : Math.floor(most * (0.1 + 0.8 * (group / 7000))) + (seed % 90),
          );
        }
        writer.endRecord(keys.length);
      }
    }
    writer.flush();
  }
  writeFileSync(path, Buffer.concat(parts));
}

const folder = mkdtempSync(join(tmpdir(), 'triscope-tacc-'));
const path = join(folder, '1400000000');
write(path);
const size = statSync(path).size;

/** The parser alone. */
function parse() {
  let sum = 0;
  const parser = new RawParser({
    record: (_schema, _device, values) => {
      sum += values.length;
    },
  });
  const block = Buffer.allocUnsafe(1 << 18);
  const file = openSync(path);
  for (let got = readSync(file, block); got > 0; got = readSync(file, block)) {
    parser.push(block.subarray(0, got));
  }
  closeSync(file);
  return parser.end().problems + sum;
}

function tables() {
  let rows = 0;
  const source = openFile(path);
  TACC.open(source, { growing: true, take: (_, step) => (rows += step.rows) });
  source.close();
  return rows;
}

function survey() {
  const source = openFile(path);
  const { suspect } = TACC.open(source, { counters: true }).info();
  source.close();
  return suspect.length;
}

const command =
  (...words) =>
  () => {
    const { status } = spawnSync(words[0], [...words.slice(1), path], { stdio: 'ignore' });
    if (status !== 0) throw new Error('not there');
  };

const SUM = '{ for (k = 3; k <= NF; k++) s += $k } END { print s }';
const RUNS = [
  ['parser, exact 64-bit counters', parse],
  ['tables', tables],
  ['triscope info: with counter repair', survey],
  ['wc', command('wc')],
  ['mawk, sum of all numbers in doubles', command('mawk', SUM)],
  ['gawk, sum of all numbers in doubles', command('gawk', SUM)],
];

const best = new Map();
for (let round = 0; round < REPETITIONS; round++) {
  for (const [name, run] of RUNS) {
    const start = performance.now();
    try {
      await run();
    } catch {
      continue;
    }
    const rate = size / 1e3 / (performance.now() - start);
    best.set(name, Math.max(best.get(name) ?? 0, rate));
  }
}
rmSync(folder, { recursive: true });

const wc = best.get('wc');
console.log(`raw stats file of ${(size / 1e6).toFixed(0)} MB, best of ${REPETITIONS}`);
console.log('                                        MB/s   to 80 MB/s   to wc');
for (const [name, rate] of best) {
  const toWc = wc === undefined ? '' : (rate / wc).toFixed(2);
  console.log(
    `${name.padEnd(36)} ${rate.toFixed(0).padStart(7)} ${(rate / PYTHON).toFixed(1).padStart(12)} ${toWc.padStart(7)}`,
  );
}
if (wc !== undefined) {
  const ratio = best.get(RUNS[0][0]) / wc / PYTHON_TO_WC;
  console.log(`parser to the Python reader, by way of wc: ${ratio.toFixed(1)}`);
}
console.log(`resident memory at most: ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`);
