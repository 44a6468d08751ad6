/**
 * What scripts rely on: the names of commands and options, letters, defaults and choices of options, exit codes of wrong
 * calls, the shapes of `--json`. They are compared with those frozen in support/surface.json, which begins with version
 * 0.1.0. TRISCOPE_FREEZE=1 writes that file anew, and
 * `npm run format` puts it into lines.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { groupsOf } from '../../src/cli/command.ts';
import { COMMANDS as ENTRIES } from '../../src/cli/commands/index.ts';
import { findCommand } from '../../src/cli/entries.ts';
import { rawFile, whole } from '../findings/job/support/archive.ts';
import { temporaryFolder, triscopeHere } from './support/run.ts';

/** An option's letter, what it is where it is not given, and the words that it takes. */
interface Meaning {
  readonly short?: string;
  readonly default?: number | boolean | string;
  readonly choices?: readonly (number | boolean | string)[];
}

interface Surface {
  /** Long options of each command, without `help`. */
  readonly options: Readonly<Record<string, readonly string[]>>;
  /** What options mean, of each command. */
  readonly meanings: Readonly<Record<string, Readonly<Record<string, Meaning>>>>;
  /** Exit codes of wrong calls. */
  readonly codes: Readonly<Record<string, number>>;
  /** Keys and kinds of what `--json` prints. */
  readonly shapes: Readonly<Record<string, unknown>>;
}

const FROZEN = fileURLToPath(new URL('support/surface.json', import.meta.url));
const freezes = process.env.TRISCOPE_FREEZE === '1';
const frozen: Surface = freezes
  ? { options: {}, meanings: {}, codes: {}, shapes: {} }
  : JSON.parse(readFileSync(FROZEN, 'utf8'));

const folder = temporaryFolder();
const archive = join(folder, 'archive');
const BEGIN = 1_772_366_400;
const run = join(folder, 'run.tri');

/** Words that come before an option, where a command needs some. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  'sim run': ['phold'],
  'sim verify': ['phold'],
  'sim tune': ['phold'],
  'sim sweep': ['phold'],
};

const COMMANDS = [
  'demo',
  'record',
  ...['run', 'verify', 'tune', 'sweep', 'new', 'models'].map((name) => `sim ${name}`),
  ...['launch', 'attach', 'restore', 'build-shims', 'flags'].map((name) => `region ${name}`),
  ...['collect', 'begin', 'end', 'mark', 'rotate', 'daemon', 'archive', 'types', 'job', 'jobs'].map(
    (name) => `node ${name}`,
  ),
  ...['list', 'read', 'watch', 'write'].map((name) => `signal ${name}`),
  ...['query', 'export', 'report', 'serve', 'info', 'read', 'diff'],
];

/** Calls that cannot be, beside an unknown option. */
const WRONG = [
  '',
  'sim',
  'inof x',
  'sim run',
  'sim run phld',
  'sim run phold --synch=9',
  'sim run phold --pes=0',
  'sim run phold --rng-seed1=5',
  'sim run --end=5 phold',
  'sim verify phold --chaos-runs=3',
  'sim tune phold --knobs=btch',
  'sim sweep phold --vary remote=a',
  'sim sweep phold --pes=2',
  'sim new Shop',
  'sim models phold',
  'demo twice',
  'region launch',
  'record',
  'record -o --',
  'record --every=0 -- true',
  'region launch --geopm-period=0 -- true',
  'region launch --root /nowhere -- true',
  'region build-shims mpj',
  'node collect cpuu --print',
  'node mark',
  'node mark a b',
  'node begin a,b --print',
  'node rotate --json',
  'node rotate x',
  'node collect --raw-version 3 --print',
  'node collect --root /nowhere --print',
  'node daemon x',
  'node daemon --freq 0',
  'node archive',
  'node archive --archive X --age -1',
  'node types cpuu',
  'node job',
  'node job 1',
  'node jobs --archive /nowhere',
  'node jobs x --archive ARCHIVE',
  'node jobs --archive ARCHIVE --flag x',
  'node jobs --archive ARCHIVE --from never',
  'signal list x',
  'signal read TIME',
  'signal read TIME board x',
  'signal read TIMM board 0',
  'signal read TIME bord 0',
  'signal watch x',
  'signal watch --period 5',
  'signal watch --report-format xml',
  'signal write A board 0 1',
  'signal write A board 0',
  'query',
  'query /nowhere',
  'query ARCHIVE --json --csv',
  'query ARCHIVE --limit 0',
  'query ARCHIVE --memory lots',
  'export ARCHIVE',
  'export ARCHIVE --to xml -o x',
  'export ARCHIVE --to csv',
  'export ARCHIVE --to csv -o x --no-flows',
  'report',
  'report /nowhere',
  'serve',
  'serve ARCHIVE --port 70000',
  'info',
  'info /nowhere',
  'info /dev/null',
  'info ARCHIVE --json=3',
  'read',
  'read ARCHIVE --format xml',
  'read ARCHIVE --lp 5-2',
  'read /nowhere',
  'diff ARCHIVE',
  'diff ARCHIVE /nowhere',
  'diff ARCHIVE ARCHIVE --least=x',
];

const JSON_CALLS: Readonly<Record<string, readonly string[]>> = {
  'sim run': ['phold', '--end=20', '--record', join(folder, 'run')],
  'sim verify': ['phold', '--end=5', '--total-lps=8'],
  'sim models': [],
  'node collect': ['cpu'],
  'node types': ['cpu'],
  'node job': ['7', '--archive', archive],
  'node jobs': ['--archive', archive],
  'region restore': [],
  'signal list': [],
  'signal read': ['TIME', 'board', '0'],
  query: [archive, 'SELECT count(*) AS n FROM node_cpu'],
  export: [archive, '--to', 'csv', '--table', 'node_cpu', '-o', join(folder, 'cpu.csv')],
  report: [run],
  info: [run],
  read: [join(archive, 'a', String(BEGIN))],
  diff: [run, run],
};

/** Keys and kinds; of a list its first; of values that differ from machine to machine nothing. */
function shapeOf(value: unknown, depth = 0): unknown {
  if (value === null) return null;
  if (Array.isArray(value)) return value.length > 0 ? [shapeOf(value[0], depth + 1)] : [];
  if (typeof value !== 'object') return typeof value;
  if (depth > 2) return 'object';
  return Object.fromEntries(
    Object.entries(value).map(([key, of]) => [key, shapeOf(of, depth + 1)]),
  );
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return JSON.parse(text.split('\n')[0]);
  }
};

const words = (line: string) => line.replaceAll('ARCHIVE', archive).split(' ').filter(Boolean);

beforeAll(() => {
  mkdirSync(join(archive, 'a'), { recursive: true });
  writeFileSync(join(archive, 'a', String(BEGIN)), rawFile({ host: 'a', groups: whole(BEGIN, 5) }));
  process.env.XDG_STATE_HOME = folder;
});

/** Whether a command knows an option: what it complains of is not that. */
async function knows(command: string, name: string): Promise<boolean> {
  const args = [...command.split(' '), ...(BEFORE[command] ?? []), `--${name}=1`, '--zz-unknown'];
  const { code, err } = await triscopeHere(args);
  if (code !== 2) throw new Error(`${args.join(' ')}: ended with ${code}: ${err}`);
  return !new RegExp(`(unknown option|Unknown option|unexpected) '?--${name}[=';\\s]?`).test(
    `${err.replace('--zz-unknown', '')} `,
  );
}

/** Declared, with the options of a model where a command takes one. */
async function meaningsOf(name: string): Promise<Record<string, Meaning>> {
  const command = await findCommand(ENTRIES, name.split(' '))?.entry.load();
  if (command === undefined) throw new Error(`no command ${name}`);
  const extension = await command.extend?.('phold', []);
  const options = groupsOf(command, extension?.groups).flatMap((g) => Object.entries(g.options));
  extension?.dispose();
  return Object.fromEntries(
    options.map(([option, { short, choices, words, ...spec }]) => {
      const told = spec.fallback ?? spec.default;
      return [
        option,
        {
          ...(short !== undefined && { short }),
          ...(told !== '' && told !== false && { default: told }),
          ...((choices ?? words) && { choices: choices ?? Object.entries(words ?? {}).flat() }),
        },
      ];
    }),
  );
}

/** Every name that the sources may mean as an option. */
function candidates(): string[] {
  const files = ['src/cli', 'src/cli/commands', 'src/sim', 'src/sim/instrument', 'src/sim/models'];
  const names = new Set<string>();
  for (const at of files) {
    for (const file of readdirSync(at).filter((one) => one.endsWith('.ts'))) {
      const text = readFileSync(join(at, file), 'utf8');
      for (const [, name] of text.matchAll(/(?:^|[\s{'])([a-z][\w-]*)'?: /g)) names.add(name);
      for (const [, name] of text.matchAll(/--([a-z][\w-]+)/g)) names.add(name);
      for (const [, name] of text.matchAll(/name: '([a-z][\w-]*)'/g)) names.add(name);
    }
  }
  names.delete('help');
  return [...names].sort();
}

/** Where there was nothing when it was frozen, such as a finding on a quiet machine, there may be something. */
function anyList(shape: unknown): unknown {
  if (Array.isArray(shape)) return shape.length === 0 ? expect.any(Array) : shape.map(anyList);
  if (typeof shape !== 'object' || shape === null) return shape;
  return Object.fromEntries(Object.entries(shape).map(([key, of]) => [key, anyList(of)]));
}

describe('what scripts rely on', () => {
  it('is written anew', { timeout: 120_000 }, async () => {
    if (!freezes) return;
    const options: Record<string, string[]> = {};
    for (const command of COMMANDS) {
      options[command] = [];
      for (const name of candidates()) {
        if (await knows(command, name)) options[command].push(name);
      }
    }
    const meanings: Record<string, Record<string, Meaning>> = {};
    for (const command of COMMANDS) meanings[command] = await meaningsOf(command);
    const codes: Record<string, number> = {};
    for (const line of WRONG) codes[line] = (await triscopeHere(words(line))).code ?? -1;
    const shapes: Record<string, unknown> = {};
    for (const [command, args] of Object.entries(JSON_CALLS)) {
      const { out } = await triscopeHere([...command.split(' '), ...args, '--json']);
      shapes[command] = shapeOf(parsed(out));
    }
    writeFileSync(FROZEN, JSON.stringify({ options, meanings, codes, shapes }));
  });

  it.each(Object.keys(frozen.options))('options of %s', async (command) => {
    const lost: string[] = [];
    for (const name of frozen.options[command]) {
      if (!(await knows(command, name))) lost.push(name);
    }
    expect(lost).toEqual([]);
  });

  it.each(Object.keys(frozen.meanings))('letters, defaults and words of %s', async (command) => {
    const now = await meaningsOf(command);
    for (const [option, { choices = [], ...rest }] of Object.entries(frozen.meanings[command])) {
      // Another word may be taken; none that was may be gone.
      expect([option, now[option]]).toMatchObject([option, rest]);
      expect(now[option].choices ?? [], option).toEqual(expect.arrayContaining([...choices]));
    }
  });

  it.each(Object.entries(frozen.codes))('the exit code of “%s”', async (line, code) => {
    expect((await triscopeHere(words(line))).code).toBe(code);
  });

  it.each(Object.keys(JSON_CALLS))('what %s --json prints', async (command) => {
    if (freezes) return;
    const { out } = await triscopeHere([...command.split(' '), ...JSON_CALLS[command], '--json']);
    // More may be there; nothing that was may be gone.
    expect(shapeOf(parsed(out))).toMatchObject(anyList(frozen.shapes[command]) as object);
  });
});
