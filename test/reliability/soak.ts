/** `npm run soak`: `node daemon` that samples, `serve` with readers that come and go. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
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

/** State of a process as in proc(5): its fields from the third on; null where it has ended. */
function statOf(pid: string): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ');
  } catch {
    return null;
  }
}

const PAGE = 4096;

/** What a program and the processes that it started use: bytes resident, seconds of CPU; null where it has ended. */
function usageOf(pid: number): { resident: number; cpu: number } | null {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(name))
    // Each program is the leader of a group.
    .filter((fields) => fields !== null && Number(fields[2]) === pid && fields[0] !== 'Z');
  if (all.length === 0) return null;
  const sum = (...places: readonly number[]) =>
    all.reduce((total, fields) => places.reduce((t, k) => t + Number(fields?.[k]), total), 0);
  // Times are in hundredths of a second.
  return { resident: PAGE * sum(21), cpu: sum(11, 12) / 100 };
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

/** A reader that asks until `until`, so many ms at least from one question to the next. */
async function load(url: string, until: number, everyMs: number): Promise<number> {
  const base = new URL(url);
  const token = base.searchParams.get('token');
  let asked = 0;
  while (Date.now() < until) {
    const place = new URL(ROUTES[asked % ROUTES.length], base);
    if (token !== null) place.searchParams.set('token', token);
    const next = sleep(everyMs);
    // One in ten leaves before the answer.
    const signal = AbortSignal.timeout(asked % 10 === 9 ? 5 : 60_000);
    await fetch(place, { signal })
      .then((answer) => answer.arrayBuffer())
      .catch(() => {});
    await next;
    asked++;
  }
  return asked;
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    requests: { type: 'string', default: '100' },
    samples: { type: 'string', default: '10' },
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
const freq = String(1 / Number(values.samples));
start('node daemon', ['node', 'daemon', '--dir', join(folder, 'log'), '--freq', freq], () => {});
const READERS = [1, 2, 3, 4];
const everyMs = (1000 * READERS.length) / Number(values.requests);
let readers: Promise<number[]> | null = null;
let said = '';
start('serve', ['serve', `${recording}.tri`, '--port', '0'], (text) => {
  said += text;
  const url = /http:\/\/\S+/.exec(said)?.[0];
  if (url !== undefined) readers ??= Promise.all(READERS.map(() => load(url, until, everyMs)));
});

const began = Date.now();
for (; Date.now() < until; await sleep(EVERY_MS)) {
  for (const { pid, samples } of watched) {
    const usage = usageOf(pid);
    if (usage !== null) {
      samples.push({ at: (Date.now() - began) / 1000, value: usage.resident });
    }
  }
}
const asked =
  readers === null ? 0 : (await (readers as Promise<number[]>)).reduce((a, b) => a + b, 0);
const results = watched.map(({ name, pid, samples }) => {
  const usage = usageOf(pid);
  // What is loaded and compiled at first is no leak.
  const settled = samples.filter(({ at }) => at > seconds / 10);
  const rise = riseOver(settled, HOUR);
  const { mean } = slopeOf(settled);
  const bad = usage === null || !(rise < MOST_RISE) || (name === 'serve' && asked === 0);
  const share = `${(100 * rise).toFixed(1)} % of ${(mean / 2 ** 20).toFixed(0)} MiB an hour`;
  const cpu = usage === null ? 'it ended' : `${usage.cpu.toFixed(0)} s of CPU`;
  console.log(`${name}: ${samples.length} samples, memory rises by ${share}; ${cpu}`);
  return {
    name: `soak: ${name}, ${values.minutes} min`,
    cases: samples.length,
    failures: bad ? 1 : 0,
    found: `memory rises by ${share}; ${cpu}`,
  };
});
console.log(`${asked} requests`);
for (const { pid } of watched) {
  if (usageOf(pid) !== null) process.kill(pid, 'SIGTERM');
}
await Promise.all(ends);
rmSync(folder, { recursive: true, force: true });
if (results.some(({ failures }) => failures > 0)) process.exitCode = 1;
const how = [
  `Node ${process.versions.node}`,
  `${cpus().length} × ${cpus()[0].model}`,
  new Date().toISOString().slice(0, 10),
  `${values.samples} samples/s`,
  `${asked} requests`,
];
for (const result of values.write ? results : []) {
  writeResults([result], [result.found, ...how].join(', '));
}
