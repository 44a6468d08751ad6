/** What tests of `triscope export` have in common: a folder, a recording in it, and traces as they are read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROSS_PE } from '../../../src/model/schemas/ross.ts';
import type { Trace, TraceEvent } from '../../formats/trace-event/rules.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from '../../query/support/recording.ts';
import { temporaryFolder } from './run.ts';

/** Of all files that one process runs: none of them removes it. */
export const folder = temporaryFolder();
export const inFolder = (name: string) => join(folder, name);

export const small = writeFolder(inFolder('small.tri'), {
  'recording.json': recordingOf(),
  'extra.frames': framesOf(
    batchOf(
      ROSS_PE,
      [1, 2].map((real_time) => ({
        real_time,
        pe_id: 0,
        mode: 'gvt',
        gvt: 10 * real_time,
        events_processed: 5,
        efficiency: 100,
      })),
    ),
  ),
  'node/h1/1': rawStats(
    'h1',
    [0, 1, 2].map((s) => ({ time: NOON + s, cpus: [{ user: 100 * s }, { user: 7 * s }] })),
  ),
});

export const traceFrom = (file: string): Trace => JSON.parse(readFileSync(file, 'utf8')) as Trace;
export const of = (trace: Trace, ph: string): TraceEvent[] =>
  trace.traceEvents.filter((event) => event.ph === ph);
export const processes = (trace: Trace): Map<number, unknown> =>
  new Map(
    of(trace, 'M')
      .filter(({ name }) => name === 'process_name')
      .map(({ pid, args }) => [pid, args?.name]),
  );
