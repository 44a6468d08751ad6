/** One signal ends everything, also what never returns, and what there is by then can be read. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { HAS_MPI, NEEDS_MPI } from '../sim/support/mpirun.ts';
import { until } from '../support/until.ts';
import { BIN, fixture, temporaryFolder, triscope } from './support/run.ts';

interface Ended {
  /** The exit code, or the signal that ended it. */
  readonly how: number | NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly child: ChildProcess;
  readonly said: { out: string; err: string };
}

interface Case {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: NodeJS.Signals;
  /** Whether it does what the signal is to end. */
  readonly when: (running: Running) => boolean;
  /** On standard input. */
  readonly input?: string;
  /** Before `triscope`. */
  readonly launcher?: readonly string[];
}

/** Far above the two seconds that are promised: the machine may be busy. What does not end would take for ever. */
const PATIENCE = 30;

/** Runs `triscope …args`, sends it the signal once, and says how it ended. */
async function ended(args: readonly string[], one: Case): Promise<Ended> {
  const { launcher = [], cwd = temporaryFolder(), env = {}, signal = 'SIGTERM' } = one;
  const [file, ...words] = [...launcher, process.execPath, BIN, ...args];
  const child = spawn(file, words, { cwd, env: { ...process.env, ...env } });
  child.stdin.end(one.input);
  const said = { out: '', err: '' };
  child.stdout.on('data', (data) => {
    said.out += data;
  });
  child.stderr.on('data', (data) => {
    said.err += data;
  });
  let how: Ended['how'] = null;
  child.on('exit', (code, by) => {
    how = code ?? by;
  });
  try {
    await until(() => one.when({ child, said }));
    expect(how).toBe(null);
    child.kill(signal);
    await until(() => how !== null, PATIENCE);
  } finally {
    if (how === null) child.kill('SIGKILL');
  }
  return { how, ...said };
}

/** Ids of the processes that `pid` has started. */
function childrenOf(pid = 0): number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text.split(' ').filter(Boolean).map(Number);
}

const isGone = (pid: number) => !existsSync(`/proc/${pid}`);

const LOOP = [fixture('misbehave.ts'), '--what=loop'];
const loops = ({ said }: Running) => said.err.includes('it loops');
const stateOf = (cwd: string) => {
  const { state, error } = JSON.parse(readFileSync(join(cwd, 'a.tri', 'recording.json'), 'utf8'));
  return { state, error };
};

describe.skipIf(process.platform !== 'linux').concurrent('one signal ends', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'a handler that never returns: %s',
    async (signal) => {
      const cwd = temporaryFolder();
      const args = ['sim', 'run', ...LOOP, '--record=a', '--engine-stats=all'];
      const { how, err } = await ended(args, { cwd, signal, when: loops });
      expect(how).toBe(130);
      expect(err).toContain('triscope: ended: it had not stopped 1.5 s after the signal\n');
      const error = 'a signal ended the run: a call did not return';
      expect(stateOf(cwd)).toEqual({ state: 'interrupted', error });
      const { out } = await triscope(['info', join(cwd, 'a.tri'), '--json']);
      expect(JSON.parse(out).recordings[0].suspect).toEqual([
        `a signal ended its run before its end: ${error}`,
      ]);
    },
  );

  it('such a handler in a thread', async () => {
    const cwd = temporaryFolder();
    const args = ['sim', 'run', ...LOOP, '--pes=2', '--record=a', '--engine-stats=all'];
    const { how, err } = await ended(args, { cwd, when: loops });
    expect(how).toBe(130);
    // The guard says it 0.5 s later, where a busy machine let the thread that waits for PEs not run before.
    expect(err).toMatch(
      /PE \d did not stop within 1 s: a handler does not return\n|ended: it had not stopped 1\.5 s/,
    );
    expect(stateOf(cwd).state).toBe('interrupted');
  });

  it.skipIf(!HAS_MPI)(`such a handler in a rank${NEEDS_MPI}`, async () => {
    const cwd = temporaryFolder();
    const launcher = ['mpirun', '--allow-run-as-root', '--oversubscribe', '-np', '2'];
    const args = ['sim', 'run', ...LOOP, '--record=a'];
    const { how } = await ended(args, { cwd, launcher, when: loops });
    expect(how).not.toBe(0);
    const error = 'a signal ended the run: a call did not return';
    expect(stateOf(cwd)).toEqual({ state: 'interrupted', error });
  });

  it('such a handler under sim verify', async () => {
    const { how } = await ended(['sim', 'verify', ...LOOP], { when: loops });
    expect(how).toBe(130);
  });

  it('sim tune, and the run that it tries', async () => {
    let trial = 0;
    const words = ['sim', 'tune', 'phold', '--end=1e12', '--pes=2', '--trial-seconds=600'];
    const { how } = await ended(words, {
      when: ({ child }) => {
        trial = childrenOf(child.pid)[0] ?? 0;
        return trial > 0;
      },
    });
    expect(how).toBe(130);
    await until(() => isGone(trial));
  });

  it('a daemon whose main thread waits for ever', async () => {
    const cwd = temporaryFolder();
    const hang = join(cwd, 'hang.mjs');
    writeFileSync(
      hang,
      `import { writeSync } from 'node:fs';
       import { isMainThread } from 'node:worker_threads';
       const hang = () => {
         if (process.listenerCount('SIGTERM') === 0) return setTimeout(hang, 20);
         writeSync(2, 'it hangs\\n');
         Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
       };
       if (isMainThread) hang();`,
    );
    const env = { NODE_OPTIONS: `--import=${pathToFileURL(hang).href}` };
    const { how, err } = await ended(['node', 'daemon', '--type.cpu', '--dir', 'log'], {
      ...{ cwd, env },
      when: ({ said }) => said.err.includes('it hangs'),
    });
    expect(how).toBe(1);
    expect(err).toContain('ended: it had not stopped 1.5 s after the signal');
  });

  it('signal watch', async () => {
    const { how } = await ended(['signal', 'watch', '-t', '600', '-p', '0.05'], {
      input: 'TIME board 0\n',
      when: ({ said }) => said.out.split('\n').length > 3,
    });
    expect(how).toBe(130);
  });

  it('a query, and the process that answers it', async () => {
    const cwd = temporaryFolder();
    execFileSync(process.execPath, [BIN, 'sim', 'run', 'phold', '--end=1', '--record=a'], { cwd });
    const endless = 'SELECT sum(a.range * b.range) FROM range(1e9::BIGINT) a, range(1e9::BIGINT) b';
    let answering = 0;
    const { how } = await ended(['query', 'a.tri', endless, '--time-limit', '600'], {
      cwd,
      when: ({ child }) => {
        answering = childrenOf(child.pid)[0] ?? 0;
        return answering > 0;
      },
    });
    expect(how).toBe('SIGTERM');
    await until(() => isGone(answering));
  });
});

const LAUNCH = ['region', 'launch', '--geopm-report=r'];
const text = (cwd: string) => readFileSync(join(cwd, 'r'), 'utf8');
const hears = ({ said }: Running) => said.out.includes('ready');

describe.skipIf(process.platform !== 'linux').concurrent('region launch passes a signal on', () => {
  it('and kills a command that ignores it', async () => {
    const cwd = temporaryFolder();
    const command = ['sh', '-c', "trap '' TERM; echo ready; exec sleep 600"];
    const { how, err } = await ended([...LAUNCH, '--', ...command], { cwd, when: hears });
    expect(how).toBe(137);
    expect(err).toContain('triscope: SIGTERM: the command ignores it: killed\n');
    expect(text(cwd)).toContain('exit: "signal SIGKILL"');
  });

  const handling = (body: string) => [
    process.execPath,
    '-e',
    `process.on('SIGTERM', () => {${body}}); setInterval(() => {}, 1000); console.log('ready')`,
  ];

  it('gives one that handles it the time to end', async () => {
    const cwd = temporaryFolder();
    const command = handling('setTimeout(() => process.exit(3), 2000)');
    const { how } = await ended([...LAUNCH, '--', ...command], { cwd, when: hears });
    expect(how).toBe(3);
    expect(text(cwd)).toContain('exit: "code 3"');
  });

  it('but not more than --kill-after says', async () => {
    const cwd = temporaryFolder();
    const { how, err } = await ended([...LAUNCH, '--kill-after=0.5', '--', ...handling('')], {
      ...{ cwd, when: hears },
    });
    expect(how).toBe(137);
    expect(err).toContain('triscope: SIGTERM: the command has not ended within 0.5 s: killed\n');
  });
});
