/** The words of commands, page and documents: one for each idea, and what each document begins with. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const filesIn = (folder: string, ending: RegExp) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path))
    .map((path) => join(folder, path));

const DOCUMENTS = filesIn('docs', /\.md$/);
const VISIBLE = [
  ...DOCUMENTS,
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  ...['src', 'web/src'].flatMap((folder) => filesIn(folder, /\.(ts|svelte)$/)),
];

/** What is not said any more, and what is said instead. */
const DISCARDED: readonly (readonly [RegExp, string])[] = [
  [/\b(both PEs|all CPUs|all processes) at once\b/, 'sync-runtime'],
  [/\bflags? (that )?(is|are) up\b|\bneither up nor down\b|\bup where\b/i, 'a flag is raised'],
  [/\bodd places?\b/, 'suspect spot'],
  [/\bstrange spots?\b|\bwhat is strange\b/, 'suspect spot'],
  [/\bkept of files\b/, 'page cache'],
  [/\bin (its|their) stead\b|\bwithout a word\b|\bfor whom(so)?ever\b/, 'say what happens'],
  [/\bless says nothing\b/, 'less proves nothing'],
  [/\bno more than can be\b|\bmore than can be[.,;]/, 'more than is possible'],
  [/\bnobody is to be\b/, 'name the subject'],
  [/\brun (a|one) PE less\b/, 'use one PE fewer than there are CPUs'],
  [/\bit is plain\b/, 'say what is meant'],
  [/\b(passed|passes|pass) over \d|\bgoes on behind\b/, 'skipped'],
  [/\bgiven up half-way\b/, 'aborted'],
  [/\bfor nothing\b/, 'wasted work'],
  [/\bfor want of\b/, 'because … is short'],
  [/\bconvicts?\b|\baccused?\b/, 'is evidence of'],
  [/\bevents handled (were )?(undone|rolled back)\b/, 'handled events'],
  [/: it is (one of|a number|a size|a whole number)\b/, 'must be'],
  [
    /(?<!there )\bis no (address|control|file|folder|host|job id|link|name|number|option)\b/,
    'is not a …',
  ],
  [/\bwhich (file|folder|command) is to\b/, 'needs a …'],
  [/\bcould not look\b/, 'could not be examined'],
  [/\beven (times|moments)\b/, 'multiples of the interval'],
  [/\bturn(s|ed|ing)? (a|the|this|that|one) knobs?\b|\bknob to turn\b/, 'setting to change'],
  [/\b[Mm]end(s|ed|ing)? (it|the|a|an)\b|\bgets mends\b/, 'fix'],
  [/\bseverity:? (note|warning|hint)\b/, 'problem, notice, info'],
];

/** Text of a source without its comments, in which the words are not those of users. */
const withoutComments = (text: string) =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');

/** Discarded words in a text, each with its line. */
function discardedIn(path: string, text: string): string[] {
  // A text may break its lines anywhere, a sentence in a source its pieces.
  const said = (path.endsWith('.md') ? text : withoutComments(text))
    .replaceAll(/['`] \+\s+['`]/g, '')
    .replaceAll(/\s+/g, ' ');
  return DISCARDED.flatMap(([pattern, instead]) => {
    const found = pattern.exec(said)?.[0];
    return found === undefined ? [] : [`${path}: “${found}”: ${instead}`];
  });
}

describe('words', () => {
  it('are one for each idea', () => {
    expect(VISIBLE.length).toBeGreaterThan(500);
    const found = VISIBLE.flatMap((path) =>
      discardedIn(path, readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(found).toEqual([]);
  });

  it('that were discarded are found, though not in comments', () => {
    expect(discardedIn('a.ts', "const a = 'x is no file';")).toEqual([
      'a.ts: “is no file”: is not a …',
    ]);
    expect(discardedIn('a.ts', '/** It is no file. */')).toEqual([]);
  });

  it('are explained by the glossary, to which tutorials and pages of each part lead', () => {
    const pages = ['query', 'findings', 'dashboard', 'region', 'simulator', 'node/README'];
    const tutorials = DOCUMENTS.filter((path) => path.includes('tutorials'));
    expect(tutorials.length).toBe(5);
    for (const path of [...tutorials, ...pages.map((name) => `docs/${name}.md`)]) {
      expect([path, readFileSync(join(ROOT, path), 'utf8')]).toEqual([
        path,
        expect.stringContaining('glossary.md'),
      ]);
    }
  });

  it('for severities are those of the glossary', () => {
    const glossary = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8');
    const findings = readFileSync(join(ROOT, 'docs/findings.md'), 'utf8');
    for (const severity of ['problem', 'notice', 'info']) {
      expect(glossary).toContain(severity);
      expect(findings).toContain(`\`${severity}\``);
    }
  });
});

/** What a document lacks before its first section. */
function lackingAtStart(text: string): string[] {
  const head = text.split(/^## /m)[0] as string;
  const [title = '', ...rest] = head.split('\n');
  const words = rest.join('\n').replaceAll(/^```[\s\S]*?^```$/gm, '');
  const command = /^```\w*\n[\s\S]*?\b(triscope|npm|node|import) [\s\S]*?^```$/m.test(head);
  return [
    ...(/^# \S/.test(title) ? [] : ['a title']),
    ...(/[a-z]{3}.*[.:]\s/.test(words) ? [] : ['what it is for']),
    ...(command ? [] : ['a command']),
  ];
}

describe('each document begins with what it is for and one command', () => {
  it.each(DOCUMENTS)('%s', (path) => {
    expect(lackingAtStart(readFileSync(join(ROOT, path), 'utf8'))).toEqual([]);
  });

  it('what is lacking is told', () => {
    expect(lackingAtStart('# A\n\n## B\n\n```\ntriscope info x\n```\n')).toEqual([
      'what it is for',
      'a command',
    ]);
  });
});
