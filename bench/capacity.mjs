// npm run bench:capacity: what the largest runs need on one machine. LOG2_LPS (20) is the size: 2^20 = 1,048,576 LPs with
// 16 events each. Prints memory and rates of whole runs, the time that setting up takes as LPs double, and the memory
// of runs that sample every LP, as samples become more; with `-- set-up` only these of memory, set-up, samples. Needs
// 2 GB of memory, and 1 GB in the temporary folder for a moment.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const most = Number(process.env.LOG2_LPS ?? 20);
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const fields = here('capacity-model.mjs');
const bin = here('../bin/triscope');
const TIME = '/usr/bin/time';
const mb = (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MB`;

/** Runs Node on `args`; what it printed, and the most memory that it had, as the system counts it. */
function node(args, env = {}, launcher = []) {
  const timed = launcher.length === 0 && existsSync(TIME);
  const command = [...launcher, ...(timed ? [TIME, '-v'] : []), process.execPath, ...args];
  const { status, stdout, stderr } = spawnSync(command[0], command.slice(1), {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) throw new Error(`${args.join(' ')}: exit ${status}: ${stderr}`);
  const kilobytes = stderr.match(/Maximum resident set size \(kbytes\): (\d+)/)?.[1];
  const result = JSON.parse(stdout);
  const ranks = result.ranks?.reduce((sum, bytes) => sum + bytes);
  return { result, rss: kilobytes ? Number(kilobytes) * 1024 : (ranks ?? result.peakRssBytes) };
}

const simulated = (model, lps, more) =>
  node([bin, 'sim', 'run', model, `--total-lps=${lps}`, '--lookahead=0.1', '--json', ...more]);

/** A run to virtual time `until` of 100, so that all its events are pending all the time. */
const partOf = (model, k, pes, until, { env = {}, launcher = [] } = {}) => {
  const options = { 'total-lps': 2 ** k, 'start-events': 16 };
  const settings = { pes, end: 100, lookahead: 0.1, options };
  const what = JSON.stringify({ model, settings, until });
  return node([here('capacity-run.mjs'), what], env, launcher);
};
const setUpOf = (result) => Math.max(...result.perPe.map((pe) => pe.seconds.initialization));

const asked = process.argv.slice(2);
const wanted = (part) => asked.length === 0 || asked.includes(part);

console.log(`load average before: ${loadavg()[0].toFixed(2)} (should be near 0)\n`);

const PES = [
  ['sequential', [], 1],
  ['2 PEs', ['--pes=2'], 2],
];
const hasMpi = spawnSync('mpirun', ['--version']).status === 0;
const mpirun = ['mpirun', ...(process.getuid?.() === 0 ? ['--allow-run-as-root'] : [])];
const RUNS = [
  ['sequential', 1, []],
  ['2 PEs', 2, []],
  ...(hasMpi ? [['2 ranks', 2, [...mpirun, '--oversubscribe', '-np', '2']]] : []),
];
const lps = 2 ** most;

/** Whole runs. */
function memoryPart() {
  console.log(`${lps} LPs, ${16 * lps} events pending`);
  console.log('model    run          peak memory  per event  LP bytes   Mev/s  set-up, s');
  for (const [name, model] of [
    ['phold', 'phold'],
    ['fields', fields],
  ]) {
    for (const [run, pes, launcher] of RUNS) {
      const { result: r, rss } = partOf(model, most, pes, 0.5, { launcher });
      console.log(
        [
          name.padEnd(8),
          run.padEnd(11),
          mb(rss).padStart(11),
          `${(rss / (16 * lps)).toFixed(0)} B`.padStart(10),
          String(r.lpBytes).padStart(9),
          (r.eventRate / 1e6).toFixed(2).padStart(7),
          setUpOf(r).toFixed(2).padStart(10),
        ].join(' '),
      );
    }
  }
}

/** Setting up, as LPs double. */
function setUpPart() {
  console.log(
    '\nset-up of 16 events per LP, ns per event (a line is linear where they stay the same)',
  );
  const PLACED = [
    ['phold', 'phold', 'linear', 1],
    ['phold', 'phold', 'linear', 2],
    ['fields', fields, 'round robin', 2],
  ];
  console.log(
    ['LPs'.padEnd(8), ...PLACED.map(([m, , map, n]) => `${m}, ${map}, ${n} PE`.padStart(24))].join(
      ' ',
    ),
  );
  for (let k = most - 4; k <= most; k++) {
    const row = PLACED.map(([, model, , pes]) => {
      const { result } = partOf(model, k, pes, 0, model === fields ? { env: { LINEAR: '0' } } : {});
      return `${((setUpOf(result) * 1e9) / 16 / 2 ** k).toFixed(0)}`.padStart(24);
    });
    console.log([String(2 ** k).padEnd(8), ...row].join(' '));
  }
}

/** Runs that sample every LP. */
function samplesPart() {
  console.log('\nevery LP sampled at GVTs, one event each, to time 2');
  console.log('run          samples       written  peak memory  waited, s');
  const folder = mkdtempSync(join(tmpdir(), 'triscope-bench-'));
  try {
    for (const [run, options] of PES) {
      for (const every of [100000, 1000]) {
        const path = join(folder, 'stats');
        const { result: r, rss } = simulated('phold', lps, [
          '--end=2',
          '--engine-stats=gvt',
          '--granularity=1',
          '--lp-data',
          `--num-gvt=${every}`,
          `--stats-path=${path}`,
          ...options,
        ]);
        const written = r.streams.reduce((sum, s) => sum + s.bytes, 0);
        const waited = r.streams.reduce((sum, s) => sum + s.waitedMs, 0) / 1000;
        rmSync(path, { recursive: true });
        console.log(
          [
            run.padEnd(11),
            String(Math.round(written / (60 * lps))).padStart(8),
            mb(written).padStart(13),
            mb(rss).padStart(12),
            waited.toFixed(2).padStart(10),
          ].join(' '),
        );
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

if (wanted('memory')) memoryPart();
if (wanted('set-up')) setUpPart();
if (wanted('samples')) samplesPart();
