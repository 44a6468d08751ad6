/**
 * What the controller of `region launch` costs, by the kernel's account of its threads: start-up separately from steady
 * sampling, with the trace's 13 columns. Rival: GEOPM 3.1's controller on a 2-CPU virtual machine (monitor, 10
 * signals): 0.9 % of a core at 5 ms, 0.26 % at 200 ms (nearly all of it start-up), 8.8 MB.
 *
 *     node bench/controller.mjs [SECONDS]
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SECONDS = Number(process.argv[2] ?? 10);
/** Seconds in which V8 compiles and collects garbage after the start: counted separately. */
const WARM_UP = 12;
const path = (file) => fileURLToPath(new URL(file, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'triscope-bench-'));

// The application looks at its parent, which is the controller: at its start, when V8 has compiled what runs often, and
// at its end.
writeFileSync(
  join(folder, 'app.mjs'),
  `import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
  import { region } from ${JSON.stringify(new URL('../dist/region/index.js', import.meta.url).href)};
  const own = (file) => readFileSync('/proc/' + process.ppid + '/' + file, 'utf8');
  const busy = () => readdirSync('/proc/' + process.ppid + '/task')
    .reduce((sum, id) => sum + Number(own('task/' + id + '/schedstat').split(' ')[0]) / 1e9, 0);
  const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  region('work').enter();
  sleep(300);
  const early = busy();
  sleep(${WARM_UP * 1000});
  const [start, from] = [busy(), performance.now()];
  sleep(${SECONDS * 1000});
  const [end, to] = [busy(), performance.now()];
  region('work').exit();
  const memory = /VmHWM:\\s*(\\d+)/.exec(own('status'))[1] / 1024;
  writeFileSync('cost.json', JSON.stringify({ start: early, warm: start - early, share: (end - start) / (to - from) * 1e5, memory }));`,
);

function cost(period) {
  const args = [
    'region',
    'launch',
    `--geopm-period=${period}`,
    '--synthetic',
    '--geopm-trace=trace',
  ];
  const run = spawnSync(
    process.execPath,
    [path('../bin/triscope'), ...args, '--', process.execPath, 'app.mjs'],
    { cwd: folder, stdio: 'inherit' },
  );
  if (run.status !== 0) throw new Error(`triscope ended with ${run.status ?? run.signal}`);
  const report = readFileSync(join(folder, 'geopm.report'), 'utf8');
  const sampling = (key) => Number(new RegExp(`${key}: (.*)`).exec(report)[1]);
  return {
    ...JSON.parse(readFileSync(join(folder, 'cost.json'), 'utf8')),
    samples: sampling('samples'),
    missed: sampling('missed'),
    late: sampling('mean lateness \\(s\\)') * 1e6,
  };
}

try {
  for (const [period, rival] of [
    [0.2, 0.3],
    [0.005, 0.9],
    [0.001, 5.5],
  ]) {
    const { start, warm, share, memory, samples, missed, late } = cost(period);
    console.log(
      `${(period * 1000).toFixed(0).padStart(3)} ms: ${share.toFixed(2)} % of a core (${(share / rival).toFixed(2)} × ${rival} %), ` +
        `start-up ${(start * 1000).toFixed(0)} ms CPU, first ${WARM_UP} s ${(warm * 1000).toFixed(0)} ms, ${memory.toFixed(0)} MB; ` +
        `${samples} samples, ${missed} missed, ${late.toFixed(0)} µs late in the mean`,
    );
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
