// npm run bench:node: what the node collector costs on this machine, with all types that it has.
//   daemon     CPU time of a sample, its write to the log included; wanted 0.4 ms, 3 ms with 300 processes of users
//              (the C collector, started each time: 1.4 and 6 ms); the processes' part beside what C takes to read the
//              same files and do nothing with them
//   one-shot   `triscope node collect` beside an empty Node program, in turns; wanted 1.6 times its time
//   memory     resident, wanted below 60 MB; its growth over the last half of LONG samples (20000; `--long` 100000)
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const PAIRS = Number(process.env.PAIRS ?? 15);
const LONG = process.argv.includes('--long') ? 100_000 : 20_000;
const PROCESSES = 300;
/** A user whose processes are collected, if this runs as root and root's are not. */
const NOBODY = 65_534;

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const say = (what, value, wanted) =>
  process.stdout.write(`${what.padEnd(44)}${value.padStart(12)}   wanted ${wanted}\n`);

function collects(samples, looks) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [here('node-run.mjs'), String(samples), String(looks)],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** CPU time (ms) in which C reads what `proc` reads; null without a compiler. */
function bareReads(pids) {
  const program = join(mkdtempSync(join(tmpdir(), 'triscope-bench-')), 'limit');
  const { status } = spawnSync('cc', ['-O2', '-o', program, here('node-limit.c')]);
  if (status !== 0) return null;
  return spawnSync(program, pids, { encoding: 'utf8' }).stdout.trim().split(' ').map(Number);
}

const daemon = collects(4000, 2);
say(`daemon: CPU per sample, ${daemon.types} types`, `${daemon.cpu.toFixed(3)} ms`, '0.4 ms');

const user = process.getuid() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const sleepers = Array.from({ length: PROCESSES }, () =>
  spawn('sleep', ['600'], { ...user, stdio: 'ignore' }),
);
try {
  const busy = collects(600, 2);
  const size = `${(busy.bytes / 1000).toFixed(1)} kB a sample`;
  say(`  with ${PROCESSES} processes of users, ${size}`, `${busy.cpu.toFixed(3)} ms`, '3 ms');
  const limit = bareReads(sleepers.map(({ pid }) => String(pid)));
  if (limit !== null) {
    const [kept, opened] = limit;
    const more = busy.cpu - daemon.cpu;
    const times = (bare) => `${(more / bare).toFixed(2)} times`;
    say(`  their part, beside the bare reads in C, ${kept} ms`, times(kept), 'the limit');
    say(`  and opened and read by lines in C, ${opened} ms`, times(opened), 'below 1');
  }
} finally {
  // Waited for: what is left of them would be collected too.
  const gone = sleepers.map((sleeper) => new Promise((resolve) => sleeper.once('exit', resolve)));
  for (const sleeper of sleepers) sleeper.kill('SIGKILL');
  await Promise.all(gone);
}

const folder = mkdtempSync(join(tmpdir(), 'triscope-bench-'));
const empty = [];
const collect = [];
const ratios = [];
const timed = (args) => {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (status !== 0) throw new Error(`${args.join(' ')}: code ${status}`);
  return performance.now() - start;
};
for (let k = 0; k < PAIRS; k++) {
  empty.push(timed(['-e', '0']));
  collect.push(timed([here('../bin/triscope'), 'node', 'collect', '--dir', folder]));
  ratios.push(collect[k] / empty[k]);
}
rmSync(folder, { recursive: true });
say(
  `one-shot: ${median(collect).toFixed(0)} ms, empty program ${median(empty).toFixed(0)} ms`,
  `${median(ratios).toFixed(2)} times`,
  '1.6 times',
);

const { memory } = collects(LONG, 10);
const last = memory.at(-1);
say(`memory after ${LONG} samples`, `${last.toFixed(1)} MB`, '60 MB');
const growth = ((last - memory[4]) / (LONG / 2)) * 1e6;
say('  growth over the last half', `${growth.toFixed(0)} kB / 1000`, 'none');
process.stdout.write(`  MB at each tenth: ${memory.join(' ')}\n`);
