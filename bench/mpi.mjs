// npm run bench:mpi: two ranks, which share memory or exchange messages only, against two threads and ROSS's best; the transport's round trip and message rate against
// plain C over the same library; one result on 1 to 8 ranks; a cost model, and what it says of more PEs. Medians of
// REPEATS (5) pairs. Run it on an otherwise idle machine. Needs openmpi-bin and libopenmpi-dev. With `-- ping costs` only
// these of M, L, ping, scaling, costs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fitCosts, predict } from './mpi-cost.mjs';
import { arguments_, PARALLEL, WORKLOADS } from './workloads.mjs';

const repeats = Number(process.env.REPEATS ?? 5);
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const bin = here('../bin/triscope');
const root = process.getuid?.() === 0 ? ['--allow-run-as-root'] : [];
const onRanks = (n) => ['mpirun', ...root, '--oversubscribe', '-np', `${n}`];
const ranks = onRanks(2);
const naive = here('naive-run.mjs');

function run([command, ...args]) {
  const { stdout, stderr, status } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const rate = (command) => run(command).eventRate / 1e6;

console.log(
  `load average before: ${loadavg()[0].toFixed(2)} (should be near 0); medians of ${repeats}\n`,
);

let titled = false;
/**
 * Two ranks, both ways, against two threads, in turn, with the options that were best for ROSS and here (bench/sim.mjs); and
 * against ROSS's best on two ranks, as it is and scaled by what a naive heap reaches here and reached there.
 */
function threadsPart(name) {
  if (!titled) {
    console.log(
      'workload  2 PEs                Mev/s   of threads   of ROSS  machine  on equal machines',
    );
    console.log('                                        (aim 0.8)   (aim 1)   factor');
  }
  titled = true;
  const w = PARALLEL[name];
  const two = arguments_(w, w.long, ['--synch=3', ...w.options]);
  const rates = { threads: [], shared: [], messages: [], naive: [] };
  for (let k = 0; k < repeats; k++) {
    rates.threads.push(rate([process.execPath, bin, ...two, '--pes=2']));
    rates.shared.push(rate([...ranks, process.execPath, bin, ...two]));
    rates.messages.push(rate([...ranks, process.execPath, bin, ...two, '--mpi-shared=0']));
    rates.naive.push(run([process.execPath, naive, name]).rate / 1e6);
  }
  const factor = median(rates.naive) / WORKLOADS[name].naive;
  const cell = (value, width) => value.toFixed(2).padStart(width);
  const KINDS = [
    ['threads', rates.threads],
    ['ranks', rates.shared],
    ['ranks, nothing shared', rates.messages],
  ];
  for (const [kind, measured] of KINDS) {
    const middle = median(measured);
    const ratio = median(measured.map((r, k) => r / rates.threads[k]));
    console.log(
      `${name.padEnd(8)} ${kind.padEnd(21)} ${cell(middle, 6)} ${cell(ratio, 12)} ${cell(middle / w.ross, 9)} ${cell(factor, 8)} ${cell(middle / w.ross / factor, 18)}`,
    );
  }
}

/** Against plain C over the same library. */
function pingPart() {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-bench-mpi-'));
  try {
    const program = join(folder, 'ping');
    const built = spawnSync('mpicc', ['-O2', '-o', program, here('mpi-ping.c')], {
      encoding: 'utf8',
    });
    if (built.status !== 0) throw new Error(`mpicc: ${built.stderr}`);
    console.log('\nbatch bytes   round trip, us: C  Node  ratio   messages/us: C  Node  ratio');
    const c = run([...ranks, program]);
    const node = run([...ranks, process.execPath, here('mpi-ping.mjs')]);
    for (const [k, { bytes, roundTrip, rate: inC }] of c.entries()) {
      const own = node[k];
      const cell = (value, width) => value.toFixed(2).padStart(width);
      console.log(
        `${String(bytes).padStart(11)} ${cell(roundTrip, 17)} ${cell(own.roundTrip, 5)} ${cell(own.roundTrip / roundTrip, 6)} ${cell(inC, 16)} ${cell(own.rate, 5)} ${cell(own.rate / inC, 6)}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** One size on more ranks (strong), and so many LPs on each (weak): the result is that of a sequential run. */
function scalingPart() {
  console.log(
    '\nscaling   ranks      LPs  Mev/s: sharing  not   result   (more ranks than CPUs share them)',
  );
  for (const kind of ['strong', 'weak']) {
    for (const n of [1, 2, 4, 8]) {
      const lps = kind === 'strong' ? 8192 : 2048 * n;
      const model = [
        'sim',
        'run',
        'phold',
        `--total-lps=${lps}`,
        '--start-events=4',
        '--lookahead=0.1',
      ];
      const of = ['--end=10', '--json'];
      const alone = run([process.execPath, bin, ...model, ...of, '--synch=1']);
      const ways = [[], ['--mpi-shared=0']].map((way) =>
        run([...onRanks(n), process.execPath, bin, ...model, ...of, '--synch=3', ...way]),
      );
      const same = ways.every((many) =>
        ['eventDigest', 'stateDigest', 'netEvents'].every((k) => alone[k] === many[k]),
      );
      const rates = ways.map(({ eventRate }) => (eventRate / 1e6).toFixed(2).padStart(10));
      console.log(
        `${kind.padEnd(8)} ${String(n).padStart(6)} ${String(lps).padStart(8)} ${rates.join(' ')}   ${same ? 'same' : 'DIFFERENT'}`,
      );
      if (!same) process.exitCode = 1;
    }
  }
}

/** Shares of events for any LP, events per turn, turns per GVT, and how far the run goes. */
const TRIALS = [
  [0, 16, 16, 40],
  [0, 64, 64, 120],
  [0, 16, 256, 80],
  [0.1, 16, 16, 120],
  [0.1, 64, 16, 40],
  [0.1, 4, 256, 60],
  [0.5, 16, 128, 40],
  [0.5, 64, 16, 100],
  [0.5, 8, 8, 60],
  [1, 16, 16, 80],
  [1, 16, 128, 30],
  [1, 64, 64, 100],
  [1, 4, 64, 50],
];

/** What an event, a message and a GVT cost, and what follows for more PEs. */
function costPart() {
  const trials = [];
  let [reductions, gvts] = [0, 0];
  for (const [remote, batch, interval, end] of TRIALS) {
    const what = [
      '--total-lps=4096',
      '--start-events=4',
      '--lookahead=0.1',
      `--remote=${remote}`,
      `--end=${end}`,
    ];
    const how = [
      '--synch=3',
      `--batch=${batch}`,
      `--gvt-interval=${interval}`,
      '--mpi-shared=0',
      '--json',
    ];
    const done = run([...ranks, process.execPath, bin, 'sim', 'run', 'phold', ...what, ...how]);
    reductions += done.allReduces;
    gvts += done.gvtComputations;
    trials.push({
      events: done.eventsProcessed / 2,
      remote: done.remoteSends / 2,
      batches: done.batches / 2,
      gvts: done.gvtComputations,
      seconds: done.wallSeconds,
    });
  }
  const costs = fitCosts(trials);
  const ns = (seconds) => `${(seconds * 1e9).toFixed(0)} ns`;
  console.log(
    `\ncosts, fitted to ${trials.length} runs on 2 ranks: event ${ns(costs.event)}, remote event ${ns(costs.remote)}, batch ${ns(costs.batch)}, GVT ${ns(costs.gvt)} (${(reductions / gvts).toFixed(2)} reductions), to get going ${costs.start.toFixed(2)} s; error ${(100 * costs.medianError).toFixed(0)} % (median), ${(100 * costs.worstError).toFixed(0)} % (worst)`,
  );
  /** A step of a reduction between machines: 2 us is usual of today's interconnects; an assumption. */
  const load = { remote: 0.25, hop: 2e-6, reductions: reductions / gvts };
  for (const [batch, gvtInterval] of [
    [16, 16],
    [256, 64],
  ]) {
    console.log(
      `\n--batch=${batch} --gvt-interval=${gvtInterval}, a quarter of events for an LP drawn from all`,
    );
    console.log(
      '    PEs  events/batch  ns/event  of which remote  batches   GVT   Gev/s, of 100 % efficiency',
    );
    for (const pes of [2, 64, 1000, 10_000, 100_000]) {
      const { seconds, parts, perBatch } = predict(costs, { ...load, batch, gvtInterval }, pes);
      const part = (value) => (value * 1e9).toFixed(0);
      console.log(
        `${String(pes).padStart(7)} ${perBatch.toFixed(1).padStart(13)} ${part(seconds).padStart(9)} ${part(parts.remote).padStart(16)} ${part(parts.batch).padStart(8)} ${part(parts.gvt).padStart(5)} ${(pes / seconds / 1e9).toFixed(3).padStart(7)}`,
      );
    }
  }
}

const PARTS = {
  M: () => threadsPart('M'),
  L: () => threadsPart('L'),
  ping: pingPart,
  scaling: scalingPart,
  costs: costPart,
};
const asked = process.argv.slice(2);
for (const [name, part] of Object.entries(PARTS))
  if (asked.length === 0 || asked.includes(name)) part();
