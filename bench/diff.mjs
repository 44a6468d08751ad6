/**
 * Whether `triscope diff` can be trusted, tested by real runs: five repeats of a setting compared with each other, where nothing changed,
 * and settings that were changed on purpose. `npm run bench:diff`; prints the numbers in docs/diff.md.
 *
 * A number counts as changed on purpose if the medians of five runs of each setting differ by more than 20 % of A's and by more than
 * all ten runs' own ranges.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareRecordings } from '../dist/report/index.js';

const RUNS = 5;
const COMMAND =
  'sim run phold --pes=2 --nlp=16 --lookahead=0.1 --end=1000 --engine-stats=gvt --num-gvt=4 --kp-data';
/** The settings that are changed. */
const CHANGES = [
  ...['--remote=1', '--nlp=64', '--lookahead=0.5', '--start-events=4', '--mean=3'],
  ...['--nkp=1', '--batch=2'],
];

const bin = join(import.meta.dirname, '../bin/triscope');
/** A given folder keeps its recordings: a run that was interrupted continues there. */
const [given] = process.argv.slice(2);
const folder = given ?? mkdtempSync(join(tmpdir(), 'bench-diff-'));
if (given === undefined) process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

function record(name, change) {
  const out = join(folder, `${name}.tri`);
  if (existsSync(join(out, 'sim-result.json'))) return out;
  const words = [...COMMAND.split(' '), ...(change === '' ? [] : [change]), `--record=${out}`];
  const { status, stderr } = spawnSync(process.execPath, [bin, ...words], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
  return out;
}

// In turns, so that other load on the machine affects all settings.
const settings = ['', ...CHANGES];
const runs = settings.map(() => []);
for (let k = 0; k < RUNS; k++) {
  for (const [n, change] of settings.entries()) runs[n].push(record(`${n}-${k}`, change));
}

const [base] = runs;
const called = ({ changes }) => changes.filter(({ verdict }) => verdict === 'changed').length;
const judged = ({ changes }) => changes.filter(({ verdict }) => !verdict.startsWith('only')).length;
let falseCalls = 0;
let values = 0;
const pairs = [
  [[0], [1]],
  [[2], [3]],
  [[3], [4]],
  [
    [0, 1],
    [2, 3, 4],
  ],
];
for (const [a, b] of pairs.map((pair) => pair.map((side) => side.map((k) => base[k])))) {
  const found = await compareRecordings(a, b);
  falseCalls += called(found);
  values += judged(found);
}
console.log(
  `${RUNS} repeats of one setting, ${pairs.length} comparisons: ${falseCalls} of ${values} values called changed`,
);

const counts = { 1: 0, 5: 0 };
let made = 0;
for (const [n, other] of runs.slice(1).entries()) {
  const key = ({ entity, key, unit }) => JSON.stringify([entity, key, unit]);
  const all = await compareRecordings(base, other);
  const range = (values) => Math.max(...values) - Math.min(...values);
  const real = all.changes.filter(
    ({ scope, a, b, change }) =>
      scope === 'run' &&
      a !== null &&
      b !== null &&
      Math.abs(change) > 0.2 * Math.abs(a.value) + range(a.runs) + range(b.runs),
  );
  made += real.length;
  const told = [`${CHANGES[n]}: ${real.length} numbers of the run changed; called by`];
  for (const size of [1, 5]) {
    const found =
      size === 5 ? all : await compareRecordings(base.slice(0, size), other.slice(0, size));
    const seen = new Set(
      found.changes.filter((one) => one.scope === 'run' && one.verdict === 'changed').map(key),
    );
    const count = real.filter((one) => seen.has(key(one))).length;
    counts[size] += count;
    told.push(`${count} (${size} ${size === 1 ? 'run' : 'runs'} a side)`);
  }
  console.log(told.join(' '));
}
for (const size of [1, 5]) console.log(`${size} a side: ${counts[size]} of ${made} changes called`);
