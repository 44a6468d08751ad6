/** The line at the end of a recorded command: what is worst, and what to call next. */
import { basename } from 'node:path';
import { gather, htmlPage, writePage } from '../report/index.ts';
import { oneLine } from './terminal.ts';
import { version } from './version.ts';

export interface TellOptions {
  readonly say: (line: string) => void;
  /** Whether the recording is opened and examined. */
  readonly examines: boolean;
  /** File of the report as a page; null for none. */
  readonly page: string | null;
}

/** @throws ReportFileError where the page cannot be written */
export async function tellWorst(path: string, { say, examines, page }: TellOptions): Promise<void> {
  const next = `triscope report ${/^[\w./+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`}`;
  if (!examines) {
    say(`${path}: interrupted; next: ${next}`);
    return;
  }
  try {
    const report = await gather(path, { charts: page !== null });
    // Findings that are only information are not worth a line here.
    const worst = report.verdict.findings.find(({ severity }) => severity !== 'info');
    const found =
      worst === undefined
        ? 'nothing stands out'
        : `${worst.severity}: ${worst.sentence.replace(/\.$/, '')}`;
    if (page !== null) writePage(page, htmlPage([report], `Triscope ${version()}`), '--report');
    say(oneLine(`${path}: ${found}; next: ${next}`));
  } catch (error) {
    if (page !== null) throw error;
    // The recording is complete all the same.
    say(oneLine(`${basename(path)}: ${(error as Error).message}; next: ${next}`));
  }
}
