/** `triscope report PATH…`: what is slow, why, and what to turn; tables; and all of it as a page. */

import { flag, text } from '../../model/option.ts';
import type { Value } from '../../query/index.ts';
import { gather, htmlPage, type RecordingReport, writePage } from '../../report/index.ts';
import { type Call, command } from '../command.ts';
import { UsageError } from '../errors.ts';
import { reportText } from '../report-text.ts';
import { jsonText, say } from '../result-rows.ts';
import { version } from '../version.ts';

const OPTIONS = {
  html: text('', 'write an HTML page with findings, evidence and charts that needs no other file', {
    placeholder: 'FILE',
    names: 'path',
  }),
  json: flag(
    false,
    'one object: recording, findings with evidence, rules not examined, tables; a list for several paths',
  ),
  evidence: flag(false, 'the query and the rows behind each finding'),
};

/** A report as `--json` prints it. */
export function jsonOf({ facts, verdict, tables, suspects }: RecordingReport): Value {
  const byKey = Object.fromEntries(tables.map(({ key, rows }) => [key, rows]));
  const { pes = [], ...others } = byKey;
  return { recording: facts, ...verdict, pes, ...others, suspects } as unknown as Value;
}

/** Prints it. Returns the exit code. @throws UsageError, InputError, MissingPieceError, ReportFileError */
async function run({ words, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const html = given.html;
  const json = given.json === true;
  if (html === '') throw new UsageError('--html= needs a file for the page');
  const reports: RecordingReport[] = [];
  const charts = html !== undefined || !json;
  for (const path of words) reports.push(await gather(path, { charts }));
  if (html !== undefined) writePage(html, htmlPage(reports, `Triscope ${version()}`));
  if (json) {
    const all = reports.map(jsonOf);
    await say(`${jsonText(all.length === 1 ? all[0] : all)}\n`);
  } else {
    await say(reports.map((one) => reportText(one, given.evidence === true)).join('\n'));
  }
  for (const { file, what } of reports.flatMap(({ suspects }) => suspects)) {
    process.stderr.write(`triscope: ${file}: ${what}\n`);
  }
  return 0;
}

export const report = command({
  about:
    'Reports what is slow in a recording, why, and which setting to change, followed by tables of its PEs, regions and hosts.\n\nThresholds and their sources: docs/findings.md.',
  arguments: [
    {
      name: 'PATH',
      help: 'recordings’ folders, folders of native files, or files',
      many: true,
      names: 'path',
      noun: 'file',
    },
  ],
  options: OPTIONS,
  examples: ['report run.tri', 'report run.tri --html run.html'],
  run,
});
