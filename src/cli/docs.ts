/** Pages of help as man pages, and as docs/command-line.md. */
import type { HelpPage, Section } from './help.ts';

/** A command and what it does, in a line. */
interface Summary {
  readonly name: string;
  readonly summary: string;
}

/** In roff nothing at the beginning of a line, and no backslash, may steer. */
const roff = (text: string) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');

/** The page of a command in the manual: `triscope-sim-run`; of '' that of all. */
export const manName = (name: string) => ['triscope', ...name.split(' ')].filter(Boolean).join('-');

/** A page of section 1. `summary`: what the command does, in a line. */
export function manPage(
  { name, usage, about, sections, examples }: HelpPage,
  summary: string,
  version: string,
): string {
  const title = manName(name);
  const section = ({ title, items }: Section) => [
    `.SH ${roff(title.toUpperCase())}`,
    ...items.flatMap(({ head, text }) => ['.TP', `.B ${roff(head)}`, roff(text)]),
  ];
  return `${[
    `.TH ${roff(title.toUpperCase())} 1 "" "Triscope ${version}" "Triscope"`,
    '.SH NAME',
    `${roff(title)} \\- ${roff(summary)}`,
    '.SH SYNOPSIS',
    `.B ${roff(`triscope ${usage}`)}`,
    '.SH DESCRIPTION',
    ...about.flatMap((paragraph) => ['.PP', roff(paragraph)]),
    ...sections.flatMap(section),
    ...(examples.length > 0 ? ['.SH EXAMPLES'] : []),
    ...examples.flatMap((line) => ['.PP', '.EX', roff(`triscope ${line}`), '.EE']),
  ].join('\n')}\n`;
}

/** The pages of the manual by file name: one of each command, and one that lists them. */
export function manPages(pages: readonly HelpPage[], entries: readonly Summary[], version: string) {
  const all: HelpPage = {
    name: '',
    usage: 'COMMAND …',
    about: ['Each command has a page of its own, and prints it with --help.'],
    sections: [
      {
        title: 'Commands',
        items: entries.map(({ name, summary }) => ({ head: `${manName(name)}(1)`, text: summary })),
      },
    ],
    examples: ['help sim run'],
  };
  const summaries = [
    'high-performance-computing instrumentation',
    ...entries.map((e) => e.summary),
  ];
  return new Map(
    [all, ...pages].map((page, k) => [
      `${manName(page.name)}.1`,
      manPage(page, summaries[k], version),
    ]),
  );
}

const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

/** The commands with their options, in Markdown. A group of options that several have is shown once. */
function referenceText(pages: readonly HelpPage[]): string {
  const seen = new Map<string, string>();
  return pages
    .map(({ name, usage, about, sections, examples }) => {
      const shown: string[] = [];
      for (const { title, items } of sections) {
        const key = JSON.stringify([title, items]);
        const before = seen.get(key);
        if (before !== undefined && items.length > 2) {
          shown.push('', `${title}: as of ${code(before)}.`);
          continue;
        }
        seen.set(key, name);
        const rows = items.map(({ head, text }) => `| ${code(head)} | ${cell(text)} |`);
        shown.push('', `| ${title} | |`, '|---|---|', ...rows);
      }
      const calls = examples.map((line) => `    triscope ${line}`);
      return [
        `### \`triscope ${name}\``,
        '',
        `    triscope ${usage}`,
        ...about.flatMap((paragraph) => ['', paragraph.replaceAll('<', '&lt;')]),
        ...shown,
        ...(calls.length > 0 ? ['', ...calls] : []),
        '',
      ].join('\n');
    })
    .join('\n');
}

const [BEGIN, END] = ['<!-- made from the declarations: npm run docs:commands -->', '<!-- end -->'];

/** docs/command-line.md with the reference made anew. */
export function withReference(document: string, pages: readonly HelpPage[]): string {
  const [before] = document.split(BEGIN);
  const after = document.split(END)[1] ?? '\n';
  return `${before}${BEGIN}\n\n${referenceText(pages)}\n${END}${after}`;
}
