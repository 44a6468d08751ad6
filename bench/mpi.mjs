// npm run bench:mpi: two ranks against two threads and ROSS's best; the transport's round trip and message rate against
// plain C over the same library; one result on 1 to 8 ranks; a cost model, and what it says of more PEs. Medians of
// REPEATS (5). Run it on an otherwise idle machine. Needs openmpi-bin and libopenmpi-dev. With `-- ping costs` only these of
// threads, ping, scaling, costs.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fitCosts, predict } from './mpi-cost.mjs';
import { arguments_, WORKLOADS } from './workloads.mjs';

const repeats = Number(process.env.REPEATS ?? 5);
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const bin = here('../bin/triscope');
const root = process.getuid?.() === 0 ? ['--allow-run-as-root'] : [];
const onRanks = (n) => ['mpirun', ...root, '--oversubscribe', '-np', `${n}`];
const ranks = onRanks(2);
/** ROSS's best on two ranks, Mev/s, on the machine on which it was measured (bench/sim.mjs). */
const ROSS = { M: 6.0, L: 1.49 };

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

const rate = (command) =>
  median(Array.from({ length: repeats }, () => run(command).eventRate / 1e6));

console.log(
  `load average before: ${loadavg()[0].toFixed(2)} (should be near 0); medians of ${repeats}\n`,
);
/** Two ranks against two threads. */
function threadsPart() {
  console.log(
    'workload  threads     MPI   MPI/threads   MPI/ROSS    (Mev/s, 2 PEs; aims: 0.8 and 1)',
  );
  for (const name of ['M', 'L']) {
    const two = arguments_(WORKLOADS[name], WORKLOADS[name].long, ['--synch=3']);
    const threads = rate([process.execPath, bin, ...two, '--pes=2']);
    const mpi = rate([...ranks, process.execPath, bin, ...two]);
    console.log(
      `${name.padEnd(8)} ${threads.toFixed(2).padStart(8)} ${mpi.toFixed(2).padStart(7)} ${(mpi / threads).toFixed(2).padStart(13)} ${(mpi / ROSS[name]).toFixed(2).padStart(10)}`,
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
  console.log('\nscaling   ranks      LPs      Mev/s   result   (more ranks than CPUs share them)');
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
      const many = run([...onRanks(n), process.execPath, bin, ...model, ...of, '--synch=3']);
      const same = ['eventDigest', 'stateDigest', 'netEvents'].every((k) => alone[k] === many[k]);
      console.log(
        `${kind.padEnd(8)} ${String(n).padStart(6)} ${String(lps).padStart(8)} ${(many.eventRate / 1e6).toFixed(2).padStart(10)}   ${same ? 'same' : 'DIFFERENT'}`,
      );
      if (!same) process.exitCode = 1;
    }
  }
}

/** What an event, a message and a GVT cost, and what follows for more PEs. */
function costPart() {
  const trials = [];
  for (const remote of [0, 0.1, 0.25, 1]) {
    for (const [batch, interval] of [
      [16, 16],
      [16, 128],
      [64, 16],
    ]) {
      const what = [
        '--total-lps=4096',
        '--start-events=4',
        '--lookahead=0.1',
        `--remote=${remote}`,
      ];
      const how = [
        '--synch=3',
        `--batch=${batch}`,
        `--gvt-interval=${interval}`,
        '--end=50',
        '--json',
      ];
      const done = run([...ranks, process.execPath, bin, 'sim', 'run', 'phold', ...what, ...how]);
      trials.push({
        events: done.eventsProcessed / 2,
        remote: done.remoteSends / 2,
        batches: done.batches / 2,
        gvts: done.gvtComputations,
        seconds: Math.max(...done.perPe.map((pe) => pe.wallSeconds ?? done.wallSeconds)),
      });
    }
  }
  const costs = fitCosts(trials);
  const ns = (seconds) => `${(seconds * 1e9).toFixed(0)} ns`;
  console.log(
    `\ncosts, fitted to ${trials.length} runs on 2 ranks: event ${ns(costs.event)}, remote event ${ns(costs.remote)}, batch ${ns(costs.batch)}, GVT ${ns(costs.gvt)}; error ${(100 * costs.medianError).toFixed(0)} % (median), ${(100 * costs.worstError).toFixed(0)} % (worst)`,
  );
  /** A step of a reduction between machines: 2 us is usual of today's interconnects; an assumption. */
  const load = { remote: 0.25, hop: 2e-6 };
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

const PARTS = { threads: threadsPart, ping: pingPart, scaling: scalingPart, costs: costPart };
const asked = process.argv.slice(2);
for (const [name, part] of Object.entries(PARTS))
  if (asked.length === 0 || asked.includes(name)) part();
