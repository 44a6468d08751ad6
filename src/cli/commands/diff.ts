/** `triscope diff A B`: what changed from one run to another. */

import { existsSync, statSync } from 'node:fs';
import { FormatError } from '../../formats/format.ts';
import { identify } from '../../formats/registry.ts';
import { openFile } from '../../formats/source.ts';
import { flag, float } from '../../model/option.ts';
import { type Comparison, compareRecordings } from '../../report/index.ts';
import { type Call, command } from '../command.ts';
import { diffText, selected } from '../diff-text.ts';
import { EXIT } from '../errors.ts';
import { diffReports, type ReportDiffOptions } from '../report-differences.ts';
import { jsonText, say } from '../result-rows.ts';

const OPTIONS = {
  all: flag(false, 'also show what is the same or within noise'),
  least: float(0, 'only changes of at least this share of A', {
    min: 0,
    placeholder: 'PERCENT',
    unit: '%',
  }),
  'exit-code': flag(
    false,
    'exit with 1 where something changed beyond noise, or a finding came or went',
  ),
  json: flag(false, 'one object: facts, values with errors and bounds, findings'),
};

/** Compares. Returns the exit code. @throws UsageError, FormatError, InputError, QueryError, MissingPieceError */
async function run({ words, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const least = (given.least ?? OPTIONS.least.default) / 100;
  const [a, b] = words;
  // Before the first is read, which may take long.
  for (const path of words) {
    if (existsSync(path)) continue;
    const what = 'there is no such file or folder';
    throw new FormatError({ path, offset: -1, what, skipped: 0 });
  }
  const asked = { all: given.all === true, least, json: given.json === true };
  const differs =
    isReport(a) && isReport(b) ? twoReports(a, b, asked) : await twoRecordings(a, b, asked);
  return differs && given['exit-code'] ? EXIT.failed : 0;
}

/** Whether a path is a report of GEOPM. */
function isReport(path: string): boolean {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return false;
  const source = openFile(path);
  try {
    return /report/i.test(identify(source)?.detection.era ?? '');
  } finally {
    source.close();
  }
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

async function twoRecordings(a: string, b: string, options: ReportDiffOptions): Promise<boolean> {
  const comparison = await compareRecordings(a, b);
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

function jsonOf(a: string, b: string, comparison: Comparison, options: ReportDiffOptions): string {
  const side = (one: Comparison['changes'][number]['a']) =>
    one === null ? null : { value: one.value, error: one.error };
  const values = selected(comparison.changes, options).map((one) => ({
    ...one,
    a: side(one.a),
    b: side(one.b),
  }));
  const { facts, findings, hosts, notes } = comparison;
  return jsonText({ a, b, hosts, notes, facts, findings, values } as never);
}

export const diff = command({
  about:
    'What changed from A to B: recordings, folders of native files, or files. Numbers of the run, its PEs, KPs and LPs, regions and hosts, with bounds from the samples: what differs by no more than chance explains is “within noise”. Then findings gained and lost. Two reports of GEOPM are compared value by value. How it is judged: docs/diff.md.',
  arguments: [
    { name: 'A', help: 'what was before', names: 'path', noun: 'two recordings or files' },
    { name: 'B', help: 'what is now', names: 'path', noun: 'second recording or file' },
  ],
  options: OPTIONS,
  examples: ['diff before.tri after.tri', 'diff before.tri after.tri --all --least=5'],
  run,
});
