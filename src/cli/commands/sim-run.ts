/** `triscope sim run MODEL [options]`: one simulation and its statistics. */

import { flag, int, text } from '../../model/option.ts';
import type { OutputLine } from '../../sim/pe.ts';
import { recordingFolder, SimRecording } from '../../sim/record.ts';
import { reserveForOneRun } from '../../sim/reserved.ts';
import { configFor } from '../../sim/settings.ts';
import { simulate } from '../../sim/simulate.ts';
import { besideOf, Companions } from '../companions.ts';
import { EXIT, report } from '../errors.ts';
import { finishRecording } from '../finish-recording.ts';
import { INSTRUMENT_GROUP, instrumentRequest, nothingToSample } from '../instrumentation.ts';
import { type Interrupt, mayBlock, onInterrupt } from '../interrupt.ts';
import { endsWithCommand } from '../leave.ts';
import { onRanks } from '../on-ranks.ts';
import { PageOut } from '../page-out.ts';
import { ProgressLine, progressOf } from '../progress.ts';
import { resultJson } from '../result-json.ts';
import { appendCsv } from '../ross-csv.ts';
import { reportText } from '../ross-report.ts';
import { groupsFor, type RunCommand, readRunCommand } from '../run-command.ts';
import { StreamOut } from '../stream-out.ts';
import { transportGroup, wantsRanks } from '../transport-option.ts';
import { version } from '../version.ts';

const USAGE = `usage: triscope sim run MODEL [options]

Runs a simulation and prints its statistics. MODEL is a built-in model (triscope sim models) or the path of
a .js or .ts module. Options are --name=value or --name value, --no-name for switches; ROSS's may be
shortened before the = sign. --args-file=FILE reads options from a file (# starts a comment).
mpirun -np N triscope sim run MODEL runs it with one PE on each of N ranks.`;

const OPTIONS = {
  json: flag(false, 'print one JSON object; what the model prints goes to stderr'),
  record: text('', 'make NAME.tri, a recording: a folder with the run and its result', {
    placeholder: 'NAME',
  }),
  'node-stats': int(0, 'with --record: samples the node every so many ms; 0: not', { min: 0 }),
  regions: flag(false, 'with --record: reports where PEs spend their time, as GEOPM does'),
  stream: text(
    '',
    'give the samples to others while the run goes on: a file or pipe, - for stdout, or ws',
    {
      placeholder: 'PATH',
    },
  ),
  'ross-csv': text('', 'append one line to FILE, ross.csv where none is given', {
    bare: 'ross.csv',
    placeholder: 'FILE',
  }),
};

/** Runs it. Returns the exit code. @throws what a user did wrong, or the model */
export const simRun = onRanks(start);

async function start(args: readonly string[]): Promise<number> {
  const command = await readRunCommand(
    args,
    USAGE,
    transportGroup('what PEs are', 'mpi under mpirun, else threads'),
    INSTRUMENT_GROUP,
    { title: 'Output', options: OPTIONS },
  );
  if (command === null) return 0;
  const interrupt = onInterrupt(mayBlock(command.loaded));
  try {
    if (wantsRanks(command)) {
      return await (await import('./sim-rank.ts')).simRank(command, args, interrupt);
    }
    return await run(command, args, interrupt);
  } finally {
    interrupt.release();
    command.loaded.dispose();
  }
}

async function run(
  { loaded, settings, own }: RunCommand,
  args: readonly string[],
  interrupt: Interrupt,
): Promise<number> {
  const { signal } = interrupt;
  const json = own.get('json') === true;
  const to = own.get('stream');
  const streamsOut = to === '-';
  const config = configFor(loaded.model, settings);
  const progress = new ProgressLine(config.reportInterval, own.has('report-interval'));
  const name = own.get('record');
  let stream: StreamOut | PageOut | null = null;
  let companions: Companions | null = null;
  const beside = besideOf(own);
  // Before anything is made: what is asked for must make sense.
  const request = instrumentRequest(
    own,
    { run: config, groups: groupsFor(loaded.model, [INSTRUMENT_GROUP]) },
    typeof name === 'string' ? recordingFolder(name) : null,
    typeof to === 'string' ? (frames, dropped) => stream?.write(frames, dropped) : null,
  );
  const recording =
    typeof name === 'string'
      ? new SimRecording({
          name,
          command: ['triscope', 'sim', 'run', ...args],
          version: version(),
          pes: config.pes,
        })
      : null;
  if (recording !== null) interrupt.leave(recording.ifInterrupted);
  const onOutput = (lines: readonly OutputLine[]) => {
    progress.clear();
    const out = json || streamsOut ? process.stderr : process.stdout;
    out.write(`${lines.map((line) => line.text).join('\n')}\n`);
  };
  try {
    if (to === 'ws') {
      stream = await PageOut.start(loaded.model.name, config.pes);
      process.stderr.write(`triscope: live at ${stream.url}\n`);
    } else if (typeof to === 'string') stream = new StreamOut(to);
    const notes = [...request.notes, ...nothingToSample(request.config, loaded.model)];
    for (const note of notes) process.stderr.write(`triscope: ${note}\n`);
    const asked = { ...settings, instrument: request.config };
    if (recording !== null && beside !== null) {
      companions = await Companions.start({
        ...beside,
        folder: recording.path,
        profile: loaded.model.name,
      });
    }
    const preload = companions?.preload;
    if (endsWithCommand()) reserveForOneRun();
    const result = await simulate(loaded, asked, {
      signal,
      onEnd: interrupt.writing,
      ...(preload !== undefined && { preload }),
      onOutput,
      instrument: request.output,
      ...(progress.on && { onProgress: (now) => progress.update(now) }),
      ...(json && { console: process.stderr }),
    });
    progress.end(progressOf(result));
    const lost = await stream?.end();
    if (typeof lost === 'string') process.stderr.write(`triscope: ${lost}\n`);
    const failed = result.instrumentation?.error ?? null;
    if (failed !== null)
      process.stderr.write(`triscope: instrumentation is incomplete: ${failed}\n`);
    await companions?.stop();
    const others = recording === null ? [] : (companions?.sources(recording.zero) ?? []);
    companions = null;
    const { recorded, unrecorded } = finishRecording(recording, result, loaded.model, others);
    if (unrecorded !== null) report(unrecorded);
    (streamsOut ? process.stderr : process.stdout).write(
      json ? resultJson(recorded) : reportText(recorded),
    );
    const csv = own.get('ross-csv');
    if (typeof csv === 'string') appendCsv(csv, recorded);
    if (!result.finished) return EXIT.interrupted;
    return failed === null && unrecorded === null ? 0 : EXIT.failed;
  } catch (error) {
    progress.clear();
    recording?.fail(error, signal.aborted ? 'interrupted' : 'failed');
    if (!signal.aborted) throw error;
    report(error);
    return EXIT.interrupted;
  } finally {
    stream?.close();
    await companions?.stop().catch(() => {});
  }
}
