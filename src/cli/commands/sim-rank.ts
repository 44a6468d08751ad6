/** `mpirun -np N triscope sim run MODEL [options]`: this process is one rank, with one PE. */

import { recordingFolder } from '../../formats/recording-folder.ts';
import type { MpiWorld } from '../../os/mpi/world.ts';
import type { CheckpointOptions } from '../../sim/checkpoint/run.ts';
import type { OutputLine } from '../../sim/pe.ts';
import { SimRecording } from '../../sim/record.ts';
import { configFor, runsOnOnePe } from '../../sim/settings.ts';
import { simulateRank } from '../../sim/simulate-rank.ts';
import type { RunResult } from '../../sim/statistics.ts';
import { besideOf } from '../companions.ts';
import { EXIT, report, UsageError } from '../errors.ts';
import { finishRecording } from '../finish-recording.ts';
import {
  animatedPlaces,
  INSTRUMENT_GROUP,
  instrumentRequest,
  nothingToSample,
} from '../instrumentation.ts';
import type { Interrupt } from '../interrupt.ts';
import { ProgressLine, progressOf } from '../progress.ts';
import { hostSources, markRank, RankCompanions, type RankHostFiles } from '../rank-companions.ts';
import { asRank, expectSameCommand } from '../ranks.ts';
import { resultJson } from '../result-json.ts';
import { appendCsv } from '../ross-csv.ts';
import { reportText } from '../ross-report.ts';
import { groupsFor, type RunCommand } from '../run-command.ts';
import type { SIM_RUN_OPTIONS } from '../sim-run-options.ts';
import { traceOf } from '../trace-options.ts';
import { mostSharing } from '../transport-option.ts';
import { version } from '../version.ts';

type SimRun = RunCommand<typeof SIM_RUN_OPTIONS>;

/** Runs it. Returns the exit code; a failure ends all ranks. */
export async function simRank(
  { loaded, settings, own, values }: SimRun,
  checkpoints: CheckpointOptions,
  args: readonly string[],
  interrupt: Interrupt,
): Promise<number> {
  if (own.stream !== undefined) {
    throw new UsageError(
      '--stream does not work over MPI: use --transport=threads, on one machine',
    );
  }
  const pages = besideOf(own)?.regions ? await markRank() : undefined;
  return asRank((world) => {
    expectSameCommand(world, args);
    return run(world, { loaded, settings, own, values }, checkpoints, args, interrupt, pages);
  });
}

async function run(
  world: MpiWorld,
  { loaded, settings, own, values }: SimRun,
  checkpoints: CheckpointOptions,
  args: readonly string[],
  interrupt: Interrupt,
  pages: string | undefined,
): Promise<number> {
  if (settings.pes !== undefined && settings.pes !== world.size) {
    throw new UsageError(
      `--pes=${settings.pes}: over MPI there is one PE per rank, here ${world.size}; leave --pes out`,
    );
  }
  if (world.size > 1 && settings.synch !== undefined && runsOnOnePe(settings.synch)) {
    throw new UsageError(
      `--synch=${settings.synch} runs on one PE, but there are ${world.size} ranks: start it without mpirun, or with -np 1`,
    );
  }
  const json = own.json === true;
  const progress = new ProgressLine(settings.reportInterval ?? 0.01, values.has('report-interval'));
  const name = own.record;
  const folder = typeof name === 'string' ? recordingFolder(name) : null;
  const config = configFor(loaded.model, { ...settings, pes: world.size });
  const groups = groupsFor(loaded.model, [INSTRUMENT_GROUP]);
  const request = instrumentRequest(values, { run: config, groups }, folder, null);
  const first = world.rank === 0;
  const notes = [...request.notes, ...nothingToSample(request.config, loaded.model)];
  if (first) for (const note of notes) process.stderr.write(`triscope: ${note}\n`);
  const command = ['mpirun', '-np', `${world.size}`, 'triscope', 'sim', 'run', ...args];
  const places = animatedPlaces(values, loaded, config, folder !== null);
  const recording =
    first && typeof name === 'string'
      ? new SimRecording({ name, command, version: version(), pes: world.size })
      : null;
  if (recording !== null) {
    recording.places = places;
    interrupt.leave(recording.ifInterrupted);
  }
  const beside = besideOf(own);
  const trace = traceOf({ own });
  const profile = loaded.model.name;
  const asked = { ...settings, instrument: request.config };
  try {
    const companions =
      beside === null || folder === null
        ? null
        : await RankCompanions.start(world, { ...beside, profile, folder }, pages);
    const { finished, result } = await simulateRank(world, loaded, asked, {
      ...checkpoints,
      ...trace,
      signal: interrupt.signal,
      onEnd: interrupt.writing,
      clocks: folder !== null,
      mostSharing: mostSharing({ own }),
      onOutput: (lines: readonly OutputLine[]) => {
        const out = json ? process.stderr : process.stdout;
        out.write(`${lines.map((line) => line.text).join('\n')}\n`);
      },
      instrument: request.output,
      ...(first && progress.on && { onProgress: (now) => progress.update(now) }),
    });
    progress.clear();
    if (result !== null) {
      progress.end(progressOf(result));
      noteNotShared(result, mostSharing({ own }));
    }
    const hosts = (await companions?.stop()) ?? [];
    const complete = result === null || print(result, recording, hosts, { loaded, own });
    if (!finished) return EXIT.interrupted;
    return complete ? 0 : EXIT.failed;
  } catch (error) {
    progress.clear();
    recording?.fail(error, interrupt.signal.aborted ? 'interrupted' : 'failed');
    throw error;
  }
}

/** Says where ranks of one machine could not share its memory. */
function noteNotShared(result: RunResult, sharing: number): void {
  const names = (result.rankHosts ?? []).map(({ name }) => name);
  if (sharing === 1 || result.sharedMemory !== 'none') return;
  if (new Set(names).size === names.length) return;
  process.stderr.write(
    'triscope: ranks of one machine could not share memory (no room in /dev/shm?): their events went through MPI\n',
  );
}

/** Prints the result and completes the recording; false if either failed. */
function print(
  result: RunResult,
  recording: SimRecording | null,
  hosts: readonly RankHostFiles[],
  { loaded, own }: Pick<SimRun, 'loaded' | 'own'>,
): boolean {
  const lost = result.instrumentation?.error ?? null;
  if (lost !== null) process.stderr.write(`triscope: instrumentation is incomplete: ${lost}\n`);
  const names = (result.rankHosts ?? []).map(({ name }) => name);
  const others = hostSources(hosts, names, result.clocks ?? [], recording?.zero ?? '0');
  const { recorded, unrecorded } = finishRecording(recording, result, loaded.model, others);
  if (unrecorded !== null) report(unrecorded);
  process.stdout.write(own.json === true ? resultJson(recorded) : reportText(recorded));
  const csv = own['ross-csv'];
  if (typeof csv === 'string') appendCsv(csv, recorded);
  const unsaved = result.checkpoint?.error ?? null;
  if (unsaved !== null) process.stderr.write(`triscope: no checkpoint: ${unsaved}\n`);
  return lost === null && unrecorded === null && unsaved === null;
}
