/** `npm run soak`: `node daemon` at ten samples a second, `serve` with readers that come and go. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { run } from '../faults/run-command.ts';
import { riseOver, type Sample, slopeOf } from './slope.ts';
import { writeResults } from './table.ts';

/** Share of its mean that memory may rise by in an hour. */
const MOST_RISE = 0.1;
const HOUR = 3600;
const EVERY_MS = 1000;

/** Bytes resident; null where the process has ended. */
function residentOf(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return 1024 * Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]);
  } catch {
    return null;
  }
}

const ROUTES = [
  '/api/facts',
  '/api/findings',
  '/api/series?bins=500',
  '/api/heatmap',
  '/api/events?limit=100',
  '/api/none',
  '/',
];

/** Readers that ask, one after the other, until `until`. */
async function load(url: string, until: number): Promise<number> {
  const base = new URL(url);
  const token = base.searchParams.get('token');
  let asked = 0;
  while (Date.now() < until) {
    const place = new URL(ROUTES[asked % ROUTES.length], base);
    if (token !== null) place.searchParams.set('token', token);
    // One in ten leaves before the answer.
    const signal = AbortSignal.timeout(asked % 10 === 9 ? 5 : 60_000);
    await fetch(place, { signal })
      .then((answer) => answer.arrayBuffer())
      .catch(() => {});
    asked++;
  }
  return asked;
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    write: { type: 'boolean', default: false },
  },
});
const seconds = 60 * Number(values.minutes);
const folder = mkdtempSync(join(tmpdir(), 'triscope-soak-'));
const recording = join(folder, 'run');
const made = await run(
  `sim run phold --pes=2 --total-lps=64 --lookahead=0.1 --end=500 --engine-stats=gvt --granularity=1 --event-trace=committed --record=${recording}`.split(
    ' ',
  ),
);
if (made.code !== 0) throw new Error(made.stderr);

const until = Date.now() + 1000 * seconds;
const watched: { name: string; pid: number; samples: Sample[] }[] = [];
const ends: Promise<unknown>[] = [];
const start = (name: string, args: readonly string[], onOutput: (text: string) => void) => {
  const started = (child: import('node:child_process').ChildProcess) => {
    watched.push({ name, pid: child.pid ?? 0, samples: [] });
    child.stdout?.on('data', (data) => onOutput(String(data)));
    child.stderr?.on('data', (data) => onOutput(String(data)));
  };
  ends.push(run(args, { started, killAfter: 1000 * seconds + 10_000 }));
};
start('node daemon', ['node', 'daemon', '--dir', join(folder, 'log'), '--freq', '0.1'], () => {});
let readers: Promise<number[]> | null = null;
let said = '';
start('serve', ['serve', `${recording}.tri`, '--port', '0'], (text) => {
  said += text;
  const url = /http:\/\/\S+/.exec(said)?.[0];
  if (url !== undefined) readers ??= Promise.all([1, 2, 3, 4].map(() => load(url, until)));
});

const began = Date.now();
for (; Date.now() < until; await sleep(EVERY_MS)) {
  for (const { pid, samples } of watched) {
    const value = residentOf(pid);
    if (value !== null) samples.push({ at: (Date.now() - began) / 1000, value });
  }
}
const asked =
  readers === null ? 0 : (await (readers as Promise<number[]>)).reduce((a, b) => a + b, 0);
const results = watched.map(({ name, pid, samples }) => {
  const alive = residentOf(pid) !== null;
  // What is loaded and compiled at first is no leak.
  const settled = samples.filter(({ at }) => at > seconds / 10);
  const rise = riseOver(settled, HOUR);
  const { mean } = slopeOf(settled);
  const bad = !alive || !(rise < MOST_RISE) || (name === 'serve' && asked === 0);
  const share = `${(100 * rise).toFixed(1)} % of ${(mean / 2 ** 20).toFixed(0)} MiB an hour`;
  console.log(
    `${name}: ${samples.length} samples, memory rises by ${share}${alive ? '' : '; it ended'}`,
  );
  return {
    name: `soak: ${name}, ${values.minutes} min, ${share}`,
    cases: samples.length,
    failures: bad ? 1 : 0,
  };
});
console.log(`${asked} requests`);
for (const { pid } of watched) {
  if (residentOf(pid) !== null) process.kill(pid, 'SIGTERM');
}
await Promise.all(ends);
rmSync(folder, { recursive: true, force: true });
if (results.some(({ failures }) => failures > 0)) process.exitCode = 1;
if (values.write) writeResults(results, `Node ${process.versions.node}`);
