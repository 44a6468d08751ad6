/** Causes made on true runs: event memory too small, a run that is stopped, a run of one PE whose CPU others use, causes that are counted. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder, triscope } from '../cli/support/run.ts';
import { findingsAt, said } from './support/findings.ts';

const bench = (name: string) =>
  fileURLToPath(new URL(`../../bench/causes/${name}`, import.meta.url));
const folder = temporaryFolder();
const begun: ChildProcess[] = [];
/** Recordings so far: a test that is tried again needs a name of its own. */
let recordings = 0;
afterAll(() => {
  for (const child of begun) child.kill('SIGKILL');
});

/** Runs the model of the causes, sampled every 50 ms; resolves to its recording. */
async function recorded(
  name: string,
  options: readonly string[],
  meanwhile?: (child: ChildProcess) => void,
): Promise<string> {
  const path = `${folder}/${name}-${recordings++}`;
  const { code } = await triscope(
    [
      ...['sim', 'run', bench('model.mjs'), '--lps=64', `--record=${path}`],
      ...['--engine-stats=rt', '--rt-interval=50', ...options],
    ],
    { meanwhile },
  );
  expect(code).toBe(0);
  return `${path}.tri`;
}

it.concurrent('event memory that is too small is named, with what was undone for it', async () => {
  const memory = ['--max-memory=100000', '--gvt-interval=256', '--max-opt-lookahead=50'];
  const events = ['--start-events=16', '--least=0.2', '--remote=0.15'];
  const path = await recorded('memory', ['--pes=2', '--end=240', ...memory, ...events]);
  const [found] = await findingsAt(path, 'memory-pressure');
  expect(said([found])[0]).toMatch(
    /^(notice|problem): Event memory is too small \(--max-memory=100,000\): [\d,]+ events, \d.* undone to make room for other events \(cancelback\); it was short for [\d.]+ % of the time, in which PEs stay close to GVT: at least [\d.]+ % of their time went neither to events nor to commits meanwhile\.$/,
  );
  expect(found.evidence.sql).toContain("cause = 'cancelback'");
  expect(found.turn).toEqual({ 'max-memory': 16 * 100_000 });
});

it.concurrent('a run that is stopped is found, and nothing is drawn where it stood still', async () => {
  const options = ['--pes=2', '--work=1000', '--remote=0.02', '--end=300', '--stream=-'];
  const path = await recorded('stopped', options, (child) => {
    // After some samples: it runs.
    let [bytes, stopped] = [0, false];
    child.stdout?.on('data', (data: Buffer) => {
      bytes += data.length;
      if (stopped || bytes < 20_000) return;
      stopped = true;
      child.kill('SIGSTOP');
      setTimeout(() => child.kill('SIGCONT'), 2000);
    });
  });
  const [found] = await findingsAt(path, 'pause');
  const [, from, to] = /from ([\d.]+) to ([\d.]+) s/.exec(found.sentence) ?? [];
  expect(Number(to) - Number(from)).toBeGreaterThan(1.5);
  const { out } = await triscope(['report', path]);
  const course = (/Committed events, PE 0 +(.*?) +[\d.]+ /.exec(out)?.[1] ?? '').trim();
  // A run that takes longer, on a busy machine, gives a second fewer of the course's characters.
  const { out: seconds } = await triscope(['query', path, 'SELECT max(t) FROM ross_pe', '--csv']);
  const perCharacter = Number(seconds.split('\n')[1]) / course.length;
  const blank = Math.max(1, Math.floor((Number(to) - Number(from)) / perCharacter) - 2);
  expect(course).toMatch(new RegExp(`[^ ] {${blank},}[^ ]`));
});

it.concurrent('a sequential run whose CPU others use is told so', async () => {
  const onOne = (...words: string[]) => ['-c', '0', ...words];
  for (let k = 0; k < 2; k++) {
    const loop = spawn('taskset', onOne('sh', '-c', 'while :; do :; done'), { stdio: 'ignore' });
    begun.push(loop);
  }
  const path = await recorded('starved', ['--work=600', '--end=600'], (child) => {
    spawn('taskset', ['-a', '-p', '-c', '0', String(child.pid)], { stdio: 'ignore' });
  });
  for (const child of begun) child.kill('SIGKILL');
  const found = await findingsAt(path, 'stolen-cpu');
  expect(said(found).join()).toMatch(/^problem: PE 0 could not run for [3-9]\d/);
});

it.concurrent('causes that are counted, not timed, are named by the harness, whatever else goes on', async () => {
  const around = (await import(bench('around.mjs'))) as { lacksGroups(): string | null };
  // Memory of a program is limited where control groups can be made.
  const limited = around.lacksGroups() === null ? ['program: near its memory limit'] : [];
  const only = `--only=${['tiny lookahead', 'skewed map', ...limited].join(',')}`;
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...[bench('court.mjs'), only, '--seed=7', '--part=0.1', '--repeats=0', '--attempts=1'],
  ]);
  expect(
    stdout.match(/^7 .*/gm)?.map((line) => line.replace(/, but not first| \(.*/g, '')),
  ).toEqual(
    ['skewed map', 'tiny lookahead, conservative', ...limited].map((name) => `7 ${name}: named`),
  );
});
