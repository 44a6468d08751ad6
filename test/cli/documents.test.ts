/** Commands that documents show exist, and so do their options. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { groupsOf } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/commands/index.ts';
import { BUILT_IN } from '../../src/sim/models/index.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DOCUMENTS = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path)),
];
const NAMES = COMMANDS.map(({ name }) => name);
/** Words of a group stand alone in lists of its commands. */
const GROUPS = new Set(NAMES.filter((name) => name.includes(' ')).map((n) => n.split(' ')[0]));

/** Lines of code blocks and pieces of inline code that begin with the command. */
function* shown(text: string): Generator<string> {
  for (const [, block] of text.matchAll(/^```\w*\n(.*?)^```$/gms)) {
    yield* (block as string).replaceAll(/\\\n\s*/g, '').split('\n');
  }
  for (const [, code] of text.replaceAll(/^```.*?^```$/gms, '').matchAll(/`([^`]+)`/g)) {
    yield code as string;
  }
}

/** The words after `triscope` up to where a shell, or a comment, begins; quoted ones as one. */
function wordsOf(line: string): string[] | null {
  const found = /^(?:\$ )?(?:(?:mpirun|srun) [^`]*? )?(?:\.\/bin\/)?triscope (.*)$/.exec(
    line.trim(),
  );
  if (found === null) return null;
  const words = (found[1] as string).match(/"[^"]*"|'[^']*'|\S+|\s{2,}/g) ?? [];
  const end = words.findIndex((word) => /^(#|\||>|<|&|;|…|\s)/.test(word));
  return end < 0 ? words : words.slice(0, end);
}

/** What is wrong with it; null where nothing is. */
async function fault(words: readonly string[]): Promise<string | null> {
  const [first = '', second = ''] = words;
  if (/^[A-Z…-]/.test(first)) return null;
  const name = NAMES.find((one) => one === `${first} ${second}`) ?? NAMES.find((o) => o === first);
  const { load } = COMMANDS.find((one) => one.name === name) ?? {};
  if (load === undefined) {
    return GROUPS.has(first) && /^(|-.*|[^a-z].*)$/.test(second)
      ? null
      : 'there is no such command';
  }
  const command = await load();
  const rest = words.slice((name as string).split(' ').length);
  const own = command.wraps ? rest.slice(0, Math.max(0, rest.indexOf('--'))) : rest;
  const model = rest.find((word) => !word.startsWith('-')) ?? 'phold';
  if (command.extend && !(model in BUILT_IN)) return null;
  const extension = (await command.extend?.(model, [])) ?? null;
  const known = new Map(
    groupsOf(command, extension?.groups).flatMap((g) => Object.entries(g.options)),
  );
  for (const word of own) {
    const option = /^--(?:no-)?([a-z][\w-]*)/.exec(word)?.[1];
    if (option === undefined || option === 'help') continue;
    const full = /^--([a-z][\w-]*)/.exec(word)?.[1] ?? '';
    const abbreviated = word.includes('=') && [...known.keys()].some((k) => k.startsWith(full));
    if (!known.has(option) && !known.has(full) && !abbreviated) return `${name} has no --${full}`;
  }
  return null;
}

/** As GitHub makes them of headings. */
const anchorsOf = (text: string) =>
  new Set(
    [...text.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
      (heading as string)
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );

describe('links in documents', () => {
  it.each(DOCUMENTS)('%s', (path) => {
    const text = readFileSync(join(ROOT, path), 'utf8').replaceAll(/^```.*?^```$/gms, '');
    const dead: string[] = [];
    for (const [, link] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link as string)) continue;
      const [file, anchor] = (link as string).split('#');
      const target = file === '' ? join(ROOT, path) : join(ROOT, dirname(path), file as string);
      const isThere =
        existsSync(target) &&
        (anchor === undefined || anchorsOf(readFileSync(target, 'utf8')).has(anchor));
      if (!isThere) dead.push(link as string);
    }
    expect(dead).toEqual([]);
  });
});

describe('commands in documents', () => {
  it.each(DOCUMENTS)('%s', async (path) => {
    const wrong: string[] = [];
    for (const line of shown(readFileSync(join(ROOT, path), 'utf8'))) {
      const words = wordsOf(line);
      const what = words && (await fault(words));
      if (what) wrong.push(`${line}: ${what}`);
    }
    expect(wrong).toEqual([]);
  });

  it('are found, and faults told', async () => {
    const lines = [
      ...shown('```sh\n$ ./bin/triscope inf x\n```\nand `triscope info --jsn x`'),
    ].filter((line) => line !== '');
    const told = await Promise.all(lines.map((line) => fault(wordsOf(line) ?? [])));
    expect(told).toEqual(['there is no such command', 'info has no --jsn']);
  });
});

describe('the table of commands', () => {
  it('has each of them', () => {
    const text = readFileSync(join(ROOT, 'docs/command-line.md'), 'utf8').split(
      '<!--',
    )[0] as string;
    const named = [...text.matchAll(/^\| `triscope ([^|]*)\|/gm)].flatMap(([, cell]) => {
      const [first = '', ...others] = (cell as string).split('`, `');
      const [group = ''] = first.split(' ');
      return [first, ...others, ...others.map((word) => `${group} ${word}`)];
    });
    const isNamed = (name: string) => named.some((one) => one.replace(/`.*/, '').startsWith(name));
    expect(NAMES.filter((name) => !isNamed(name))).toEqual([]);
  });
});
