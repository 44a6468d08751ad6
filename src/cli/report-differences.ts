/** `diff` of two reports of GEOPM: each value of each region and of the totals. */

import type { FileSource } from '../formats/format.ts';
import { compareReports, type ReportDifference } from '../formats/geopm/compare.ts';
import { signedPercent } from '../model/measures/index.ts';
import { figure, painter, table } from './table.ts';

/** Change as a share of A; Infinity where only one has a value. */
function shareOf({ a, b }: ReportDifference): number {
  if (Number.isNaN(a) && Number.isNaN(b)) return 0;
  if (Number.isNaN(a) || Number.isNaN(b)) return Infinity;
  if (a === b) return 0;
  return a === 0 ? Infinity : Math.abs((b - a) / a);
}

/** A zero that the other report lacks: no difference. */
const isBareZero = ({ a, b }: ReportDifference) =>
  (Number.isNaN(a) && b === 0) || (Number.isNaN(b) && a === 0);

function changeText({ a, b }: ReportDifference): string {
  if (Number.isNaN(a)) return 'only in B';
  if (Number.isNaN(b)) return 'only in A';
  if (a === 0 || a === b) return a === b ? '' : 'new';
  return signedPercent((100 * (b - a)) / Math.abs(a));
}

const numberText = (value: number) => (Number.isNaN(value) ? '-' : figure(value));
const jsonNumber = (value: number) => (Number.isNaN(value) ? null : value);

function print(differences: readonly ReportDifference[]): void {
  const paint = painter(process.stdout);
  const bySection = new Map<string, ReportDifference[]>();
  for (const one of differences) {
    const title = `${one.host}, ${one.region === null ? one.section : `region ${one.region}`}`;
    bySection.set(title, [...(bySection.get(title) ?? []), one]);
  }
  for (const [title, values] of bySection) {
    const rows = values.map((one) => [
      one.key,
      numberText(one.a),
      numberText(one.b),
      changeText(one),
    ]);
    const lines = table(['', 'A', 'B', 'change'], rows);
    process.stdout.write(`${[paint.bold(title), ...lines, ''].join('\n')}\n`);
  }
}

export interface ReportDiffOptions {
  readonly all: boolean;
  /** Changes of less than this share of A are left out. */
  readonly least: number;
  readonly json: boolean;
}

/** Prints it; whether there is a difference. @throws FormatError */
export function diffReports(a: FileSource, b: FileSource, options: ReportDiffOptions): boolean {
  const differences = compareReports(a, b, ({ path, line, what }) => {
    process.stderr.write(`triscope: ${path}: line ${line}: ${what}\n`);
  });
  const shown = differences.filter((one) => {
    const share = shareOf(one);
    return options.all || (share > 0 && share >= options.least && !isBareZero(one));
  });
  const differs = shown.some((one) => shareOf(one) > 0);
  if (options.json) {
    const rows = shown.map((one) => ({ ...one, a: jsonNumber(one.a), b: jsonNumber(one.b) }));
    process.stdout.write(`${JSON.stringify({ a: a.path, b: b.path, values: rows }, null, 2)}\n`);
    return differs;
  }
  print(shown);
  if (shown.length === 0) process.stdout.write(`no difference in ${differences.length} values\n`);
  return differs;
}
