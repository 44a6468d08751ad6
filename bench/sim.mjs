// npm run bench:sim: events per second of the simulator, against ROSS's best figures and a naive heap measured
// in the same run. Medians of REPEATS (5) processes each. Run it on an otherwise idle machine.
// `whole` is the rate of a run of at least 5 million events a PE, V8's warm-up included; `steady` that of what a run three
// times as long has beyond it: the rate that a run tends to, as ROSS's does from its start.
// Then two PEs against one, in pairs (`two-pes.mjs`), and a short run. Words choose workloads: S, M, L, XL, short, or of the
// second table what their names begin with: npm run bench:sim -- torus queueing
// Another Node: npm run bench:sim -- --node=/path/to/node, or NODE=/path/to/node; `node scripts/nodes.mjs 24` prints one's.
import { spawn, spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { describeCpus } from './cpus.mjs';
import { twoPes } from './two-pes.mjs';
import { arguments_, WORKLOADS } from './workloads.mjs';

const repeats = Number(process.env.REPEATS ?? 5);
const words = process.argv.slice(2);
/** The Node that runs the simulations. */
const node =
  words.find((word) => word.startsWith('--node='))?.slice('--node='.length) ||
  process.env.NODE ||
  process.execPath;
const only = words.filter((word) => !word.startsWith('--node='));
const bin = fileURLToPath(new URL('../bin/triscope', import.meta.url));
const naive = fileURLToPath(new URL('naive-run.mjs', import.meta.url));

// Node reads the certificates that this names as it starts, in 0.1 s and more: no part of a simulation.
delete process.env.NODE_EXTRA_CA_CERTS;

/** Like `run`, while others run too. */
function begin(args) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [bin, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more) => {
      text += more;
    });
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(text));
      else reject(new Error(`${args.join(' ')}: exit ${code}`));
    });
  });
}

function run(args) {
  const started = performance.now();
  const { stdout, stderr, status, error } = spawnSync(node, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (error !== undefined) throw new Error(`${node}: ${error.message}`);
  if (status !== 0) throw new Error(`${args.join(' ')}: exit ${status}: ${stderr}`);
  return { ...JSON.parse(stdout), processSeconds: (performance.now() - started) / 1000 };
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const format = (x, width = 7, digits = 2) => x.toFixed(digits).padStart(width);
const wanted = (name) => only.length === 0 || only.includes(name);

const { stdout: version } = spawnSync(node, ['--version'], { encoding: 'utf8' });
if (!version) throw new Error(`${node}: no Node that runs`);
console.log(
  `Node ${version.trim().slice(1)}; load average before: ${loadavg()[0].toFixed(2)} (should be near 0); medians of ${repeats}\n`,
);
console.log(
  'workload                whole  (min – max)   steady     ROSS   ratio   machine  steady on equal  peak RSS  reach    aim',
);
console.log(
  '                        Mev/s                Mev/s     best  (steady)  factor     machines        MB',
);

/** One line: `repeats` runs up to the virtual times `w.long` and three times that, in turns with the naive heap on workload `rival`. */
function measure(label, w, more, rival) {
  const long = [];
  const longer = [];
  const rivals = [];
  for (let k = 0; k < repeats; k++) {
    long.push(run([bin, ...arguments_(w, w.long, more)]));
    longer.push(run([bin, ...arguments_(w, 3 * w.long, more)]));
    rivals.push(run([naive, rival]).rate / 1e6);
  }
  const seconds = (runs) => median(runs.map((r) => r.wallSeconds));
  const rates = long.map((r) => r.eventRate / 1e6);
  const steady =
    (longer[0].netEvents - long[0].netEvents) / (seconds(longer) - seconds(long)) / 1e6;
  const rss = median(longer.map((r) => r.peakRssBytes / 2 ** 20));
  const factor = median(rivals) / w.naive;
  console.log(
    `${label.padEnd(22)}${format(median(rates))}  (${format(Math.min(...rates), 5)} –${format(Math.max(...rates), 6)})${format(steady, 8)} ${format(w.ross, 8)} ${format(steady / w.ross)} ${format(factor, 9)} ${format(steady / factor, 12)} ${format(rss, 13, 0)} ${format(w.reach, 6, 1)} ${format(w.aim, 6, 1)}`,
  );
}

for (const [name, w] of Object.entries(WORKLOADS)) {
  if (wanted(name)) measure(`${name} sequential`, w, ['--synch=sequential'], name);
}
console.log('');
await describeCpus([node, bin, ...arguments_(WORKLOADS.M, 5000, ['--synch=sequential'])]);
await twoPes(begin, repeats, (name) => only.length === 0 || only.some((w) => name.startsWith(w)));

if (wanted('short')) {
  console.log(
    '\nM as it stands (1,022,911 events), whole process, warm-up included; ROSS best 0.275 s sequential, 0.170 s on 2:',
  );
  for (const [label, more] of [
    ['sequential', ['--synch=sequential']],
    ['optimistic, 2 PEs', ['--synch=optimistic', '--pes=2']],
  ]) {
    const runs = Array.from({ length: repeats }, () =>
      run([bin, ...arguments_(WORKLOADS.M, WORKLOADS.M.end, more)]),
    );
    console.log(
      `  ${label.padEnd(20)}${format(median(runs.map((r) => r.processSeconds)), 6, 3)} s whole process, ${format(median(runs.map((r) => r.wallSeconds)), 6, 3)} s of it simulating`,
    );
  }
}
console.log(
  '\nmachine factor: a naive JavaScript heap measured here, over what it reached on the machine of ROSS’s figures.',
);
