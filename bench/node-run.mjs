// One process that collects into a log as the daemon does: SAMPLES [LOOKS]. Prints its figures as JSON: CPU time per
// sample (ms, after a warm-up of a tenth), groups' bytes, and its resident memory (MB) at LOOKS times of the run.
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { JobList, NodeLog, Programming, recordOnce, Sampling } from '../dist/node/index.js';
import { releaseStart } from '../dist/os/code-pages.js';

const samples = Number(process.argv[2]);
const looks = Number(process.argv[3] ?? 2);
const folder = mkdtempSync(join(tmpdir(), 'triscope-bench-'));
const log = new NodeLog(folder);
const sampling = new Sampling({});
const sources = { list: new JobList(join(folder, 'jobs')), file: join(folder, 'jobid') };
const pmc = { program: false, programming: new Programming(join(folder, 'registers'), () => {}) };
const collect = { kind: 'collect' };
/** Bytes of a file after which another is begun: a bench must not fill a disk. */
const MOST = 64 * 2 ** 20;

const rss = () =>
  Number(/VmRSS:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'latin1'))[1]) / 1024;
const memory = [];
let before = process.cpuUsage();
let counted = 0;
let size = 0;
for (let k = 0; k < samples; k++) {
  recordOnce(log, sampling, sources, collect, null, () => {}, pmc);
  if (k === 0) size = statSync(join(folder, 'current')).size;
  if (k === 1) size = statSync(join(folder, 'current')).size - size;
  // As the daemon does, some seconds after its start.
  if (k === Math.floor(samples / 20)) releaseStart();
  if (k < samples / 10) before = process.cpuUsage();
  else counted++;
  if ((k + 1) % Math.floor(samples / looks) === 0) memory.push(Math.round(rss() * 10) / 10);
  if (k % 1000 === 999) {
    const { size: now, ino } = statSync(join(folder, 'current'));
    if (now > MOST) {
      log.locked(() => log.rotate());
      rmSync(folder, { recursive: true });
    }
    // Timers and messages of the daemon's loop have their turn.
    if (ino >= 0) await new Promise((resolve) => setImmediate(resolve));
  }
}
const { user, system } = process.cpuUsage(before);
const types = sampling.collection.types.length;
sampling.close();
log.close();
rmSync(folder, { recursive: true, force: true });
process.stdout.write(
  `${JSON.stringify({ cpu: (user + system) / 1000 / counted, bytes: size, types, memory })}\n`,
);
