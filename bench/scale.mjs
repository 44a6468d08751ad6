// npm run bench:scale: a cost model of runs on threads. Its constants are fitted to PHOLDs of other sizes than those that
// it predicts; then what it says of two PEs is compared with six workloads, and what it says of 16 to 64 PEs is printed, which is
// extrapolation. Run it on an otherwise idle machine with two CPUs.
//
//   wall time = e · n + r · m + g · GVTs + w
//
//   n, m   events and messages of a PE    e   seconds per event on one optimistic PE, of the same workload
//   r      a message: some cache lines from core to core, and what is undone and waited for because of it
//   g      a GVT: each PE's line goes to the last one, and the result's to each PE: 2 P transfers of a cache line, measured
//   w      what compiling takes until the run is under way
//
// Past two PEs: messages as the model sends them (counted, where they do not follow from it); PEs wait for the one with most events in a window, whose number varies by its square root.
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { transfer } from './cpus.mjs';
import { fitCosts } from './mpi-cost.mjs';

const bin = fileURLToPath(new URL('../bin/triscope', import.meta.url));

function run(words, pes, synch) {
  const args = [bin, 'sim', 'run', ...words.split(' '), `--pes=${pes}`, `--synch=${synch}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, '--json'], {
    ...{ encoding: 'utf8', maxBuffer: 2 ** 27 },
  });
  if (status !== 0) throw new Error(`${words}: exit ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

const phold = (lps, start, remote, end) =>
  `phold --total-lps=${lps} --start-events=${start} --lookahead=0.1 --remote=${remote} --end=${end} --batch=64`;

const hop = await transfer();

const CALIBRATIONS = [
  phold(256, 4, 0.1, 5000),
  phold(512, 2, 0.05, 5000),
  phold(512, 2, 0.5, 3000),
  phold(2048, 2, 0, 1500),
  phold(2048, 2, 1, 800),
  phold(4096, 4, 0.5, 200),
];

/** Words, virtual end and lookahead, and the share of events that go to another PE, of P. */
const WORKLOADS = {
  M: { words: phold(1024, 1, 0.25, 6000), end: 6000, lookahead: 0.1, remote: evenly(0.25) },
  L: { words: phold(16384, 10, 0.25, 30), end: 30, lookahead: 0.1, remote: evenly(0.25) },
  pcs: { words: 'pcs --end=3000 --batch=64', end: 3000, lookahead: 0.25 },
  'pcs 64x64': {
    words: 'pcs --width=64 --height=64 --end=120 --batch=64',
    end: 120,
    lookahead: 0.25,
  },
  'torus 64x64': { words: 'torus --k=64 --end=3000 --batch=64', end: 3000, lookahead: 17 },
  queueing: {
    words: 'queueing --total-stations=1024 --end=3000 --batch=64 --lookahead=0.1',
    ...{ end: 3000, lookahead: 0.1 },
  },
};

function evenly(share) {
  return (pes) => (share * (pes - 1)) / pes;
}

/** By how much the largest of P numbers exceeds their mean, in standard deviations: exact for two, asymptotic for more. */
const excess = (pes) => (pes === 2 ? 0.564 : Math.sqrt(2 * Math.log(pes)) - 0.5);

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const perEvent = (r) => r.wallSeconds / r.eventsProcessed;
const asked = process.argv.slice(2);

console.log(`load average before: ${loadavg()[0].toFixed(2)} (should be near 0)`);
const calibrated = CALIBRATIONS.map((words) => {
  const one = run(words, 1, 'optimistic');
  const two = run(words, 2, 'optimistic');
  return {
    ...{ events: 0, batches: 0, gvts: 0, remote: two.remoteSends / 2 },
    seconds: two.wallSeconds - (perEvent(one) * two.netEvents) / 2 - 4 * hop * two.gvtComputations,
    step: two.end / two.gvtComputations / 0.1,
    crowd: two.netEvents / 2 / two.gvtComputations,
  };
});
const costs = fitCosts(calibrated);
/** Lookaheads that a GVT goes on by, and events of a PE between two, at most. */
const step = median(calibrated.map((c) => c.step));
const crowd = Math.max(...calibrated.map((c) => c.crowd));
const ns = (seconds) => `${(seconds * 1e9).toFixed(0)} ns`;
console.log(
  `fitted to ${calibrated.length} runs: message ${ns(costs.remote)}, a cache line ${ns(hop)}, to get going ${costs.start.toFixed(2)} s; ` +
    `a GVT each ${step.toFixed(1)} lookaheads, or ${crowd.toFixed(0)} events; error of what comes on top of events ${(100 * costs.medianError).toFixed(0)} % (median), ${(100 * costs.worstError).toFixed(0)} % (worst)`,
);

/** Seconds of `net` events on `pes` PEs. */
function predict({ end, lookahead }, one, share, net, pes) {
  const events = net / pes;
  const gvts = Math.max(end / (step * lookahead), events / crowd);
  const late = (excess(pes) - excess(2)) / Math.sqrt(Math.max(1, events / gvts));
  const parts = {
    event: perEvent(one) * events,
    wait: perEvent(one) * events * Math.max(0, late),
    message: costs.remote * share * events,
    gvt: 2 * pes * hop * gvts,
  };
  const steady = parts.event + parts.wait + parts.message + parts.gvt;
  return { parts, steady, seconds: steady + costs.start };
}

console.log(
  '\nworkload       sequential  1 PE optimistic  2 PEs  predicted  error   of sequential: measured  predicted',
);
const known = [];
for (const [name, w] of Object.entries(WORKLOADS)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const alone = run(w.words, 1, 'sequential');
  const one = run(w.words, 1, 'optimistic');
  const two = run(w.words, 2, 'optimistic');
  const share = w.remote?.(2) ?? two.remoteEvents / two.netEvents;
  const { seconds } = predict(w, one, share, two.netEvents, 2);
  const cell = (value, width) => value.toFixed(2).padStart(width);
  const error = (100 * (seconds / two.wallSeconds - 1)).toFixed(0);
  known.push({ name, w, alone, one, net: two.netEvents, share });
  console.log(
    `${name.padEnd(12)} ${cell(alone.wallSeconds, 11)} ${cell(one.wallSeconds, 16)} ${cell(two.wallSeconds, 6)} ${cell(seconds, 10)} ${error.padStart(5)} % ${cell(alone.wallSeconds / two.wallSeconds, 24)} ${cell(alone.wallSeconds / seconds, 10)}`,
  );
}

console.log(
  '\nextrapolation, once a run is under way: times the sequential rate (efficiency), and where a PE spends its time',
);
for (const { name, w, alone, one, net, share } of known) {
  if (!['M', 'L', 'pcs'].includes(name)) continue;
  for (const pes of [2, 16, 32, 64]) {
    // Of pcs, whose rows of cells lie on PEs in blocks: the rows at the edges of a block, as many as on two PEs, by PE.
    const remote = w.remote?.(pes) ?? Math.min((share * pes) / 2, 0.5);
    const { parts, steady } = predict(w, one, remote, net, pes);
    const times = alone.wallSeconds / steady;
    const of = Object.entries(parts).map(
      ([part, value]) => `${part} ${((100 * value) / steady).toFixed(0)} %`,
    );
    console.log(
      `${name.padEnd(4)} ${String(pes).padStart(3)} PEs ${times.toFixed(1).padStart(6)} (${((100 * times) / pes).toFixed(0)} %)  ${of.join(', ')}`,
    );
  }
}
