/**
 * What comparing two large recordings costs: 4,096 LPs, about 70 MB each. Limits: 5 s and 300 MB. `npm run bench:diff-size`.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RUN =
  'sim run phold --pes=2 --total-lps=4096 --nkp=16 --lookahead=0.1 --end=200 --engine-stats=gvt --num-gvt=10 --pe-data --kp-data --lp-data';
const REPEATS = 3;

const bin = join(import.meta.dirname, '../bin/triscope');
const folder = mkdtempSync(join(tmpdir(), 'bench-diff-size-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const paths = [0.25, 0.6].map((remote) => {
  const path = join(folder, `${remote}.tri`);
  const words = [bin, ...RUN.split(' '), `--remote=${remote}`, `--record=${path}`];
  const { status, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return path;
});
const size = (path) =>
  readdirSync(path, { recursive: true }).reduce(
    (sum, one) => sum + statSync(join(path, one)).size,
    0,
  );

/** Runs it, and looks at its greatest resident memory while it does. */
function measured(words) {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    const child = spawn(process.execPath, [bin, ...words], { stdio: 'ignore' });
    let memory = 0;
    const look = setInterval(() => {
      try {
        const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
        memory = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? memory);
      } catch {
        // It has ended.
      }
    }, 20);
    child.on('exit', (code) => {
      clearInterval(look);
      if (code !== 0) return reject(new Error(`ended with ${code}`));
      resolve({ seconds: (performance.now() - begin) / 1000, megabytes: (memory * 1024) / 1e6 });
    });
  });
}

console.log(`diff of ${paths.map((path) => `${Math.round(size(path) / 1e6)} MB`).join(' and ')}:`);
for (let k = 0; k < REPEATS; k++) {
  const { seconds, megabytes } = await measured(['diff', ...paths]);
  console.log(
    `  ${seconds.toFixed(1)} s (limit 5), ${megabytes.toFixed(0)} MB at most (limit 300)`,
  );
}
