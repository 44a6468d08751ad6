/** What a user can do wrong: one line that says what is allowed, and the exit code. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { callCommand } from '../../src/cli/call.ts';
import { simRun } from '../../src/cli/commands/sim-run.ts';
import { exitCodeFor, lineFor } from '../../src/cli/errors.ts';
import { fixture, type Outcome, temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const folder = temporaryFolder();
const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
const MISBEHAVE = fixture('misbehave.ts');

type Case = readonly [args: string, code: number, message: string | RegExp];

const does = (what: string, args: string, message: string | RegExp): Case => [
  `sim run ${MISBEHAVE} --what=${what} ${args}`,
  1,
  message,
];

mkdirSync(join(folder, 'taken.tri'));
/** Nobody writes to it: whoever opens it as a file waits for ever. */
const pipe = join(folder, 'pipe');
execFileSync('mkfifo', [pipe]);
const loop = join(folder, 'loop');
symlinkSync(loop, loop);
/** Recordings whose recording.json is none. */
for (const [name, target] of [
  ['piped', pipe],
  ['looped', loop],
  ['folded', folder],
] as const) {
  mkdirSync(join(folder, `${name}.tri`));
  symlinkSync(target, join(folder, `${name}.tri`, 'recording.json'));
}

const CASES: readonly Case[] = [
  // commands
  ['simm', 2, 'unknown command simm; did you mean sim?'],
  ['sim rnu', 2, 'unknown command rnu; did you mean run?'],
  ['--colour', 2, 'unknown option --colour'],
  ['demo twice', 2, 'unexpected twice; demo takes only options'],
  ['sim models phold', 2, 'unexpected phold; sim models takes only options'],
  ['sim run', 2, 'which model? usage: triscope sim run MODEL [options]'],
  ['sim run --end=5 phold', 2, 'the model comes first, then options such as --end=5'],
  ['serve --prt=3', 2, 'unknown option --prt; did you mean --port?'],
  ['query x --limit -4', 2, '--limit=-4: must be an integer of at least 1'],
  ['info x --json=3', 2, '--json=3: must be 1 or 0'],
  ['read x --lp=5-2', 2, '--lp=5-2: 5-2 contains no number'],
  ['diff x y', 3, 'x: there is no such file or folder'],
  [`info ${pipe}`, 3, 'pipe: it is a pipe, not a file'],
  [`node jobs --archive ${folder} --accounting ${pipe}`, 3, 'it is a pipe, not a file'],
  [`node jobs --archive ${folder} --accounting /dev/zero`, 3, 'it is a device, not a file'],
  [`query ${pipe} SELECT`, 3, 'it is a pipe, not a file'],
  [`query ${loop} SELECT`, 3, 'loop: a loop of symbolic links'],
  [`query ${folder}/piped.tri SELECT`, 3, 'piped.tri/recording.json: it is a pipe, not a file'],
  [`query ${folder}/looped.tri SELECT`, 3, 'looped.tri/recording.json: a loop of symbolic links'],
  [`query ${folder}/folded.tri SELECT`, 3, 'folded.tri/recording.json: it is a folder, not a file'],
  [`serve ${folder}/piped.tri --port=0`, 3, 'recording.json: it is a pipe, not a file'],
  [`read x --layout=${pipe}`, 3, 'pipe: it is a pipe, not a file'],
  [`node job 1 --archive ${folder} --hosts @${pipe}`, 2, 'it is a pipe, not a file'],
  ['read /dev/zero', 3, '/dev/zero: it is a device, not a file'],
  ['info /dev/null', 3, '/dev/null: it is a device, not a file'],
  ['query /dev/null SELECT', 3, '/dev/null: cannot be read: it is a device, not a file'],
  // options
  ['sim run phold --lookahed=1', 2, 'unknown option --lookahed; did you mean --lookahead?'],
  ['sim run phold --mean=0.5', 1, '--mean=0.5 is less than --lookahead=1'],
  // models
  ['sim run phld', 2, /^triscope: there is no model 'phld': .*; did you mean phold\?$/],
  [`sim run ${folder}/none.ts`, 2, "none.ts': it is neither a file nor one of phold"],
  [`sim run ${file('a.txt', '')}`, 1, 'a.txt: a model is a .js'],
  [`sim run ${file('syntax.mjs', 'export default {')}`, 1, 'syntax.mjs:1:17: '],
  [
    `sim run ${file('none.mjs', 'export const x = 1;')}`,
    1,
    'none.mjs: contains no model; use export default',
  ],
  [`sim run ${file('bad.mjs', 'throw new Error("at once");')}`, 1, 'bad.mjs: at once'],
  [`sim run ${file('gone.mjs', 'export { default } from "./x.mjs";')}`, 1, 'Could not resolve'],
  does('throw', '', 'LP 2 (misbehave) at virtual time 6, message {"hops":7}: two lines'),
  does('throw', '--pes=2', 'LP 2 (misbehave) at virtual time 6, message {"hops":7}: two lines'),
  does('exit', '', 'process.exit(): ends all that runs here, without results'),
  does('exit', '--pes=2', 'process.exit(): ends all that runs here, without results'),
  does('negative', '', 'send(0, -1): a negative delay would send an event into the past'),
  does('nobody', '--synch=3', 'send(99, 1): no such LP; ids are 0…3'),
  does('lookahead', '--synch=2 --pes=2', 'send(0, 0.5): lookahead violation'),
  does('lookahead', '--synch=3 --pes=2', 'send(0, 0.5): lookahead violation'),
  does('overflow', '', 'misbehave.seen: 300 does not fit in u8'),
  does('overflow', '--pes=2', 'misbehave.seen: 300 does not fit in u8'),
  // files
  [`sim run phold --end=5 --record=${folder}/taken`, 1, 'taken.tri exists already; remove it or'],
  [`sim run phold --end=5 --record=${folder}/a.txt/b`, 1, '--record: cannot make'],
  [`sim run phold --end=5 --ross-csv=${folder}`, 1, '--ross-csv: '],
  [
    `sim run phold --end=5 --ross-csv=${file('other.csv', 'a,b\n1,2\n')}`,
    1,
    'other.csv has other columns; move it away',
  ],
];

/** Refused before anything runs, so no process is needed to see it. */
const OPTIONS: readonly (readonly [args: string, message: string])[] = [
  ['--lookahed=1', 'unknown option --lookahed; did you mean --lookahead?'],
  ['--granularity-of-it=1', 'unknown option --granularity-of-it'],
  ['-end=5', 'unknown option -end=5; did you mean --end?'],
  ['extra', 'unexpected argument extra'],
  ['--batch', '--batch needs a value: it must be an integer of at least 1'],
  ['--pes=0', '--pes=0: must be an integer from 1 to 1024'],
  ['--pes=1.5', '--pes=1.5: must be an integer from 1 to 1024'],
  ['--lookahead=-1', '--lookahead=-1: must be a finite number of at least 0'],
  ['--lookahead -1', '--lookahead=-1: must be a finite number of at least 0'],
  ['--end=NaN', '--end=NaN: must be a finite number of at least 0'],
  ['--end=-1', '--end=-1: must be a finite number of at least 0'],
  ['--end=0x10', '--end=0x10: must be a finite number of at least 0'],
  ['--nkp=1e400', '--nkp=1e400: must be an integer from 1 to 1048576'],
  ['--remote=1.5', '--remote=1.5: must be a finite number from 0 to 1'],
  ['--stagger=2', '--stagger=2: must be 1 or 0'],
  ['--synch=7', '--synch=7: must be one of 1 sequential, 2 conservative, 3 optimistic'],
  ['--synch=1 --pes=2', '--pes=2: --synch=sequential runs on one PE; leave --pes out'],
  ['--synch=2 --lookahead=0', '--lookahead=0: must be greater than 0'],
  ['--max-opt-lookahead=0', '--max-opt-lookahead=0: must be a finite number greater than 0'],
  ['--max-memory=3Q', '--max-memory=3Q: must be a number of bytes, or of K, M, G or T'],
  ['--rng-seed1=2147483647', '--rng-seed1=2147483647: must be an integer from 1 to 2147483646'],
  [
    '--rng-seed1=5',
    '--rng-seed1 given alone: ROSS takes all four seeds or none; add --rng-seed2, --rng-seed3, --rng-seed4',
  ],
  ['--extramem=lots', '--extramem=lots: must be an integer'],
  ['--cons-lookahead=x', '--cons-lookahead=x: must be a finite number'],
  ['--run', '--run needs a value: --run='],
  ['--helpme=1', 'unknown option --helpme; did you mean --help?'],
  [
    `--args-file=${file('ends.args', '--end=5\n-- --nkp=3\n')}`,
    `${folder}/ends.args:2: -- has no place in a file of options; leave it out`,
  ],
  [`--args-file=${folder}/nowhere`, `--args-file=${folder}/nowhere: cannot be read`],
  [
    `--args-file=${file('bad.args', '--end=5\n--bach=3\n')}`,
    `${folder}/bad.args:2: unknown option --bach`,
  ],
];

describe('an option of sim run phold', () => {
  test.each(OPTIONS)('%s', async (args, message) => {
    const call = callCommand('sim run', simRun, ['phold', ...args.split(' ')]);
    const error: unknown = await call.catch((e: unknown) => e);
    expect(lineFor(error)).toContain(`triscope: ${message}`);
    expect(exitCodeFor(error)).toBe(2);
  });
});

describe('bad input', () => {
  const outcomes: Pick<Outcome, 'code' | 'err'>[] = [];

  beforeAll(async () => {
    for (const [args] of CASES) {
      // A model that ends the process needs one of its own.
      outcomes.push(await triscopeHere(args.split(' ').filter(Boolean)));
    }
  });

  test.each(CASES.map((c, k) => [c[0].replaceAll(folder, '…'), k] as const))('%s', (_name, k) => {
    const [, code, message] = CASES[k];
    const { err, code: actual } = outcomes[k];
    const lines = err.trimEnd().split('\n');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^triscope: /);
    if (typeof message === 'string') expect(lines[0]).toContain(message);
    else expect(lines[0]).toMatch(message);
    expect(actual).toBe(code);
  });
});

test('a worker that would exit ends the run within 2 seconds', async () => {
  const whole = await triscope(['sim', 'run', MISBEHAVE, '--pes=2']);
  expect(whole.code).toBe(0);
  const late: number[] = [];
  // Once is enough: a busy machine may keep a process waiting.
  while (late.length < 5 && !(Math.min(...late) < 2000)) {
    const cut = await triscope(['sim', 'run', MISBEHAVE, '--pes=2', '--what=exit']);
    expect(cut.code).toBe(1);
    late.push(cut.milliseconds - whole.milliseconds);
  }
  expect(Math.min(...late)).toBeLessThan(2000);
});

test('a group without a command prints its help, with code 2', async () => {
  const { code, out, err } = await triscope(['sim']);
  expect(code).toBe(2);
  expect(out).toBe('');
  expect(err).toMatch(/^ {2}sim verify /m);
});

test('TRISCOPE_DEBUG=1 adds the stack', async () => {
  const args = ['sim', 'run', MISBEHAVE, '--what=throw'];
  const { err } = await triscope(args, { env: { TRISCOPE_DEBUG: '1' } });
  expect(err).toMatch(/^ {4}at /m);
});
