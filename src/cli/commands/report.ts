/** `triscope report PATH…`: what is slow, why, and what to turn; tables; and all of it as a page. */
import type { Value } from '../../query/index.ts';
import { gather, htmlPage, type RecordingReport, writePage } from '../../report/index.ts';
import { UsageError } from '../errors.ts';
import { readPathOptions } from '../path-options.ts';
import { reportText } from '../report-text.ts';
import { jsonText, say } from '../result-rows.ts';
import { version } from '../version.ts';

const USAGE = `usage: triscope report PATH… [--html FILE] [--json] [--evidence]

Says what is slow in a recording, why, and what to turn; then tables of its PEs, regions and hosts.
Thresholds and their sources: docs/findings.md.

  --html FILE   write a page with findings, evidence and charts; it needs no other file
  --json        one object: recording, findings with their evidence, rules that could not look, tables;
                of several paths a list
  --evidence    the query and the rows behind each finding`;

function jsonOf({ facts, verdict, tables, suspects }: RecordingReport): Value {
  const byKey = Object.fromEntries(tables.map(({ key, rows }) => [key, rows]));
  const { pes = [], ...others } = byKey;
  return { recording: facts, ...verdict, pes, ...others, suspects } as unknown as Value;
}

/** Prints it. Returns the exit code. @throws UsageError, InputError, MissingPieceError, ReportFileError */
export async function report(args: readonly string[]): Promise<number> {
  const asked = readPathOptions(args, { html: 'text', json: 'switch', evidence: 'switch' }, USAGE);
  if (asked === null) return 0;
  const html = asked.text('html');
  if (html === '') throw new UsageError('--html=: which file is the page to be written to?');
  const reports: RecordingReport[] = [];
  const charts = html !== undefined || !asked.on('json');
  for (const path of asked.paths) reports.push(await gather(path, { charts }));
  if (html !== undefined) writePage(html, htmlPage(reports, `Triscope ${version()}`));
  if (asked.on('json')) {
    const all = reports.map(jsonOf);
    await say(`${jsonText(all.length === 1 ? all[0] : all)}\n`);
  } else {
    await say(reports.map((one) => reportText(one, asked.on('evidence'))).join('\n'));
  }
  for (const { file, what } of reports.flatMap(({ suspects }) => suspects)) {
    process.stderr.write(`triscope: ${file}: ${what}\n`);
  }
  return 0;
}
