/** What follows from the declarations of commands: help that fits and is true, answers to misspellings, documents. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Command, command, groupsOf, type OptionGroup } from '../../src/cli/command.ts';
import { pagesOf } from '../../src/cli/commands/help.ts';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { manName, manPages, withReference } from '../../src/cli/docs.ts';
import { GROUPS } from '../../src/cli/entries.ts';
import { type HelpPage, helpPage, optionHead, optionText, pageText } from '../../src/cli/help.ts';
import { readWords } from '../../src/cli/words.ts';
import { flag, int, type Named, type OptionSpec } from '../../src/model/option.ts';
import { temporaryFolder, triscopeHere } from './support/run.ts';

interface Loaded {
  readonly name: string;
  readonly command: Command;
  readonly groups: readonly OptionGroup[];
  readonly page: HelpPage;
}

const all: Loaded[] = [];
const NAMES = COMMANDS.map(({ name }) => name);
const loaded = (name: string) => all.find((one) => one.name === name) as Loaded;

beforeAll(async () => {
  for (const { name, load } of COMMANDS) {
    const of = await load();
    const extension = (await of.extend?.('phold', [])) ?? null;
    const page = helpPage(name, of, extension);
    all.push({ name, command: of, groups: groupsOf(of, extension?.groups), page });
  }
});

/** The words of a text, whatever its lines are. */
const wordsIn = (text: string) => text.replaceAll(' \\\n', ' ').split(/\s+/).join(' ');

describe('help', () => {
  it.each([60, 80, 200])('fits %i columns, and breaks no word', (width) => {
    for (const { name, page } of all) {
      const text = pageText(page, width);
      const longest = Math.max(...text.split('\n').map((line) => line.length));
      expect([name, longest <= width]).toEqual([name, true]);
      expect(wordsIn(text)).toBe(wordsIn(pageText(page, 10_000)));
    }
  });

  it.each([60, 80, 200])('is what it was before, in %i columns', async (width) => {
    const file = new URL(`support/help/${width}.txt`, import.meta.url);
    const now = (await pagesOf(COMMANDS)).map((page) => pageText(page, width)).join('\n');
    expect(now, 'on purpose? npm run docs:commands').toBe(readFileSync(file, 'utf8'));
  });

  it.each(['60', '80', '200'])(
    'of all and of groups fits %s columns, as printed',
    async (width) => {
      const before = process.env.COLUMNS;
      process.env.COLUMNS = width;
      try {
        for (const args of [[], ['sim'], ['sim', 'run'], ['node', 'daemon']]) {
          const { code, out } = await triscopeHere([...args, '--help']);
          expect(code).toBe(0);
          const longest = Math.max(...out.split('\n').map((line) => line.length));
          expect([args, longest <= Number(width)]).toEqual([args, true]);
        }
      } finally {
        if (before === undefined) delete process.env.COLUMNS;
        else process.env.COLUMNS = before;
      }
    },
  );

  it('is the same by help COMMAND', async () => {
    for (const name of ['info', 'sim run', 'region launch']) {
      const words = name.split(' ');
      const [a, b] = [await triscopeHere(['help', ...words]), await triscopeHere([...words, '-h'])];
      expect(a).toEqual(b);
    }
    const wrong = await triscopeHere(['help', 'sim', 'rn']);
    expect([wrong.code, wrong.err]).toEqual([
      2,
      'triscope: unknown command sim rn; did you mean sim run?\n',
    ]);
  });
});

/** A value that an option takes, as one would write it. */
function sample(spec: OptionSpec): string {
  if (spec.choices !== undefined) return String(spec.choices[0]);
  if (spec.words !== undefined) return Object.keys(spec.words)[0];
  if (spec.kind === 'string') return 'a';
  return spec.kind === 'bool' ? '1' : String(Math.max(spec.min ?? 1, Math.min(1, spec.max ?? 1)));
}

const spelled = (name: string, spec: OptionSpec, value: string) =>
  spec.dotted ? `--${name}.${value}` : `--${name}=${value}`;

describe.each(NAMES)('what help says of %s is true:', (name) => {
  const read = (...args: string[]) =>
    readWords(args, loaded(name).groups, {
      arguments: loaded(name).command.wraps ? 'wrapped' : 'any',
    });
  const options = () => loaded(name).groups.flatMap((group) => Object.entries(group.options));

  it('every option is taken, by its long name and its letter, and means itself', () => {
    for (const [option, spec] of options()) {
      if (spec.noEffect !== undefined) continue;
      const { values } = read(spelled(option, spec, sample(spec)));
      expect([...values.keys()]).toEqual([spec.as ?? option]);
      if (spec.short === undefined) continue;
      const words = spec.kind === 'bool' ? [`-${spec.short}`] : [`-${spec.short}`, sample(spec)];
      expect([...read(...words).values]).toEqual([...values]);
    }
  });

  it('what it says of values is what is taken', () => {
    for (const [option, spec] of options()) {
      if (spec.noEffect !== undefined) continue;
      const refused = (value: string) => expect(() => read(spelled(option, spec, value)), option);
      if (spec.choices !== undefined || spec.words !== undefined) {
        for (const word of [...(spec.choices ?? []), ...Object.keys(spec.words ?? {})]) {
          expect(optionText(spec)).toContain(String(word));
          expect(read(`--${option}=${word}`).values.get(spec.as ?? option)).toBe(word);
        }
        refused('no-such-word').toThrow(/must be one of/);
      } else if (spec.kind === 'bool') refused('maybe').toThrow('must be 1 or 0');
      else if (spec.kind !== 'string') {
        refused('many').toThrow(/must be/);
        const below = String(Number(spec.min) - 1);
        // ROSS says “not given” by a number.
        if (spec.min !== undefined && spec.min !== Number.MIN_VALUE && below !== spec.none) {
          refused(below).toThrow(/must be/);
        }
        if (spec.max !== undefined) refused(String(spec.max * 2)).toThrow(/must be/);
      }
    }
  });

  it('its defaults may be given', () => {
    for (const [option, { default: value, fallback, kind, noEffect, ...spec }] of options()) {
      if (fallback !== undefined || value === '' || noEffect !== undefined) continue;
      expect(() => read(`--${option}=${Number(value === true) || value}`), option).not.toThrow();
      if (kind !== 'bool') {
        expect(optionText({ ...spec, kind, default: value })).toContain(`(default: ${value})`);
      }
    }
  });

  it('its examples are of it', () => {
    for (const example of loaded(name).command.examples) {
      const words = example.split(' ');
      expect(words.slice(0, name.split(' ').length).join(' ')).toBe(name);
      // Letters in a call of a command that wraps others are of those: srun -n 4.
      const isOption = loaded(name).command.wraps ? /^--[a-z]/ : /^--?[a-z]/;
      for (const word of words.filter((one) => isOption.test(one))) {
        const known = options().some(
          ([option, { short }]) =>
            word.replace(/^--/, '').split('=')[0] === option || word === `-${short}`,
        );
        expect([example, word, known]).toEqual([example, word, true]);
      }
    }
  });

  it('shows all options but those of others', () => {
    const heads = loaded(name).page.sections.flatMap(({ items }) => items.map(({ head }) => head));
    for (const [option, spec] of options()) {
      expect([option, heads.includes(optionHead(option, spec))]).toEqual([option, !spec.hidden]);
    }
  });
});

/** Two letters swapped, or one left out. */
const typosOf = (word: string): string[] => {
  const at = Math.floor(word.length / 2);
  const swapped = word.slice(0, at - 1) + word[at] + word[at - 1] + word.slice(at + 1);
  const short = word.slice(0, at) + word.slice(at + 1);
  return [swapped, short].filter((typo) => typo !== word && typo.length > 1);
};

/** Whether `typo` is as near to `name` as to the word that it was made from: a letter more, less, another, or two swapped. */
function isNear(typo: string, name: string): boolean {
  if (name.startsWith(typo)) return true;
  let [start, end] = [0, 0];
  while (start < typo.length && typo[start] === name[start]) start++;
  const most = Math.min(typo.length, name.length) - start;
  while (end < most && typo.at(-1 - end) === name.at(-1 - end)) end++;
  const [a, b] = [typo, name].map((one) => one.slice(start, one.length - end));
  return (a.length < 2 && b.length < 2) || (a.length === 2 && a === [...b].reverse().join(''));
}

/** Called so, it says one line, which names one of `meant`, and ends with 2; with 3 where a file is not there. */
async function expectMended(
  args: readonly string[],
  meant: readonly string[],
  ends = 2,
): Promise<void> {
  const { code, out, err } = await triscopeHere(args);
  expect([args, code, out]).toEqual([args, ends, '']);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
  const told = /; did you mean (.*)\?\n$/.exec(err)?.[1] ?? err;
  expect([args, meant.includes(told) ? 'mended' : told]).toEqual([args, 'mended']);
}

describe('a misspelling gets one line, the nearest name, and code 2:', () => {
  it.each(NAMES)('the name of %s', async (name) => {
    const words = name.split(' ');
    for (const [k, word] of words.entries()) {
      for (const typo of typosOf(word)) {
        const siblings = NAMES.map((one) => one.split(' ')[k] ?? '');
        await expectMended(
          [...words.slice(0, k), typo],
          [word, ...siblings.filter((one) => isNear(typo, one))],
        );
      }
    }
  });

  it.each(NAMES)('options of %s', async (name) => {
    const { command, groups } = loaded(name);
    const before = [...name.split(' '), ...(command.extend === undefined ? [] : ['phold'])];
    const options = groups.flatMap((group) => Object.entries(group.options));
    const known = new Set(options.map(([option]) => option));
    for (const [option, spec] of options) {
      if (spec.hidden) continue;
      for (const typo of typosOf(option)) {
        if (known.has(typo) || command.prefixes?.some((one) => one.startsWith(typo))) continue;
        const near = [...known].filter((one) => isNear(typo, one));
        await expectMended(
          [...before, `--${typo}`],
          [option, ...near].map((one) => `--${one}`),
        );
      }
    }
  });

  it.each(NAMES)('values of %s', async (name) => {
    const { command, groups } = loaded(name);
    const before = [...name.split(' '), ...(command.extend === undefined ? [] : ['phold'])];
    for (const { options } of groups) {
      for (const [option, spec] of Object.entries(options)) {
        const known = spec.choices?.map(String) ?? Object.keys(spec.words ?? {});
        for (const word of known.filter((one) => one.length > 3 && /^[a-z-]+$/.test(one))) {
          for (const typo of typosOf(word)) {
            if (!known.includes(typo))
              await expectMended([...before, `--${option}=${typo}`], known);
          }
        }
      }
    }
  });

  it.each(NAMES)('files that %s reads', async (name) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'recording.tri'));
    writeFileSync(join(folder, 'recording.tri', 'geopm.report'), '');
    const [wrong, right] = ['recordng.tri', 'recording.tri'].map((one) => join(folder, one));
    const { command, groups } = loaded(name);
    const args = command.arguments ?? [];
    const options = groups.flatMap((group) => Object.entries(group.options));
    const required = options.filter(([, spec]) => spec.required);
    const call = (path: string, more: readonly string[]) => [
      ...name.split(' '),
      ...(command.wraps ? [] : args.map(({ names }) => (names === 'path' ? path : 'phold'))),
      ...required.map(([option, spec]) => `--${option}=${sample(spec)}`),
      ...more,
      ...(command.wraps ? ['--', 'true'] : []),
    ];
    if (args.some(({ names }) => names === 'path')) {
      await expectMended(call(wrong, []), [right], 3);
      await expectMended(call(`${right}/geopm.reprot`, []), [`${right}/geopm.report`], 3);
    }
    for (const [option] of options.filter(([, spec]) => spec.names === 'input' && !spec.hidden)) {
      await expectMended(call(right, [`--${option}=${wrong}`]), [right], 3);
    }
  });

  const NAMED: Readonly<Partial<Record<Named, readonly [typo: string, meant: string]>>> = {
    model: ['phlod', 'phold'],
    type: ['cup', 'cpu'],
    signal: ['TIEM', 'TIME'],
    domain: ['baord', 'board'],
    shim: ['opnmp', 'openmp'],
    command: ['demmo', 'demo'],
  };

  it.each(NAMES)('what an argument of %s names', async (name) => {
    const args = loaded(name).command.arguments ?? [];
    for (const [k, { names }] of args.entries()) {
      const [typo, meant] = NAMED[names ?? 'path'] ?? [];
      if (typo === undefined || meant === undefined || loaded(name).command.wraps) continue;
      const words = args.map(({ names }) => NAMED[names ?? 'path']?.[1] ?? '0');
      const options = name === 'signal write' ? ['--allow-control', '--synthetic'] : [];
      await expectMended([...name.split(' '), ...words.with(k, typo), ...options], [meant]);
    }
    if (name === 'completion') await expectMended([name, 'bahs'], ['bash']);
  });
});

describe('documents', () => {
  it('docs/command-line.md says what help says', async () => {
    const page = fileURLToPath(new URL('../../docs/command-line.md', import.meta.url));
    const text = readFileSync(page, 'utf8');
    expect(withReference(text, await pagesOf(COMMANDS)), 'npm run docs:commands').toBe(text);
    for (const name of NAMES) expect(text).toContain(`### \`triscope ${name}\``);
  });

  const manual = async () => manPages(await pagesOf(COMMANDS), COMMANDS, '1.0');

  it('man pages have what help has, and nothing that steers roff', async () => {
    const texts = await manual();
    for (const { name, sections } of await pagesOf(COMMANDS)) {
      const text = texts.get(`${manName(name)}.1`) ?? '';
      for (const { head } of sections.flatMap(({ items }) => items)) {
        expect(text).toContain(head.replaceAll('-', '\\-'));
      }
    }
    const requests = [...texts.values()].join('').match(/^[.'].*/gm) ?? [];
    expect(requests.filter((line) => !/^\.(TH|SH|TP|PP|B|EX|EE)( |$)/.test(line))).toEqual([]);
  });

  it('man pages are those that the package installs', async () => {
    const names = [...(await manual()).keys()].map((name) => `dist/man/${name}`);
    expect(JSON.parse(readFileSync('package.json', 'utf8')).man, 'npm run docs:commands').toEqual(
      names,
    );
  });

  it.skipIf(spawnSync('groff', ['-v']).status !== 0)('groff sets man pages', async () => {
    const input = [...(await manual()).values()].join('');
    const groff = ['-ww', '-k', '-Kutf8', '-man', '-Tutf8'];
    const { stdout, stderr } = spawnSync('groff', groff, { input, encoding: 'utf8' });
    expect(stderr).toBe('');
    for (const { name } of COMMANDS) expect(stdout).toContain(manName(name).toUpperCase());
  });
});

it('settings are typed: a misspelt key does not compile', async () => {
  const seen: unknown[] = [];
  const { run } = command({
    about: '',
    options: { limit: int(1, ''), json: flag(false, '') },
    examples: [],
    run: async ({ given }) => {
      const limit: number | undefined = given.limit;
      // @ts-expect-error: there is no such option
      seen.push(limit, given.limt);
      return 0;
    },
  });
  expect(await run({ given: { limit: 3 } } as never)).toBe(0);
  expect(seen).toEqual([3, undefined]);
  expect(Object.keys(GROUPS)).toEqual(['sim', 'region', 'signal', 'node']);
});
