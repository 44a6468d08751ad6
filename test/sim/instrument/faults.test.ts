/** What is left when a recording run is killed, interrupted, out of room, or followed by nobody. */
import '../../support/small-machine.ts';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { FrameDecoder } from '../../../src/formats/frames/index.ts';
import { type Outcome, triscope, triscopeHere } from '../../cli/support/run.ts';
import { temporaryFolder } from '../support/recorded.ts';

const BIN =
  process.env.TRISCOPE_BIN ?? fileURLToPath(new URL('../../../bin/triscope', import.meta.url));

const PCS = ['sim', 'run', 'pcs', '--width=8', '--height=4', '--nkp=2', '--pes=2'];
const ENDLESS = [...PCS, '--end=1e9'];
/** Little per second, of every kind. */
const ALL = ['--engine-stats=all', '--model-stats=all', '--lp-data', '--num-gvt=50'];
const SPARSE = ['--rt-interval=200', '--vt-interval=100', '--event-trace=rollbacks'];

const left: ChildProcess[] = [];
afterEach(() => {
  for (const child of left.splice(0)) child.kill('SIGKILL');
});

const recordingOf = (cwd: string) =>
  JSON.parse(readFileSync(join(cwd, 'a.tri/recording.json'), 'utf8'));
const statsIn = (cwd: string) => {
  const folder = join(cwd, 'a.tri/stats-output');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.bin'))
    .map((name) => join(folder, name));
};

async function rowsOf(path: string): Promise<Record<string, number>[]> {
  const { code, out, err } = await triscopeHere(['read', path, '--format=json']);
  expect([path, code, err]).toEqual([path, 0, '']);
  return out
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Waits until `ready`, for a minute at most. */
async function until(ready: () => boolean): Promise<void> {
  for (let k = 0; k < 3000 && !ready(); k++) await new Promise((r) => setTimeout(r, 20));
}

/** Runs the command in a shell that allows files of `kilobytes` only. */
function limited(kilobytes: number, args: readonly string[], cwd: string): Promise<Outcome> {
  const started = performance.now();
  const child = spawn(
    'bash',
    ['-c', `ulimit -f ${kilobytes}; exec "$@"`, 'bash', process.execPath, BIN, ...args],
    { cwd, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  left.push(child);
  let [out, err] = ['', ''];
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  return new Promise((resolve) => {
    child.on('close', (code) =>
      resolve({ code, out, err, milliseconds: performance.now() - started }),
    );
  });
}

const KILLED = 'it has no end: its run was killed, or still goes on';

describe('kill -9 in the middle', () => {
  test('leaves files of whole records in a folder that says it was running', async () => {
    const cwd = temporaryFolder();
    await triscope([...ENDLESS, ...ALL, ...SPARSE, '--record=a'], {
      cwd,
      meanwhile: async (child) => {
        const written = () =>
          existsSync(join(cwd, 'a.tri/stats-output')) &&
          statsIn(cwd).some((f) => f.endsWith('-gvt.bin') && statSync(f).size > 0);
        await until(written);
        await new Promise((r) => setTimeout(r, 300));
        child.kill('SIGKILL');
      },
    });
    expect(recordingOf(cwd).state).toBe('running');
    const files = statsIn(cwd);
    expect(files.length).toBe(5);
    for (const file of files) await rowsOf(file);
    const decoder = new FrameDecoder();
    const batches = decoder.push(readFileSync(join(cwd, 'a.tri/extra.frames')));
    expect(batches.some((b) => b.schema.name === 'ross_pe')).toBe(true);
    const info = await triscopeHere(['info', join(cwd, 'a.tri'), '--json']);
    expect(info.code).toBe(0);
    for (const file of JSON.parse(info.out).files) expect(file.damaged).toBe(false);
    expect(JSON.parse(info.out).recordings[0].suspect).toEqual([KILLED]);
    const suspect = 'FROM suspect';
    const asked = await triscopeHere(['query', join(cwd, 'a.tri'), suspect, '--json']);
    expect([asked.code, asked.err]).toEqual([0, `triscope: recording.json: ${KILLED}\n`]);
    expect(JSON.parse(asked.out)).toEqual([{ file: 'recording.json', what: KILLED }]);
  });
});

describe('no room on the disk', () => {
  test('the run ends with its result, files of whole records, and a count of what is lost', async () => {
    const cwd = temporaryFolder();
    const args = [...PCS, '--end=400', '--event-trace=committed', '--record=a', '--json'];
    const { code, out, err, milliseconds } = await limited(64, args, cwd);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^triscope: instrumentation is incomplete: cannot write .*-evtrace\.bin: EFBIG.*\n$/,
    );
    expect(milliseconds).toBeLessThan(20_000);
    const result = JSON.parse(out);
    const [file] = statsIn(cwd);
    // All records that found room: an event has 24 bytes, and 8 of the model.
    expect(statSync(file).size).toBe(65536);
    const events = await rowsOf(file);
    const lost = result.streams.filter((s: { stream: string }) => s.stream === 'evtrace');
    const total = (key: string) =>
      lost.reduce((n: number, s: Record<string, number>) => n + s[key], 0);
    expect(total('droppedRecords')).toBeGreaterThan(0);
    expect(events.length + total('droppedRecords')).toBe(result.netEvents);
    expect(total('droppedBytes')).toBe(32 * total('droppedRecords'));
    expect(recordingOf(cwd).sources[0].droppedBytes).toBe(total('droppedBytes'));
    // The run is whole, what was to be recorded of it is not.
    expect(recordingOf(cwd).state).toBe('failed');
    const info = await triscopeHere(['info', join(cwd, 'a.tri'), '--json']);
    expect(JSON.parse(info.out).recordings[0].suspect).toEqual([
      expect.stringMatching(/^its run failed: instrumentation is incomplete: cannot write /),
      `${total('droppedBytes')} bytes of records were dropped because buffers or the disk were full`,
    ]);
  });

  test.each(['ross-7', 'ross-8.1', 'ross-2017'])(
    'samples of %s: the whole records that found room are kept',
    async (layout) => {
      const cwd = temporaryFolder();
      const args = [...PCS, '--end=400', '--engine-stats=gvt', '--granularity=1'];
      const { code } = await limited(64, [...args, `--stats-layout=${layout}`], cwd);
      expect(code).toBe(1);
      const file = join(cwd, 'stats-output/ross-stats-gvt.bin');
      // The largest record, of 2017, holds a PE with its KPs and LPs.
      expect(statSync(file).size).toBeGreaterThan(65536 - 4096);
      const { out } = await triscopeHere(['info', file, '--json']);
      expect(JSON.parse(out).files[0].damaged).toBe(false);
    },
  );

  test('one file that cannot grow does not stop the others', async () => {
    const cwd = temporaryFolder();
    const args = [...PCS, '--end=400', '--event-trace=1', '--engine-stats=rt', '--rt-interval=500'];
    const { code, out } = await limited(64, [...args, '--json'], cwd);
    expect(code).toBe(1);
    const result = JSON.parse(out);
    const rows = await rowsOf(join(cwd, 'stats-output/ross-stats-rt.bin'));
    const processed = rows.filter((r) => String(r.kind) === 'pe');
    expect(processed.reduce((n, r) => n + r.events_processed, 0)).toBe(result.eventsProcessed);
  });

  test('where not even the recording can be completed, the result is still printed', async () => {
    const cwd = temporaryFolder();
    const { code, out, err } = await limited(8, [...PCS, '--end=20', '--record=a', '--json'], cwd);
    expect(code).toBe(1);
    expect(err).toMatch(/triscope: cannot write a\.tri\/sim-result\.json: EFBIG/);
    expect(JSON.parse(out).netEvents).toBeGreaterThan(0);
  });
});

describe('folders that cannot be made are one line', () => {
  const one = ['sim', 'run', 'phold', '--end=10', '--engine-stats=gvt'];
  test.each(['/proc/none/here', 'file/below'])('--stats-path=%s', async (path) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'file'), '');
    const { code, out, err } = await triscopeHere([...one, `--stats-path=${path}`], { cwd });
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(/^triscope: --stats-path: cannot make .*\n$/);
  });

  test('--record=/proc/none', async () => {
    const { code, err } = await triscopeHere([...one, '--record=/proc/none']);
    expect(code).toBe(1);
    expect(err).toMatch(/^triscope: --record: cannot make \/proc\/none\.tri: .*\n$/);
  });
});

test('an interrupted run completes its files: samples add up to the partial result', async () => {
  const cwd = temporaryFolder();
  const args = [...ENDLESS, '--engine-stats=rt', '--rt-interval=50', '--record=a', '--json'];
  const { code, out } = await triscope(args, {
    cwd,
    meanwhile: async (child) => {
      await until(() => existsSync(join(cwd, 'a.tri/extra.frames')));
      await new Promise((r) => setTimeout(r, 700));
      child.kill('SIGINT');
    },
  });
  expect(code).toBe(130);
  const result = JSON.parse(out);
  expect(recordingOf(cwd).state).toBe('interrupted');
  const rows = (await rowsOf(join(cwd, 'a.tri'))).filter((r) => String(r.kind) === 'pe');
  expect(rows.length).toBeGreaterThan(4);
  expect(rows.reduce((n, r) => n + r.events_processed, 0)).toBe(result.eventsProcessed);
});

describe('a follower of --stream=PIPE', () => {
  const SHORT = [...PCS, '--end=20', '--engine-stats=gvt', '--lp-data'];
  const pipe = () => {
    const cwd = temporaryFolder();
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    return cwd;
  };
  const follow = (cwd: string, script: string) => {
    const child = spawn('bash', ['-c', script], { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
    left.push(child);
    const chunks: Buffer[] = [];
    child.stdout.on('data', (data) => chunks.push(data));
    const bytes = new Promise<Buffer>((resolve) =>
      child.on('close', () => resolve(Buffer.concat(chunks))),
    );
    return { child, bytes };
  };

  test('who never comes does not keep the run', async () => {
    const { code, out, err, milliseconds } = await triscope([...SHORT, '--stream=pipe'], {
      cwd: pipe(),
    });
    expect(code).toBe(0);
    expect(out).toContain('Net Events Processed');
    expect(err).toMatch(/^triscope: --stream: nobody reads pipe: \d+ batches were dropped\n$/);
    expect(milliseconds).toBeLessThan(15_000);
  });

  test('who comes late gets all from the beginning', async () => {
    const cwd = pipe();
    const { bytes } = follow(cwd, 'sleep 1; cat pipe');
    const { code, err } = await triscope([...SHORT, '--stream=pipe'], { cwd });
    expect([code, err]).toEqual([0, '']);
    const decoder = new FrameDecoder();
    const names = decoder.push(await bytes).map((batch) => batch.schema.name);
    expect(decoder.lost).toBe(0);
    expect(names).toContain('ross_lp');
    expect(names[names.length - 1]).toBe('sim_stream');
  });

  test('who stops reading does not keep the run, and what was not taken is counted', async () => {
    const cwd = pipe();
    follow(cwd, 'exec 3<pipe; sleep 60');
    const { code, err, out } = await triscope([...SHORT, '--end=100', '--stream=pipe'], { cwd });
    expect(code).toBe(0);
    expect(out).toContain('Net Events Processed');
    expect(err).toMatch(
      /^triscope: --stream: the follower was too slow: \d+ batches were dropped\n$/,
    );
  });

  test('who goes away does not end the run', async () => {
    const cwd = pipe();
    follow(cwd, 'head -c 100 pipe');
    const args = [...SHORT, '--end=100', '--stream=pipe', '--record=a'];
    const { code, err } = await triscope(args, { cwd });
    expect(code).toBe(0);
    expect(err).toMatch(/^triscope: --stream: the follower went away: \d+ batches were dropped\n$/);
    expect(recordingOf(cwd).state).toBe('finished');
  });
});
