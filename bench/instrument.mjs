// npm run bench:instrument: what recording costs, mode by mode, on workload M. Pairs of runs, without and with, one
// after the other; medians of the pairs, with a 90 % interval of the median (sign test). ROSS's own figures beside.
// Compared are the parts of the runs after warm-up: each thread compiles for itself, on the CPUs that are measured.
// Run it on an otherwise idle machine. PAIRS=n (5), END=t (sequential and 2 PEs: 20000). ROSS_PHOLD=path of a native ROSS's phold
// adds the table of whole runs beside its own; with `-- ross` it is all that is printed.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { besideRoss } from './instrument-ross.mjs';

const pairs = Number(process.env.PAIRS ?? 5);
const end = Number(process.env.END ?? 20000);
const only = process.argv.slice(2);
const script = fileURLToPath(new URL('instrument-run.mjs', import.meta.url));

const PE = { pe: true, kp: false, lp: false };
const ALL = { pe: true, kp: true, lp: true };
const on = (...modes) => ({
  gvt: modes.includes('gvt'),
  rt: modes.includes('rt'),
  vt: modes.includes('vt'),
});

/** Bytes in a PE’s buffer: of a sample of an LP (by far the most), of a traced event. */
const LP_ROW = 60;
const EVENT = 24;

const MODES = {
  gvt: { label: 'GVT, every one, PE', ross: '+2 %', instrument: { engine: on('gvt'), levels: PE } },
  'gvt-all': {
    label: 'GVT, every one, PE KP LP',
    ross: '+85 %',
    per: 'record',
    bytes: LP_ROW,
    most: 65,
    instrument: { engine: on('gvt'), levels: ALL },
  },
  'gvt-10-all': {
    label: 'GVT, every 10th, PE KP LP',
    ross: '+15 %',
    per: 'record',
    bytes: LP_ROW,
    most: 65,
    instrument: { engine: on('gvt'), levels: ALL, numGvt: 10 },
  },
  rt: {
    label: 'RT 10 ms, PE',
    ross: '+7 %',
    instrument: { engine: on('rt'), levels: PE, rtInterval: 10 },
  },
  'rt-all': {
    label: 'RT 10 ms, PE KP LP',
    ross: '+8 %',
    per: 'record',
    bytes: LP_ROW,
    most: 65,
    instrument: { engine: on('rt'), levels: ALL, rtInterval: 10 },
  },
  vt: {
    label: 'VT 10, PE',
    ross: '+5 %',
    instrument: { engine: on('vt'), levels: PE, vtInterval: 10 },
  },
  'trace-1': {
    label: 'trace all, clock each',
    ross: '+17 %',
    per: 'event',
    bytes: EVENT,
    most: 60,
    instrument: { trace: 'all' },
  },
  'trace-1-batch': {
    label: 'trace all, clock per batch',
    ross: '50–70 ns',
    per: 'event',
    bytes: EVENT,
    most: 25,
    instrument: { trace: 'all', traceClock: 'batch' },
  },
  'trace-1-disabled': {
    label: 'trace all, output disabled',
    ross: '+12 %',
    per: 'event',
    bytes: EVENT,
    instrument: { trace: 'all', disableOutput: true },
  },
  'trace-2': { label: 'trace rollbacks', ross: '+5 %', instrument: { trace: 'rollbacks' } },
  'trace-3': {
    label: 'trace committed, clock each',
    ross: '+29 %',
    per: 'event',
    bytes: EVENT,
    most: 60,
    instrument: { trace: 'committed' },
  },
  'trace-3-batch': {
    label: 'trace committed, per batch',
    ross: '',
    per: 'event',
    bytes: EVENT,
    most: 25,
    instrument: { trace: 'committed', traceClock: 'batch' },
  },
  rollbacks: { label: 'log of rollbacks', ross: 'none', instrument: { rollbacks: true } },
};

function run(settings) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [script, JSON.stringify({ settings })],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

const sorted = (values) => [...values].sort((a, b) => a - b);
function median(values) {
  const s = sorted(values);
  const m = s.length >> 1;
  return s.length % 2 === 1 ? s[m] : (s[m - 1] + s[m]) / 2;
}

/** Order statistics that hold the median with at least 90 % (sign test); the extremes for few pairs. */
function interval(values) {
  const s = sorted(values);
  const n = s.length;
  let tail = 0;
  let k = 0;
  let term = 0.5 ** n;
  while (tail + term <= 0.05) {
    tail += term;
    term = (term * (n - k)) / (k + 1);
    k++;
  }
  const cut = Math.max(0, k - 1);
  return [s[cut], s[n - 1 - cut]];
}

const percent = (x) => `${x >= 0 ? '+' : ''}${(100 * x).toFixed(1)} %`;

function modesPart() {
  console.log(
    `workload M, end ${end}, ${pairs} pairs each; overhead = more time per committed event than the run before it, once warm\n`,
  );
  for (const [where, base] of Object.entries({
    'optimistic, 2 PEs': { pes: 2, synch: 'optimistic', end },
    sequential: { pes: 1, synch: 'sequential', end },
  })) {
    console.log(`${where}:`);
    console.log(
      '  mode                        overhead  (90 % interval)        ROSS      core-ns each   at most   MB/s   RSS + MB   waited',
    );
    for (const [name, mode] of Object.entries(MODES)) {
      if (only.length > 0 && !only.includes(name)) continue;
      const overheads = [];
      const costs = [];
      const extra = [];
      let last = null;
      for (let k = 0; k < pairs; k++) {
        const without = run(base);
        const withIt = run({ ...base, instrument: mode.instrument });
        overheads.push(withIt.perEvent / without.perEvent - 1);
        const records = mode.per === undefined ? Number.NaN : withIt.filled / mode.bytes;
        const each = records / withIt.net;
        costs.push(((withIt.cpuPerEvent - without.cpuPerEvent) * 1e9) / each);
        extra.push((withIt.rss - without.rss) / 2 ** 20);
        last = withIt;
      }
      const [lo, hi] = interval(overheads);
      const each =
        mode.per === undefined
          ? ''.padStart(16)
          : `${median(costs).toFixed(1)} per ${mode.per}`.padStart(16);
      console.log(
        `  ${mode.label.padEnd(27)} ${percent(median(overheads)).padStart(8)}  (${percent(lo)} … ${percent(hi)})`.padEnd(
          62,
        ) +
          `${mode.ross.padStart(9)} ${each} ${(mode.most === undefined ? '' : String(mode.most)).padStart(9)} ${(last.bytes / last.wall / 1e6).toFixed(1).padStart(6)} ${median(extra).toFixed(1).padStart(10)} ${last.waited.toFixed(0).padStart(5)} ms`,
      );
    }
  }
}
if (!only.includes('ross')) modesPart();
if (process.env.ROSS_PHOLD) besideRoss(process.env.ROSS_PHOLD, pairs, process.env.END ?? 5000);
else if (only.includes('ross')) throw new Error('ROSS_PHOLD is to name a native ROSS’s phold');
