/** Facts about a run as a whole that a recording holds: its settings, and values for which ROSS's samples have no field. */
import { appendFileSync } from 'node:fs';
import { FrameEncoder } from '../formats/frames/index.ts';
import type { Batch, Schema } from '../model/metric.ts';
import { RowBatch } from '../model/rows.ts';
import { SIM_HANDLER, SIM_PE, SIM_RUN } from '../model/schemas/sim.ts';
import { allowedCpus } from '../os/affinity.ts';
import type { RunResult } from './statistics.ts';

type Values = Parameters<RowBatch['add']>[0];

function batchOf(schema: Schema, rows: readonly Values[]): Batch[] {
  const some = new RowBatch(schema);
  for (const row of rows) some.add(row);
  return [some.take() ?? []].flat();
}

/** Over MPI each rank has its own CPUs, which are not counted: assumed to be as many as PEs. */
const cpusOf = (result: RunResult): number =>
  result.transport === 'mpi' ? result.pes : allowedCpus().length;

function factBatches(result: RunResult): Batch[] {
  const { config, perPe, totalSeconds: at } = result;
  const missing = Number.NaN;
  const run = [
    ...[at, result.model, result.synchroniser, config.pes, cpusOf(result), result.lps],
    ...[config.nkp, config.batch, config.gvtInterval, config.end, config.lookahead],
    Number.isFinite(config.maxOptLookahead) ? config.maxOptLookahead : missing,
    ...[config.maxMemory, result.eventBytes, result.wallSeconds, result.gvtComputations],
    result.leastDelay ?? missing,
  ];
  const pes = perPe.map(({ pe, lps, counts, seconds, shortSeconds }) => [
    ...[at, pe, lps, counts.committed, counts.idleTurns, counts.cancelbacks, counts.forcedGvts],
    shortSeconds,
    ...[seconds.gvt, seconds.fossilCollect, seconds.instrumentation, counts.steps],
  ]);
  const handlers = perPe.flatMap(({ pe, handlers: costs }) =>
    costs.map(({ type, lps, timed, seconds }) => [at, pe, type, lps, timed, seconds]),
  );
  return [...batchOf(SIM_RUN, [run]), ...batchOf(SIM_PE, pes), ...batchOf(SIM_HANDLER, handlers)];
}

/** Appends them to a file of frames. A failed write of that file has been reported before. */
export function appendFacts(file: string, result: RunResult): void {
  const encoder = new FrameEncoder();
  try {
    for (const batch of factBatches(result))
      appendFileSync(file, Buffer.concat(encoder.encode(batch)));
  } catch {
    // The recording lacks these facts, as it lacks samples.
  }
}
