// npm run bench:mpi: two ranks against two threads, and the transport's round trip and rate against plain C over the
// same library. Medians of REPEATS (5). Run it on an otherwise idle machine. Needs openmpi-bin and libopenmpi-dev.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { arguments_, WORKLOADS } from './workloads.mjs';

const repeats = Number(process.env.REPEATS ?? 5);
const here = (file) => fileURLToPath(new URL(file, import.meta.url));
const bin = here('../bin/triscope');
const root = process.getuid?.() === 0 ? ['--allow-run-as-root'] : [];
const ranks = ['mpirun', ...root, '--oversubscribe', '-np', '2'];

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
console.log('workload  threads     MPI   MPI/threads    (Mev/s, 2 PEs; aim: at least 0.8)');
for (const name of ['M', 'L']) {
  const two = arguments_(WORKLOADS[name], WORKLOADS[name].long, ['--synch=3']);
  const threads = rate([process.execPath, bin, ...two, '--pes=2']);
  const mpi = rate([...ranks, process.execPath, bin, ...two]);
  console.log(
    `${name.padEnd(8)} ${threads.toFixed(2).padStart(8)} ${mpi.toFixed(2).padStart(7)} ${(mpi / threads).toFixed(2).padStart(13)}`,
  );
}

const folder = mkdtempSync(join(tmpdir(), 'triscope-bench-mpi-'));
try {
  const program = join(folder, 'ping');
  const built = spawnSync('mpicc', ['-O2', '-o', program, here('mpi-ping.c')], {
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`mpicc: ${built.stderr}`);
  console.log('\nbatch bytes   round trip, us: C  Node  ratio');
  const c = run([...ranks, program]);
  const node = run([...ranks, process.execPath, here('mpi-ping.mjs')]);
  for (const [k, { bytes, roundTrip }] of c.entries()) {
    const own = node[k].roundTrip;
    console.log(
      `${String(bytes).padStart(11)} ${roundTrip.toFixed(2).padStart(17)} ${own.toFixed(2).padStart(5)} ${(own / roundTrip).toFixed(2).padStart(6)}`,
    );
  }
} finally {
  rmSync(folder, { recursive: true });
}
