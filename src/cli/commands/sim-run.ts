/** `triscope sim run MODEL [options]`: one simulation and its statistics. */

import { recordingFolder } from '../../formats/recording-folder.ts';
import { launchedRank } from '../../os/mpi/launcher.ts';
import type { CheckpointOptions } from '../../sim/checkpoint/run.ts';
import type { LoadedModel } from '../../sim/load-model.ts';
import { ModelError } from '../../sim/model.ts';
import type { OutputLine } from '../../sim/pe.ts';
import { SimRecording } from '../../sim/record.ts';
import { reserveForOneRun } from '../../sim/reserved.ts';
import { configFor } from '../../sim/settings.ts';
import { simulate } from '../../sim/simulate.ts';
import { withPes } from '../auto-pes.ts';
import { checkpointsOf, modelOfRestart } from '../checkpoint-options.ts';
import { type Call, command } from '../command.ts';
import { besideOf, Companions } from '../companions.ts';
import { EXIT, report, UsageError } from '../errors.ts';
import { finishRecording } from '../finish-recording.ts';
import {
  animatedPlaces,
  INSTRUMENT_GROUP,
  instrumentRequest,
  nothingToSample,
} from '../instrumentation.ts';
import { type Interrupt, mayBlock, onInterrupt } from '../interrupt.ts';
import { endsWithCommand } from '../leave.ts';
import { onRanks } from '../on-ranks.ts';
import { PageOut } from '../page-out.ts';
import { ProgressLine, progressOf } from '../progress.ts';
import { modelOfReplay, type Replay, replayOf } from '../replay-options.ts';
import { resultJson } from '../result-json.ts';
import { appendCsv } from '../ross-csv.ts';
import { reportText } from '../ross-report.ts';
import {
  groupsFor,
  modelExtension,
  RUNS_MODEL,
  type RunCommand,
  runCommandOf,
} from '../run-command.ts';
import { SIM_RUN_GROUPS, SIM_RUN_OPTIONS } from '../sim-run-options.ts';
import { StreamOut } from '../stream-out.ts';
import { oneLine } from '../terminal.ts';
import { traceOf } from '../trace-options.ts';
import { wantsRanks } from '../transport-option.ts';
import { version } from '../version.ts';

type SimRun = RunCommand<typeof SIM_RUN_OPTIONS>;

/** Lists the model's type errors on stderr. @throws ModelError where there are some */
async function expectTypes({ loaded: { model, path } }: SimRun): Promise<void> {
  if (path === undefined) {
    throw new UsageError(`--check: ${model.name} is built in; --check is for models given by path`);
  }
  // Only rank 0 of an MPI job prints this.
  if ((launchedRank()?.rank ?? 0) > 0) return;
  const { typeErrors } = await import('../../sim/type-check.ts');
  const errors = await typeErrors(path);
  if (errors.length === 0) return;
  for (const error of errors) process.stderr.write(`triscope: ${oneLine(error)}\n`);
  const count = errors.length === 1 ? 'one type error' : `${errors.length} type errors`;
  throw new ModelError(`model '${model.name}' has ${count}`);
}

/** Runs it. Returns the exit code. @throws what a user did wrong, or the model */
async function start(call: Call<typeof SIM_RUN_OPTIONS, LoadedModel | null>): Promise<number> {
  const asked = runCommandOf(call, SIM_RUN_OPTIONS);
  const { checkpoints, settings: goingOn } = checkpointsOf(asked);
  const replay = replayOf(asked);
  if (replay !== null && typeof asked.own.restart === 'string')
    throw new UsageError('--replay begins at the beginning: leave --restart out');
  const command = { ...asked, settings: replay?.settings ?? goingOn };
  if (command.own.check === true) await expectTypes(command);
  const interrupt = onInterrupt(mayBlock(command.loaded));
  try {
    if (wantsRanks(command)) {
      if (replay !== null) throw new UsageError('--replay: not on ranks of MPI');
      return await (await import('./sim-rank.ts')).simRank(
        command,
        checkpoints,
        call.args,
        interrupt,
      );
    }
    const settings = await withPes(command, interrupt.signal);
    return await run({ ...command, settings }, { checkpoints, replay }, call.args, interrupt);
  } finally {
    interrupt.release();
  }
}

async function run(
  { loaded, settings, own, values }: SimRun,
  {
    checkpoints,
    replay,
  }: { readonly checkpoints: CheckpointOptions; readonly replay: Replay | null },
  args: readonly string[],
  interrupt: Interrupt,
): Promise<number> {
  const { signal } = interrupt;
  const json = own.json === true;
  const to = own.stream;
  const streamsOut = to === '-';
  const config = configFor(loaded.model, settings);
  const progress = new ProgressLine(config.reportInterval, values.has('report-interval'));
  const name = own.record;
  let stream: StreamOut | PageOut | null = null;
  let companions: Companions | null = null;
  const beside = besideOf(own);
  const trace = traceOf({ own });
  // Wrong options are refused before any file is made.
  const request = instrumentRequest(
    values,
    { run: config, groups: groupsFor(loaded.model, [INSTRUMENT_GROUP]) },
    typeof name === 'string' ? recordingFolder(name) : null,
    typeof to === 'string' ? (frames, dropped) => stream?.write(frames, dropped) : null,
  );
  const places = animatedPlaces(values, loaded, config, typeof name === 'string');
  const recording =
    typeof name === 'string'
      ? new SimRecording({
          name,
          command: ['triscope', 'sim', 'run', ...args],
          version: version(),
          pes: config.pes,
        })
      : null;
  if (recording !== null) {
    recording.places = places;
    interrupt.leave(recording.ifInterrupted);
  }
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
      ...checkpoints,
      ...trace,
      ...(replay !== null && { sizedFor: replay.sizedFor }),
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
    const unsaved = result.checkpoint?.error ?? null;
    if (unsaved !== null) process.stderr.write(`triscope: no checkpoint: ${unsaved}\n`);
    const csv = own['ross-csv'];
    if (typeof csv === 'string') appendCsv(csv, recorded);
    const compared = replay?.compared(result);
    if (compared !== undefined) process.stderr.write(`triscope: ${compared.words}\n`);
    if (compared?.differs) return EXIT.failed;
    if (!result.finished) return EXIT.interrupted;
    return failed === null && unrecorded === null && unsaved === null ? 0 : EXIT.failed;
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

export const simRun = command({
  ...RUNS_MODEL,
  about:
    'Runs a simulation and prints its statistics. Options are --name=value or --name value, --no-name for switches; ROSS’s may be shortened before the = sign. mpirun -np N triscope sim run MODEL runs it with one PE on each of N ranks.',
  options: SIM_RUN_OPTIONS,
  groups: SIM_RUN_GROUPS,
  examples: ['sim run phold --pes=2 --end=1000', 'sim run phold --synch=3 --nkp=16 --record=run'],
  extend: modelExtension(SIM_RUN_GROUPS),
  around: onRanks,
  firstOf: (args) => modelOfRestart(args) ?? modelOfReplay(args),
  run: start,
});
