// The table that bench:instrument prints where ROSS_PHOLD names a native ROSS's phold: what the same recording costs there and
// here. Workload M to END (5000) on two processes and two PEs, whole runs in turns, files in memory, medians of PAIRS.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../bin/triscope', import.meta.url));
const LEVELS = ['--kp-data=1', '--lp-data=1'];

/** ROSS's options, and ours where they have other words. */
const MODES = [
  ['none', []],
  ['GVT each, PE', ['--engine-stats=1', '--num-gvt=1']],
  ['GVT every 10th, PE KP LP', ['--engine-stats=1', '--num-gvt=10', ...LEVELS]],
  ['GVT each, PE KP LP', ['--engine-stats=1', '--num-gvt=1', ...LEVELS]],
  [
    'RT 10 ms, PE KP LP',
    ['--engine-stats=2', '--rt-interval=10', ...LEVELS],
    ['--engine-stats=rt', '--rt-interval=10', ...LEVELS],
  ],
  ['trace all, a clock each', ['--event-trace=1']],
  ['trace committed', ['--event-trace=3']],
];

function sizeOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size,
      0,
    );
}

/** Runs a command in a folder in memory; gives what it printed and the bytes that it left. */
function inMemory([command, ...args]) {
  const cwd = mkdtempSync('/dev/shm/triscope-bench-');
  const env = { ...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };
  delete env.NODE_EXTRA_CA_CERTS;
  try {
    const { status, stdout, stderr } = spawnSync(command, args, {
      ...{ cwd, env, encoding: 'utf8', maxBuffer: 2 ** 26 },
    });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit ${status}: ${stderr}`);
    return { out: stdout, bytes: sizeOf(cwd) };
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** @param phold path of ROSS's program, of a version whose instrumentation has these options (7.0 and later) */
export function besideRoss(phold, pairs, end) {
  const shared = `--start-events=1 --lookahead=0.1 --end=${end} --remote=0.25 --mean=1 --synch=3 --batch=64`;
  const words = shared.split(' ');
  const ross = (options) => {
    const mpirun = ['mpirun', '--bind-to', 'core', '-np', '2', phold];
    const own = ['--nlp=512', '--mult=1.4', '--memory=100', '--extramem=100000'];
    const { out, bytes } = inMemory([...mpirun, ...own, ...words, ...options]);
    const of = (pattern) => Number(pattern.exec(out)?.[1]);
    return {
      seconds: of(/Running Time\s*=\s*([\d.]+)/),
      events: of(/Net Events Processed\s+(\d+)/),
      bytes,
    };
  };
  const ours = (options) => {
    const command = [process.execPath, bin, 'sim', 'run', 'phold', '--total-lps=1024', '--pes=2'];
    const { out, bytes } = inMemory([...command, ...words, ...options, '--json']);
    const { wallSeconds, netEvents } = JSON.parse(out);
    return { seconds: wallSeconds, events: netEvents, bytes };
  };
  const runs = MODES.map(() => ({ ross: [], ours: [] }));
  for (let k = 0; k < pairs; k++) {
    MODES.forEach(([, options, own = options], m) => {
      runs[m].ross.push(ross(options));
      runs[m].ours.push(ours(own));
    });
  }
  const events = new Set(runs.flatMap((r) => [...r.ross, ...r.ours].map((run) => run.events)));
  const same = events.size === 1 ? 'the same in all runs' : 'DIFFERENT between runs';
  console.log(
    `\nnative ROSS beside it, 2 processes; events committed: ${[...events].join(', ')}, ${same}`,
  );
  console.log(
    'mode                         ROSS s  overhead     MB   ours s  overhead     MB   ours by ROSS',
  );
  const [none] = runs;
  MODES.forEach(([label], m) => {
    const cells = ['ross', 'ours'].map((who) => {
      const seconds = median(runs[m][who].map((run) => run.seconds));
      const over = seconds / median(none[who].map((run) => run.seconds)) - 1;
      const mb = median(runs[m][who].map((run) => run.bytes)) / 1e6;
      const percent = `${over >= 0 ? '+' : ''}${(100 * over).toFixed(0)} %`;
      const text = `${seconds.toFixed(2).padStart(8)} ${percent.padStart(9)} ${mb.toFixed(0).padStart(6)}`;
      return { seconds, text };
    });
    const by = (cells[1].seconds / cells[0].seconds).toFixed(2).padStart(14);
    console.log(`${label.padEnd(27)}${cells.map((cell) => cell.text).join(' ')} ${by}`);
  });
}
