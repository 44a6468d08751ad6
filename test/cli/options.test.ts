/** How the options of a simulation are read. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadModel } from 'triscope/sim';
import { describe, expect, test } from 'vitest';
import type { OptionGroup, SingleValue } from '../../src/cli/command.ts';
import { ARGS_FILE_OPTION, engineGroups, RUNS_MODEL } from '../../src/cli/run-command.ts';
import { readWords } from '../../src/cli/words.ts';
import { nearest } from '../../src/model/nearest.ts';
import { flag, int, text } from '../../src/model/option.ts';
import { temporaryFolder } from './support/run.ts';

function parseOptions(args: readonly string[], groups: readonly OptionGroup[]) {
  const { prefixes, argsFile } = RUNS_MODEL;
  const all = [...groups, { title: 'Options', options: ARGS_FILE_OPTION }];
  const parsed = readWords(args, all, { arguments: 'none', prefixes, argsFile });
  return { ...parsed, values: parsed.values as ReadonlyMap<string, SingleValue> };
}

const phold = (await loadModel('phold')).model;
const GROUPS = [
  { title: 'Model phold', options: phold.options },
  ...engineGroups(phold),
  { title: 'Output', options: { json: flag(false, ''), csv: text('', '', { bare: 'a.csv' }) } },
];

const parse = (...args: string[]) => Object.fromEntries(parseOptions(args, GROUPS).values);

describe('spelling', () => {
  test('a value follows = or a space; a switch stands alone', () => {
    expect(parse('--nkp=4', '--end', '5e2', '--stagger', '--batch', '8')).toEqual({
      nkp: 4,
      end: 500,
      stagger: true,
      batch: 8,
    });
  });

  test('switches can be negated, and take 1 and 0', () => {
    expect(parse('--no-timing', '--pin=0', '--stagger=1')).toEqual({
      timing: false,
      pin: false,
      stagger: true,
    });
  });

  test('what stands later wins', () => {
    expect(parse('--nkp=4', '--nkp=5')).toEqual({ nkp: 5 });
  });

  test('synchronisers by number and by word', () => {
    expect(parse('--synch=6')).toEqual({ synch: 'rollback-check' });
    expect(parse('--synch=conservative')).toEqual({ synch: 'conservative' });
  });

  test('sizes in bytes, K, M and G', () => {
    expect(parse('--max-memory=65536')).toEqual({ 'max-memory': 65536 });
    expect(parse('--max-memory=64K')).toEqual({ 'max-memory': 65536 });
    expect(parse('--max-memory=1.5g')).toEqual({ 'max-memory': 1.5 * 2 ** 30 });
  });

  test('an option whose value may be left out takes none from the next word', () => {
    expect(() => parse('--csv', 'b.csv')).toThrow('unexpected argument b.csv');
    expect(parse('--csv')).toEqual({ csv: 'a.csv' });
    expect(parse('--csv=b.csv')).toEqual({ csv: 'b.csv' });
  });

  test('ROSS’s memory and network knobs are noted once', () => {
    const { values, notes } = parseOptions(
      ['--extramem=1', '--extramem=2', '--avl-size', '3'],
      GROUPS,
    );
    expect(values.size).toBe(0);
    expect(notes).toEqual([
      '--extramem has no effect here: event memory grows on demand, up to --max-memory',
      '--avl-size has no effect here: remote events are looked up in a table that grows',
    ]);
  });
});

describe('beginnings of ROSS’s names', () => {
  test.each([
    ['--sync=3', { synch: 'optimistic' }],
    ['--en=50', { end: 50 }],
    ['--start=4', { 'start-events': 4 }],
    ['--gvt=32', { 'gvt-interval': 32 }],
    // PHOLD's options come first, as a model's do in ROSS: mean before mult and memory, nlp before nkp.
    ['--m=2', { mean: 2 }],
    ['--n=3', { nlp: 3 }],
    ['--me=2', { mean: 2 }],
    ['--max=2', { 'max-opt-lookahead': 2 }],
  ])('%s', (arg, values) => {
    expect(parse(arg)).toEqual(values);
  });

  test('an exact name wins', () => {
    const groups = [{ title: 'Model', options: { en: int(0, '') } }, ...engineGroups(null)];
    expect([...parseOptions(['--en=5'], groups).values]).toEqual([['en', 5]]);
  });

  test('names that are ours need all their letters', () => {
    expect(() => parse('--pe=2')).toThrow('unknown option --pe; did you mean --pes?');
    expect(() => parse('--total=2')).toThrow('did you mean --total-lps?');
  });

  test('without = a name needs all its letters, as in ROSS', () => {
    expect(() => parse('--sync', '3')).toThrow('unknown option --sync; did you mean --synch?');
  });
});

describe('--args-file', () => {
  const folder = temporaryFolder();
  const file = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };

  test('has many options a line, and comments; it counts where it stands', () => {
    const path = file('a', '# a run\n--end=10 --nkp 3 # three\n\n--sync=3\n');
    expect(parse('--end=5', `--args-file=${path}`, '--nkp=9')).toEqual({
      end: 10,
      nkp: 9,
      synch: 'optimistic',
    });
  });

  test('errors name file and line', () => {
    const path = file('b', '--end=10\n\n--nkp=0\n');
    expect(() => parse('--args-file', path)).toThrow(`${path}:3: --nkp=0: must be an integer`);
  });

  test('files that name each other end', () => {
    const path = file('c', '');
    writeFileSync(path, `--args-file=${path}`);
    expect(() => parse('--args-file', path)).toThrow('files name each other');
  });
});

test('the nearest name is found where there is one', () => {
  const names = ['lookahead', 'max-opt-lookahead', 'batch', 'end'];
  expect(nearest('lookahed', names)).toBe('lookahead');
  expect(nearest('bacth', names)).toBe('batch');
  expect(nearest('edn', names)).toBe('end');
  expect(nearest('granularity', names)).toBeNull();
});
