/** `triscope diff A B`: what changed from one run to another. */

import { existsSync } from 'node:fs';
import { FormatError } from '../../formats/format.ts';
import { isReport } from '../../formats/is-report.ts';
import { openFile } from '../../formats/source.ts';
import { flag, float } from '../../model/option.ts';
import { type Comparison, compareRecordings } from '../../report/index.ts';
import { type Call, command } from '../command.ts';
import { diffText, selected } from '../diff-text.ts';
import { EXIT, UsageError } from '../errors.ts';
import { MEMORY, memoryOf } from '../memory-option.ts';
import { diffReports, type ReportDiffOptions } from '../report-differences.ts';
import { jsonText, say } from '../result-rows.ts';
import { type Sides, sidesIn } from '../sides.ts';

const OPTIONS = {
  all: flag(false, 'also show what is the same or within noise'),
  least: float(0, 'only changes of at least this share of A', {
    min: 0,
    placeholder: 'PERCENT',
    unit: '%',
  }),
  'exit-code': flag(
    false,
    'exit with 1 if something changed beyond noise, or a finding was gained or lost',
  ),
  memory: MEMORY,
  json: flag(false, 'one object: settings, facts, values with errors and bounds, findings'),
};

/**
 * The runs of A and of B: on either side of `--`, or two paths.
 * @throws UsageError
 */
function sidesOf({ words, args }: Call<typeof OPTIONS, null>): Sides {
  const sides = sidesIn(words, args);
  if (sides !== null) return sides;
  if (words.length === 2) return { a: [words[0]], b: [words[1]] };
  throw new UsageError('with more than two recordings, put -- between those of A and those of B');
}

/** Compares. Returns the exit code. @throws UsageError, FormatError, InputError, QueryError, MissingPieceError */
async function run(call: Call<typeof OPTIONS, null>): Promise<number> {
  const { given, words } = call;
  const least = (given.least ?? OPTIONS.least.default) / 100;
  const { a, b } = sidesOf(call);
  // Checked before the first recording is read, which may take long.
  for (const path of words) {
    if (existsSync(path)) continue;
    const what = 'there is no such file or folder';
    throw new FormatError({ path, offset: -1, what, skipped: 0 });
  }
  const asked = { all: given.all === true, least, json: given.json === true };
  const differs =
    words.length === 2 && isReport(a[0]) && isReport(b[0])
      ? twoReports(a[0], b[0], asked)
      : await recordings(a, b, asked, memoryOf(given.memory));
  return differs && given['exit-code'] ? EXIT.failed : 0;
}

function twoReports(pathA: string, pathB: string, options: ReportDiffOptions): boolean {
  const a = openFile(pathA);
  try {
    const b = openFile(pathB);
    try {
      return diffReports(a, b, options);
    } finally {
      b.close();
    }
  } finally {
    a.close();
  }
}

async function recordings(
  a: readonly string[],
  b: readonly string[],
  options: ReportDiffOptions,
  memory: string | undefined,
): Promise<boolean> {
  const comparison = await compareRecordings(a, b, memory === undefined ? {} : { memory });
  for (const { file, what } of comparison.suspects) {
    process.stderr.write(`triscope: ${file}: ${what}\n`);
  }
  if (options.json) await say(`${jsonOf(a, b, comparison, options)}\n`);
  else await say(diffText(a, b, comparison, options));
  return (
    comparison.changes.some(({ verdict }) => verdict === 'changed') ||
    comparison.findings.some(({ what }) => what !== 'both')
  );
}

function jsonOf(
  a: readonly string[],
  b: readonly string[],
  comparison: Comparison,
  options: ReportDiffOptions,
): string {
  const side = (one: Comparison['changes'][number]['a']) =>
    one === null ? null : { value: one.value, error: one.error, runs: one.runs };
  const values = selected(comparison.changes, options).map((one) => ({
    ...one,
    a: side(one.a),
    b: side(one.b),
  }));
  const { settings, unlike, explanation, facts, findings, hosts, notes } = comparison;
  return jsonText({
    a: a.join(' '),
    b: b.join(' '),
    settings,
    unlike,
    explanation,
    hosts,
    notes,
    facts,
    findings,
    values,
  } as never);
}

export const diff = command({
  about:
    'Compares A and B: recordings, folders of native files, or files. Lists numbers of the run, its PEs, KPs and LPs, regions and hosts with error bounds. A difference that chance explains is “within noise”, with the size of a change that would have been detected. Then come findings gained and lost. For the surest results give several runs of each setting, separated by --: their medians are compared. Two reports of GEOPM are compared value by value. The method: docs/diff.md.',
  arguments: [
    { name: 'A', help: 'run before', names: 'path', noun: 'two recordings or files' },
    {
      ...{ name: 'B', help: 'run after; with several runs of each: A… -- B…', many: true },
      ...{ names: 'path', noun: 'second recording or file' },
    },
  ],
  options: OPTIONS,
  examples: ['diff before.tri after.tri', 'diff a1.tri a2.tri a3.tri -- b1.tri b2.tri b3.tri'],
  run,
});
