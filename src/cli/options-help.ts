/** The text of `--help` for options declared in tables. */
import type { OptionSpec, OptionSpecs } from '../model/option.ts';
import type { OptionGroup } from './ross-options.ts';

/** Column in which the explanations start. */
const INDENT = 30;

const VALUE = { int: 'N', float: 'X', size: 'SIZE', bool: '', string: 'TEXT' } as const;

function defaultOf(spec: OptionSpec): string {
  if (spec.fallback !== undefined) return ` (default: ${spec.fallback})`;
  if (spec.kind === 'bool') return spec.default ? ' (default: 1)' : '';
  return spec.default === '' ? '' : ` (default: ${spec.default})`;
}

function wrap(words: string, width: number): string[] {
  const lines = [''];
  for (const word of words.split(' ')) {
    const line = lines[lines.length - 1];
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

function optionLines(name: string, spec: OptionSpec, width: number): string[] {
  const kind = spec.words === undefined ? VALUE[spec.kind] : 'WORD';
  const value = spec.placeholder ?? kind;
  const equals = spec.bare === undefined ? `=${value}` : `[=${value}]`;
  const head = `  --${name}${value === '' ? '' : equals}`;
  const words = Object.entries(spec.words ?? {}).map(([word, number]) => `${number} ${word}`);
  const unit = spec.unit === undefined ? '' : `, in ${spec.unit}`;
  const list = words.length > 0 ? `: ${words.join(', ')}` : '';
  const body = wrap(`${spec.help}${unit}${list}${defaultOf(spec)}`, width - INDENT);
  const first = head.length < INDENT - 1 ? [head.padEnd(INDENT) + body[0]] : [head];
  const rest = first[0] === head ? body : body.slice(1);
  return [...first, ...rest.map((line) => ' '.repeat(INDENT) + line)];
}

/** One option after the other, explained. As wide as the terminal, at most 100 columns. */
export function optionsLines(options: OptionSpecs): string[] {
  const width = Math.max(60, Math.min(100, process.stdout.columns ?? 100));
  return Object.entries(options).flatMap(([name, spec]) => optionLines(name, spec, width));
}

/** `usage`, then every group under its title. */
export function optionsHelp(usage: string, groups: readonly OptionGroup[]): string {
  const parts = groups
    .filter(({ options }) => Object.keys(options).length > 0)
    .flatMap(({ title, options }) => ['', `${title}:`, ...optionsLines(options)]);
  return `${[usage, ...parts].join('\n')}\n`;
}
