// Queries over an archive of raw stats that is larger than memory may be: the most memory that a process takes (RSS).
// Usage: node bench/query-memory.mjs [megabytes] [files] [cache]; 10000 megabytes are the size that docs/query.md speaks of.
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSchema, RawWriter } from '../dist/formats/tacc/index.js';

const MEGABYTES = Number(process.argv[2] ?? 400);
const FILES = Number(process.argv[3] ?? 8);
const LIMIT = 1024;
const HOSTS = 4;
const DAY = 86_400;
const START = 1_772_323_200;

const events = (count, options = 'E') =>
  Array.from({ length: count }, (_, k) => `k${k},${options}`).join(' ');

/** Types with devices, like those of a node with 16 cores. */
const TYPES = [
  [
    'cpu user,E,U=cs nice,E,U=cs system,E,U=cs idle,E,U=cs iowait,E,U=cs irq,E,U=cs softirq,E,U=cs',
    16,
  ],
  [`intel_snb ${events(11, 'E,W=48')}`, 16],
  [`net ${events(23)}`, 4],
  [`llite ${events(39)}`, 3],
  [`vm ${events(21)}`, 1],
  [`nfs ${events(209)}`, 1],
  ['ps ctxt,E processes,E load_1 load_5 load_15 nr_running nr_threads', 1],
];

/** A file of a host and day. The text is made once; later files are the same but for their times. */
function write(path, host, from, bytes) {
  const schemas = TYPES.map(([text]) => parseSchema(text));
  const fd = openSync(path, 'w');
  let size = 0;
  const sink = (part) => {
    size += writeSync(fd, part);
  };
  const writer = new RawWriter(
    { hostname: host, uname: 'Linux', uptime: 1e6, schemas },
    sink,
    '2.3',
  );
  writer.header();
  for (let group = 0; size < bytes; group++) {
    writer.group(from * 1e6 + group * 1e6, [String(4000 + (group >> 10))]);
    for (const [k, { type, keys }] of schemas.entries()) {
      for (let device = 0; device < TYPES[k][1]; device++) {
        writer.record(type, String(device));
        for (let key = 0; key < keys.length; key++) {
          writer.number(
            key % 5 === 4 ? 0 : 1e6 * (key + 1) + (from - START) * 100 + group * (key + 1),
          );
        }
        writer.endRecord(keys.length);
      }
    }
    writer.flush();
  }
  closeSync(fd);
  return size;
}

const QUERIES = [
  'SELECT count(*) AS n, count(DISTINCT host) AS hosts FROM node_ps',
  'SELECT host, device, max("user") AS most FROM node_cpu GROUP BY ALL ORDER BY ALL LIMIT 3',
  'SELECT host, avg("user") AS "user", avg(idle) AS idle FROM node_cpu_rate GROUP BY ALL ORDER BY ALL',
  'SELECT host, t, ctxt FROM node_ps ORDER BY ctxt DESC, host, t LIMIT 3',
];

const folder = mkdtempSync(join(process.env.TRISCOPE_BENCH ?? tmpdir(), 'bench-query-memory-'));
const cli = fileURLToPath(new URL('../bin/triscope', import.meta.url));

/** Runs it; returns its largest RSS in MB, from GNU time or from the kernel's account of the children. */
function run(args) {
  const started = performance.now();
  const child = spawnSync('/usr/bin/time', ['-f', '%M', process.execPath, cli, ...args], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  const seconds = (performance.now() - started) / 1000;
  const lines = (child.stderr ?? '').trim().split('\n');
  if (child.error ?? child.status !== 0) throw child.error ?? new Error(lines.join('\n'));
  return { megabytes: Number(lines.at(-1)) / 1024, seconds, out: child.stdout };
}

try {
  let size = 0;
  for (let file = 0; file < FILES; file++) {
    const host = `c${1 + (file % HOSTS)}`;
    const from = START + Math.floor(file / HOSTS) * DAY;
    mkdirSync(join(folder, host), { recursive: true });
    size += write(join(folder, host, String(from)), host, from, (MEGABYTES * 1e6) / FILES);
  }
  console.log(`${FILES} files, ${(size / 1e6).toFixed(0)} MB`);
  const report = (name, { megabytes, seconds }) =>
    console.log(
      `${megabytes.toFixed(0).padStart(6)} MB ${seconds.toFixed(1).padStart(7)} s  ${(size / 1e6 / seconds).toFixed(0).padStart(5)} MB/s  ${megabytes <= LIMIT ? 'ok ' : 'MORE THAN 1 GB'} ${name}`,
    );
  const results = QUERIES.map((sql) => {
    const result = run(['query', folder, sql]);
    report(sql, result);
    return result.out;
  });
  if (process.argv[4] === 'cache') {
    const cache = ['--cache-dir', `${folder}-cache`];
    try {
      for (const [k, sql] of QUERIES.entries()) {
        const result = run(['query', folder, sql, ...cache]);
        report(`${k === 0 ? 'made a cache: ' : 'from the cache: '}${sql}`, result);
        if (result.out !== results[k])
          console.log(`  OTHER ROWS than without a cache:\n${result.out}`);
      }
    } finally {
      rmSync(cache[1], { recursive: true, force: true });
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
