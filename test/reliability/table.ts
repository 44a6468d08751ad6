/** The table in `docs/reliability.md`: what each script found when it last ran. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Result {
  /** What was tested; unique in the table. */
  readonly name: string;
  readonly cases: number;
  readonly failures: number;
}

const FILE = join('docs', 'reliability.md');
const BEGIN = '<!-- results: written by scripts -->';
const END = '<!-- end of results -->';
const ROW = /^\| (.+?) \| ([\d,]+) \| ([\d,]+) \| (.+?) \|$/;

const number = (count: number): string => count.toLocaleString('en-US');

/** The table with these results in the place of older ones of the same name. */
export function withResults(text: string, results: readonly Result[], how: string): string {
  const from = text.indexOf(BEGIN);
  const to = text.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${FILE} has no place for results`);
  const rows = new Map<string, string>();
  for (const line of text.slice(from, to).split('\n')) {
    const row = ROW.exec(line);
    if (row !== null) rows.set(row[1], line);
  }
  for (const { name, cases, failures } of results) {
    rows.set(name, `| ${name} | ${number(cases)} | ${number(failures)} | ${how} |`);
  }
  const lines = [...rows.values()].sort();
  const table = ['| test | cases | failures | how |', '|---|---:|---:|---|', ...lines];
  return `${text.slice(0, from)}${BEGIN}\n\n${table.join('\n')}\n\n${text.slice(to)}`;
}

/** Writes them into the page. @param how the command, and what it ran on */
export function writeResults(results: readonly Result[], how: string): void {
  writeFileSync(FILE, withResults(readFileSync(FILE, 'utf8'), results, how));
}
