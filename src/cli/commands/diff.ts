/** `triscope diff A B`: what changed from one run to another. */

import { filesOf } from '../../formats/files.ts';
import { compareReports, type Difference } from '../../formats/geopm/compare.ts';
import { openFile } from '../../formats/source.ts';
import { UsageError } from '../errors.ts';
import { readPathOptions } from '../path-options.ts';
import { figure, painter, table } from '../table.ts';

const USAGE = `usage: triscope diff A B [--all] [--least=PERCENT] [--json]

What changed from A to B, two reports of GEOPM: each value of each region and of the totals that differs.

  --all            values that are equal, too
  --least=PERCENT  only changes of at least this share of A (0)`;

/** Change as a share of A; Infinity where only one has a value. */
function shareOf({ a, b }: Difference): number {
  if (Number.isNaN(a) && Number.isNaN(b)) return 0;
  if (Number.isNaN(a) || Number.isNaN(b)) return Infinity;
  if (a === b) return 0;
  return a === 0 ? Infinity : Math.abs((b - a) / a);
}

function changeText({ a, b }: Difference): string {
  if (Number.isNaN(a)) return 'only in B';
  if (Number.isNaN(b)) return 'only in A';
  if (a === 0 || a === b) return a === b ? '' : 'new';
  const percent = (100 * (b - a)) / Math.abs(a);
  return `${percent > 0 ? '+' : ''}${percent.toFixed(Math.abs(percent) < 10 ? 2 : 1)} %`;
}

const numberText = (value: number) => (Number.isNaN(value) ? '-' : figure(value));
const jsonNumber = (value: number) => (Number.isNaN(value) ? null : value);

function print(differences: readonly Difference[]): void {
  const paint = painter(process.stdout);
  const bySection = new Map<string, Difference[]>();
  for (const one of differences) {
    const title = [one.host, one.region === null ? one.section : `region ${one.region}`].join(', ');
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

/** Compares two reports. Returns the exit code. @throws UsageError, FormatError */
export async function diff(args: readonly string[]): Promise<number> {
  const specs = { all: 'switch', least: 'text', json: 'switch' } as const;
  const options = readPathOptions(args, specs, USAGE);
  if (options === null) return 0;
  if (options.paths.length !== 2)
    throw new UsageError('two reports are compared: triscope diff A B');
  const least = Number(options.text('least') ?? 0) / 100;
  if (!(least >= 0))
    throw new UsageError(`--least=${options.text('least')}: must be a percentage from 0`);
  const [a, b] = filesOf(options.paths).map((path) => openFile(path));
  let differences: Difference[];
  try {
    differences = compareReports(a, b);
  } finally {
    a.close();
    b.close();
  }
  const shown = differences.filter((one) => {
    const share = shareOf(one);
    return options.on('all') || (share > 0 && share >= least);
  });
  if (options.on('json')) {
    const rows = shown.map((one) => ({ ...one, a: jsonNumber(one.a), b: jsonNumber(one.b) }));
    process.stdout.write(
      `${JSON.stringify({ a: options.paths[0], b: options.paths[1], values: rows }, null, 2)}\n`,
    );
    return 0;
  }
  print(shown);
  if (shown.length === 0) process.stdout.write(`no difference in ${differences.length} values\n`);
  return 0;
}
