// npm run bench:sim: events per second of the simulator, against ROSS's best figures and a naive heap measured
// in the same run. Medians of REPEATS (5) processes each. Run it on an otherwise idle machine.
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { arguments_, PARALLEL, WORKLOADS } from './workloads.mjs';

const repeats = Number(process.env.REPEATS ?? 5);
const only = process.argv.slice(2);
const bin = fileURLToPath(new URL('../bin/triscope', import.meta.url));
const naive = fileURLToPath(new URL('naive-run.mjs', import.meta.url));

// Node reads the certificates that this names as it starts, in 0.1 s and more: no part of a simulation.
delete process.env.NODE_EXTRA_CA_CERTS;

function run(args) {
  const started = performance.now();
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
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

console.log(
  `load average before: ${loadavg()[0].toFixed(2)} (should be near 0); medians of ${repeats}\n`,
);
console.log(
  'workload                 Mev/s  (min – max)      ROSS   ratio  machine  ratio on equal  peak RSS  reach    aim',
);
console.log(
  '                                                 best           factor        machines        MB',
);

const factors = {};

function line(label, w, rates, rss, factor) {
  const m = median(rates);
  console.log(
    `${label.padEnd(22)}${format(m)}  (${format(Math.min(...rates), 5)} –${format(Math.max(...rates), 6)})${format(w.ross)} ${format(m / w.ross)} ${format(factor, 8)} ${format(m / w.ross / factor, 15)} ${format(median(rss), 9, 0)} ${format(w.reach, 6, 1)} ${format(w.aim, 6, 1)}`,
  );
}

for (const [name, w] of Object.entries(WORKLOADS)) {
  if (!wanted(name)) continue;
  const rates = [];
  const rss = [];
  const rival = [];
  for (let k = 0; k < repeats; k++) {
    const r = run([bin, ...arguments_(w, w.long, ['--synch=sequential'])]);
    rates.push(r.eventRate / 1e6);
    rss.push(r.peakRssBytes / 2 ** 20);
    rival.push(run([naive, name]).rate / 1e6);
  }
  factors[name] = median(rival) / w.naive;
  line(`${name} sequential`, w, rates, rss, factors[name]);
}

for (const [name, w] of Object.entries(PARALLEL)) {
  if (!wanted(`${name}2`)) continue;
  const rates = [];
  const rss = [];
  for (let k = 0; k < repeats; k++) {
    const r = run([bin, ...arguments_(w, w.long, ['--synch=optimistic', '--pes=2', ...w.options])]);
    rates.push(r.eventRate / 1e6);
    rss.push(r.peakRssBytes / 2 ** 20);
  }
  line(`${name} optimistic, 2 PEs`, w, rates, rss, factors[name] ?? 1);
}

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
