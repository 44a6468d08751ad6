/** Help of a command as a page, and the page as text that fits the terminal. Man pages and Markdown are in docs.ts. */
import type { OptionSpec, OptionSpecs } from '../model/option.ts';
import { type Command, type Extension, groupsOf, HELP, usageOf } from './command.ts';
import { widthOf, wrapped } from './fit.ts';

interface Item {
  /** `-o, --output=FILE`. */
  readonly head: string;
  readonly text: string;
}

export interface Section {
  readonly title: string;
  readonly items: readonly Item[];
}

export interface HelpPage {
  /** `sim run`. */
  readonly name: string;
  /** Without `triscope`. */
  readonly usage: string;
  readonly about: readonly string[];
  readonly sections: readonly Section[];
  /** Without `triscope`. */
  readonly examples: readonly string[];
}

const VALUE = { int: 'N', float: 'X', size: 'SIZE', bool: '', string: 'TEXT' } as const;

function defaultOf(spec: OptionSpec): string {
  const told = spec.fallback ?? (spec.kind === 'bool' ? (spec.default ? '1' : '') : spec.default);
  return told === '' ? '' : ` (default: ${told})`;
}

/** `-o, --output=FILE`. */
export function optionHead(name: string, spec: OptionSpec): string {
  const kind = spec.words === undefined && spec.choices === undefined ? VALUE[spec.kind] : 'WORD';
  const value = spec.placeholder ?? kind;
  const short = spec.short === undefined ? '' : `-${spec.short}, `;
  if (spec.dotted) return `${short}--${name}.${value}`;
  if (value === '') return `${short}--${name}`;
  return `${short}--${name}${spec.bare === undefined ? `=${value}` : `[=${value}]`}`;
}

/** Help, unit, choices and default. */
export function optionText(spec: OptionSpec): string {
  const words =
    spec.choices?.map(String) ??
    Object.entries(spec.words ?? {}).map(([word, number]) => `${number} ${word}`);
  const unit = spec.unit === undefined ? '' : `, in ${spec.unit}`;
  const list = words.length > 0 ? `: ${words.join(', ')}` : '';
  return `${spec.help}${unit}${list}${defaultOf(spec)}`;
}

/** Options as they are shown. */
export const itemsOf = (options: OptionSpecs): Item[] =>
  Object.entries(options)
    .filter(([, { hidden }]) => !hidden)
    .map(([name, spec]) => ({ head: optionHead(name, spec), text: optionText(spec) }));

const HELP_ITEM: Item = { head: `-h, --${HELP}`, text: 'print this help' };

/** What help says of a command; `extension`: of its first argument, too. */
export function helpPage(
  name: string,
  command: Command,
  extension: Extension<unknown> | null = null,
): HelpPage {
  const args = command.arguments ?? [];
  const sections = groupsOf(command, extension?.groups).map(({ title, options }) => ({
    title,
    items: itemsOf(options),
  }));
  const last = sections[sections.length - 1];
  if (last?.title === 'Options') sections.pop();
  return {
    name,
    usage: usageOf(name, command),
    about: [
      ...command.about.split('\n\n'),
      ...(extension === null || extension.about === '' ? [] : [extension.about]),
    ],
    sections: [
      ...(args.length > 0
        ? [
            {
              title: 'Arguments',
              items: args.map(({ name, help }) => ({ head: name, text: help })),
            },
          ]
        : []),
      ...sections,
      {
        title: 'Options',
        items: [...(last?.title === 'Options' ? last.items : []), HELP_ITEM],
      },
    ],
    examples: command.examples,
  };
}

/** Columns of help: narrower than this nobody's terminal is, and wider no text is read easily. */
const [LEAST, MOST, UNKNOWN] = [40, 100, 80];

/** Columns that help may have here. */
export function helpWidth(): number {
  const width = widthOf(process.stdout);
  return Number.isFinite(width) ? Math.max(LEAST, Math.min(MOST, width)) : UNKNOWN;
}

/** Column in which texts start, at most. */
const INDENT = 30;

/** Heads, and their texts beside them. */
export function itemLines(items: readonly Item[], width: number): string[] {
  const widest = items.reduce((most, { head }) => Math.max(most, head.length), 0) + 4;
  const indent = Math.min(widest, INDENT, Math.floor(width * 0.4));
  return items.flatMap(({ head, text }) => {
    const body = wrapped(text, width, ' '.repeat(indent));
    if (head.length + 4 > indent) return [`  ${head}`, ...body];
    return [`  ${head}`.padEnd(indent) + body[0].slice(indent), ...body.slice(1)];
  });
}

/** A line of a shell, continued where it is too long. */
function shellLines(line: string, width: number, indent: string): string[] {
  const lines = wrapped(line, width - 2, indent);
  return lines.map((one, k) => {
    const shown = k === 0 ? one : `  ${one}`;
    return k === lines.length - 1 ? shown : `${shown} \\`;
  });
}

export function pageText({ usage, about, sections, examples }: HelpPage, width: number): string {
  const lines = [
    ...wrapped(`usage: triscope ${usage}`, width),
    ...about.flatMap((paragraph) => ['', ...wrapped(paragraph, width)]),
    ...sections.flatMap(({ title, items }) => ['', `${title}:`, ...itemLines(items, width)]),
    ...(examples.length > 0 ? ['', 'Examples:'] : []),
    ...examples.flatMap((line) => shellLines(`triscope ${line}`, width - 2, '  ')),
  ];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

/** Commands with what they do. `group`: the words before them, and what they are about. */
export function listText(
  group: string,
  about: string,
  commands: readonly { readonly name: string; readonly summary: string }[],
  width: number,
): string {
  const name = ['triscope', group].join(' ').trim();
  const lines = [
    ...wrapped(`usage: ${name} COMMAND …`, width),
    '',
    ...wrapped(about || 'High-performance-computing instrumentation', width),
    '',
    'Commands:',
    ...itemLines(
      commands.map(({ name, summary }) => ({ head: name, text: summary })),
      width,
    ),
    '',
    'Options:',
    ...itemLines(
      [
        { head: '-V, --version', text: 'print the version' },
        { head: '-h, --help', text: 'print this help; of a command: triscope help COMMAND' },
      ],
      width,
    ),
  ];
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}
