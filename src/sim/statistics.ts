/** The statistics of a run, summed over its PEs. */

import type { RecordingClock, RecordingHost } from '../model/recording.ts';
import type { Checkpoint } from './checkpoint/file.ts';
import type { WrittenCheckpoint } from './checkpoint/writer.ts';
import { type RunConfig, SYNCHRONISERS } from './config.ts';
import { ACTIVITIES, type Activity, C, COUNTERS, type EngineCounter, JOINT } from './counters.ts';
import { Digest } from './digest.ts';
import type { HandlerCost } from './handler-times.ts';
import type { PeStream, RecorderReport } from './instrument/recorder.ts';
import type { Model } from './model.ts';
import type { PeResult } from './pe-run.ts';
import type { Placement } from './placement.ts';
import { type ModelResults, mergeResults } from './results.ts';

/** What one PE did in a run: counts of events by kind, and seconds by activity (estimates where turns were sampled). */
export interface PeStatistics {
  /** Number of the PE, from 0 on. */
  readonly pe: number;
  /** Number of its LPs. */
  readonly lps: number;
  /** Id of its thread in the kernel; null where not known. */
  readonly threadId: number | null;
  /** Number of the CPU that it was bound to; null where it was bound to none. */
  readonly cpu: number | null;
  /** Events, rollbacks, messages and the like, by name. */
  readonly counts: Readonly<Record<EngineCounter, number>>;
  /** Seconds per activity; those that happen per event are sampled: estimates. */
  readonly seconds: Readonly<Record<Activity, number>>;
  /** Seconds from its first event to its last. */
  readonly wallSeconds: number;
  /** Most event records in use at once. */
  readonly peakEvents: number;
  /** Seconds for which event memory was short, so that the PE stayed close to GVT. */
  readonly shortSeconds: number;
  /** Time of the model's handlers, by LP type, from a sample of its events. */
  readonly handlers: readonly HandlerCost[];
}

/** What a run did. The first part is what `sim run --json` prints. */
export interface RunResult {
  /** Name of the model. */
  readonly model: string;
  /** ROSS's number of the synchroniser; see `SYNCHRONISERS`. */
  readonly synch: number;
  /** Name of the synchroniser. */
  readonly synchroniser: string;
  /** Number of PEs. */
  readonly pes: number;
  /** Present if PEs were the ranks of an MPI job. */
  readonly transport?: 'mpi';
  /** Where each rank ran, over MPI. */
  readonly rankHosts?: readonly RecordingHost[];
  /** Whether ranks shared memory: all of them, some with some (those of a machine), or none; over MPI. */
  readonly sharedMemory?: 'all' | 'some' | 'none';
  /** Messages between ranks, each a batch of events and anti-messages. */
  readonly batches?: number;
  /** How far the clocks of those machines were apart, where that was measured. */
  readonly clocks?: readonly RecordingClock[];
  /** Number of KPs, all PEs together. */
  readonly kps: number;
  /** Number of LPs, all PEs together. */
  readonly lps: number;
  /** How LPs are placed on PEs. */
  readonly mapping: 'linear' | 'round-robin' | 'custom';
  /** The seeds of the LPs' random streams. */
  readonly seed: readonly number[];
  /** Virtual time at which the run was to end. */
  readonly end: number;
  /** Seconds from the first event to the last, on the slowest PE; set-up not counted. */
  readonly wallSeconds: number;
  /** Seconds of the recording's clock at which PEs began to handle events; null where nothing is recorded. */
  readonly began: number | null;
  /** Seconds, set-up included. */
  readonly totalSeconds: number;
  /** Net events per second of `wallSeconds`. */
  readonly eventRate: number;
  /** Number of events handled, those that were rolled back later included. */
  readonly eventsProcessed: number;
  /** Number of events whose effects were undone. */
  readonly eventsRolledBack: number;
  /** Number of events that were aborted because event memory was short; part of those rolled back. */
  readonly eventsAborted: number;
  /** Number of events handled less those rolled back: after a whole run, the events committed. */
  readonly netEvents: number;
  /** Number of events that were not created because they lay at or past the end. */
  readonly eventsPastEnd: number;
  /** Number of rollbacks; each may undo several events. */
  readonly totalRollbacks: number;
  /** Rollbacks because of an event that came late. */
  readonly primaryRollbacks: number;
  /** Rollbacks because an event that had been handled was cancelled. */
  readonly secondaryRollbacks: number;
  /** Per cent: 100 (1 - rolled back / net); 0 where net is not positive. May be far below 0. */
  readonly efficiency: number;
  /** How often PEs freed the memory of committed events. */
  readonly fossilCollects: number;
  /** Number of GVT computations, which all PEs make together. */
  readonly gvtComputations: number;
  /** Those that were asked for before their time: a PE was out of event memory, or had nothing left to do. */
  readonly forcedGvts: number;
  /** Number of reductions over all PEs in these computations. */
  readonly allReduces: number;
  /** Number of messages to other PEs, anti-messages included. */
  readonly remoteSends: number;
  /** Number of messages from other PEs, anti-messages included. */
  readonly remoteReceives: number;
  /** Number of committed events that came from another PE. */
  readonly remoteEvents: number;
  /** Number of messages that waited for room at their receiver, in slots: most take one. */
  readonly heldBack: number;
  /** Number of events with the same receive time as the one handled before. */
  readonly eventTies: number;
  /** Number of events that were rolled back to free memory. */
  readonly cancelbacks: number;
  /** Digest of the final states of all LPs, 16 hexadecimal digits: equal for equal results. */
  readonly stateDigest: string;
  /** Digest of all committed events, 16 hexadecimal digits. */
  readonly eventDigest: string;
  /** Number of events in the longest chain in which each event depends on the one before. */
  readonly criticalPath: number;
  /** Least offset of an event in a conservative run, in virtual time; null in others. */
  readonly leastOffset: number | null;
  /** The same of events to other LPs: what --lookahead may be at most. */
  readonly leastDelay: number | null;
  /** Virtual time at which the model stopped the run (`lp.stop`); null where it did not. */
  readonly stoppedAt: number | null;
  /** Virtual time of the checkpoint from which the run continued: counts, digests and results are those of the whole run. */
  readonly restartedAt?: number;
  /** The result of the run's checkpoints, if it was to make some. */
  readonly checkpoint?: WrittenCheckpoint;
  /** Whether the end was reached; else the run was interrupted. */
  readonly finished: boolean;
  /** Virtual time before which all is committed. */
  readonly gvt: number;
  /** Most event records in use at once, summed over PEs. */
  readonly peakEvents: number;
  /** Bytes of an event record, its message included. */
  readonly eventBytes: number;
  /** Bytes of an LP's block of memory, which holds its state. */
  readonly lpBytes: number;
  /** The largest resident memory of the whole process so far, in bytes. */
  readonly peakRssBytes: number;
  /** One entry for each PE. */
  readonly perPe: readonly PeStatistics[];
  /** The results of the model's `final` handlers. */
  readonly results: ModelResults;
  /** The settings in effect. */
  readonly config: RunConfig;
  /** What was recorded, stream by stream of each PE; empty where nothing was. */
  readonly streams: readonly PeStream[];
  /** Where the records went. */
  readonly instrumentation?: RunInstrumentation;
  /** Folder of the recording, if one was made. */
  readonly recording?: string;
}

export interface RunInstrumentation extends RecorderReport {
  /** Nanoseconds since 1970 at the run's zero, from which real times count, as decimal digits. */
  readonly zero: string;
}

function named<T extends string>(
  names: readonly T[],
  values: readonly number[],
): Record<T, number> {
  return Object.fromEntries(names.map((name, k) => [name, values[k]])) as Record<T, number>;
}

function leastOf(offsets: readonly (number | null)[]): number | null {
  const known = offsets.filter((offset) => offset !== null);
  return known.length > 0 ? Math.min(...known) : null;
}

/** Sums the counts of the PEs and those before the checkpoint `from`. */
export function summarise(
  model: Model,
  config: RunConfig,
  placement: Placement,
  parts: readonly PeResult[],
  places: readonly { readonly threadId: number | null; readonly cpu: number | null }[],
  totalSeconds: number,
  from: Checkpoint | null = null,
): RunResult {
  const done = from?.head.done;
  const before = (name: EngineCounter) => done?.counts[C[name]] ?? 0;
  const sum = (name: EngineCounter) =>
    (JOINT.has(name) ? parts.slice(0, 1) : parts).reduce(
      (total, p) => total + p.counts[C[name]],
      before(name),
    );
  const digest = (pick: (p: PeResult) => readonly [number, number], d = new Digest()) => {
    for (const p of parts) d.merge(...pick(p));
    return d.toString();
  };
  const events = new Digest();
  if (done !== undefined) events.merge(...done.eventDigest);
  const processed = sum('eventsProcessed');
  const rolledBack = sum('eventsRolledBack');
  const net = processed - rolledBack;
  const netBefore = before('eventsProcessed') - before('eventsRolledBack');
  const wallSeconds = Math.max(...parts.map((p) => p.wallSeconds));
  return {
    model: model.name,
    synch: SYNCHRONISERS[config.synch],
    synchroniser: config.synch,
    pes: config.pes,
    kps: config.nkp * config.pes,
    lps: placement.lps,
    mapping: typeof model.map === 'object' ? 'custom' : model.map,
    seed: config.seeds,
    end: config.end,
    wallSeconds,
    began: leastOf(parts.map(({ began }) => began)),
    totalSeconds,
    eventRate: wallSeconds > 0 ? (net - netBefore) / wallSeconds : 0,
    eventsProcessed: processed,
    eventsRolledBack: rolledBack,
    eventsAborted: sum('eventsAborted'),
    netEvents: net,
    eventsPastEnd: sum('eventsPastEnd'),
    totalRollbacks: sum('primaryRollbacks') + sum('secondaryRollbacks'),
    primaryRollbacks: sum('primaryRollbacks'),
    secondaryRollbacks: sum('secondaryRollbacks'),
    efficiency: net > 0 ? 100 * (1 - rolledBack / net) : 0,
    fossilCollects: sum('fossilCollects'),
    gvtComputations: sum('gvtComputations'),
    forcedGvts: sum('forcedGvts'),
    allReduces: sum('allReduces'),
    remoteSends: sum('remoteSends'),
    remoteReceives: sum('remoteReceives'),
    remoteEvents: sum('remoteEvents'),
    heldBack: parts.reduce((total, p) => total + p.heldBack, 0),
    eventTies: sum('eventTies'),
    cancelbacks: sum('cancelbacks'),
    stateDigest: digest((p) => p.stateDigest),
    eventDigest: digest((p) => p.eventDigest, events),
    criticalPath: Math.max(0, ...parts.map((p) => p.criticalPath)),
    leastOffset: leastOf([done?.leastOffset ?? null, ...parts.map((p) => p.leastOffset)]),
    leastDelay: leastOf([done?.leastDelay ?? null, ...parts.map((p) => p.leastDelay)]),
    stoppedAt: leastOf(parts.map((p) => p.stoppedAt)),
    ...(from !== null && { restartedAt: from.head.time }),
    finished: parts.every((p) => p.finished),
    gvt: Math.min(config.end, ...parts.map((p) => p.gvt)),
    peakEvents: parts.reduce((total, p) => total + p.peakEvents, 0),
    eventBytes: parts[0]?.eventBytes ?? 0,
    lpBytes: parts[0]?.lpBytes ?? 0,
    peakRssBytes: process.resourceUsage().maxRSS * 1024,
    perPe: parts.map((p) => ({
      pe: p.pe,
      lps: p.lps,
      threadId: places[p.pe]?.threadId ?? null,
      cpu: places[p.pe]?.cpu ?? null,
      counts: named(COUNTERS, p.counts),
      seconds: named(ACTIVITIES, p.seconds),
      wallSeconds: p.wallSeconds,
      peakEvents: p.peakEvents,
      shortSeconds: p.shortSeconds,
      handlers: p.handlers,
    })),
    results: mergeResults(parts.map((p) => p.results)),
    streams: parts.flatMap((p) => p.streams.map((stream) => ({ pe: p.pe, ...stream }))),
    config,
  };
}
