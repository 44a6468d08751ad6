/** `triscope sim run MODEL [options]`: one simulation and its statistics. */
import { flag, text } from '../../model/option.ts';
import type { OutputLine } from '../../sim/pe.ts';
import { SimRecording } from '../../sim/record.ts';
import { configFor } from '../../sim/settings.ts';
import { simulate } from '../../sim/simulate.ts';
import { EXIT, report } from '../errors.ts';
import { onInterrupt } from '../interrupt.ts';
import { ProgressLine } from '../progress.ts';
import { resultJson } from '../result-json.ts';
import { appendCsv } from '../ross-csv.ts';
import { reportText } from '../ross-report.ts';
import { type RunCommand, readRunCommand } from '../run-command.ts';
import { version } from '../version.ts';

const USAGE = `usage: triscope sim run MODEL [options]

Runs a simulation and prints its statistics. MODEL is a built-in model (triscope sim models) or the path of
a .js or .ts module. Options are --name=value or --name value, --no-name for switches; ROSS's may be
shortened before the = sign. --args-file=FILE reads options from a file (# starts a comment).`;

const OPTIONS = {
  json: flag(false, 'print one JSON object; what the model prints goes to stderr'),
  record: text('', 'make NAME.tri, a recording: a folder with the run and its result', {
    placeholder: 'NAME',
  }),
  'ross-csv': text('', 'append one line to FILE, ross.csv where none is given', {
    bare: 'ross.csv',
    placeholder: 'FILE',
  }),
};

/** Runs it. Returns the exit code. @throws what a user did wrong, or the model */
export async function simRun(args: readonly string[]): Promise<number> {
  const command = await readRunCommand(args, USAGE, { title: 'Output', options: OPTIONS });
  if (command === null) return 0;
  const interrupt = onInterrupt();
  try {
    return await run(command, args, interrupt.signal);
  } finally {
    interrupt.release();
    command.loaded.dispose();
  }
}

async function run(
  { loaded, settings, own }: RunCommand,
  args: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const json = own.get('json') === true;
  const config = configFor(loaded.model, settings);
  const progress = new ProgressLine(config.reportInterval);
  const record = own.get('record');
  const recording =
    typeof record === 'string'
      ? new SimRecording({
          name: record,
          command: ['triscope', 'sim', 'run', ...args],
          version: version(),
          pes: config.pes,
        })
      : null;
  const onOutput = (lines: readonly OutputLine[]) => {
    progress.clear();
    const out = json ? process.stderr : process.stdout;
    out.write(`${lines.map((line) => line.text).join('\n')}\n`);
  };
  try {
    const result = await simulate(loaded, settings, {
      signal,
      onOutput,
      ...(progress.on && { onProgress: (now) => progress.update(now) }),
      ...(json && { console: process.stderr }),
    });
    progress.clear();
    const recorded = recording?.finish(result) ?? result;
    process.stdout.write(json ? resultJson(recorded) : reportText(recorded));
    const csv = own.get('ross-csv');
    if (typeof csv === 'string') appendCsv(csv, recorded);
    return result.finished ? 0 : EXIT.interrupted;
  } catch (error) {
    progress.clear();
    recording?.fail(error);
    if (!signal.aborted) throw error;
    report(error);
    return EXIT.interrupted;
  }
}
