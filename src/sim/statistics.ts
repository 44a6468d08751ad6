/** The statistics of a run, summed over its PEs. */

import type { RecordingClock, RecordingHost } from '../model/recording.ts';
import { type RunConfig, SYNCHRONISERS } from './config.ts';
import { ACTIVITIES, type Activity, C, COUNTERS, type Counter } from './counters.ts';
import { Digest } from './digest.ts';
import type { HandlerCost } from './handler-times.ts';
import type { PeStream, RecorderReport } from './instrument/recorder.ts';
import type { Model } from './model.ts';
import type { PeResult } from './pe-run.ts';
import type { Placement } from './placement.ts';
import { type ModelResults, mergeResults } from './results.ts';

/** What one PE did in a run: counts of events by kind, and seconds by activity (estimates where turns were sampled). */
export interface PeStatistics {
  readonly pe: number;
  readonly lps: number;
  /** Kernel thread, and the CPU it was bound to. */
  readonly threadId: number | null;
  readonly cpu: number | null;
  readonly counts: Readonly<Record<Counter, number>>;
  /** Seconds per activity; those that happen per event are sampled: estimates. */
  readonly seconds: Readonly<Record<Activity, number>>;
  readonly wallSeconds: number;
  readonly peakEvents: number;
  /** From a sample of its events. */
  readonly handlers: readonly HandlerCost[];
}

/** What a run did. The first part is what `sim run --json` prints. */
export interface RunResult {
  readonly model: string;
  readonly synch: number;
  readonly synchroniser: string;
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
  /** KPs of the whole run. */
  readonly kps: number;
  readonly lps: number;
  /** How LPs are placed on PEs. */
  readonly mapping: 'linear' | 'round-robin' | 'custom';
  readonly seed: readonly number[];
  readonly end: number;
  /** From the first event to the last, on the slowest PE; set-up not counted. */
  readonly wallSeconds: number;
  /** Set-up included. */
  readonly totalSeconds: number;
  /** Net events per second of `wallSeconds`. */
  readonly eventRate: number;
  readonly eventsProcessed: number;
  readonly eventsRolledBack: number;
  readonly eventsAborted: number;
  readonly netEvents: number;
  readonly eventsPastEnd: number;
  readonly totalRollbacks: number;
  readonly primaryRollbacks: number;
  readonly secondaryRollbacks: number;
  /** Per cent: 100 (1 - rolled back / net); 0 where net is not positive. May be far below 0. */
  readonly efficiency: number;
  readonly fossilCollects: number;
  readonly gvtComputations: number;
  readonly forcedGvts: number;
  readonly allReduces: number;
  readonly remoteSends: number;
  readonly remoteReceives: number;
  readonly remoteEvents: number;
  /** Messages that waited for room at their receiver, in slots: most take one. */
  readonly heldBack: number;
  readonly eventTies: number;
  readonly cancelbacks: number;
  readonly stateDigest: string;
  readonly eventDigest: string;
  readonly criticalPath: number;
  /** Least offset of an event in a conservative run, in virtual time; null in others. */
  readonly leastOffset: number | null;
  /** The same of events to other LPs: what --lookahead may be at most. */
  readonly leastDelay: number | null;
  /** Virtual time at which the model stopped the run (`lp.stop`); null where it did not. */
  readonly stoppedAt: number | null;
  /** Whether the end was reached; else the run was interrupted. */
  readonly finished: boolean;
  /** Virtual time before which all is committed. */
  readonly gvt: number;
  /** Most event records in use at once, summed over PEs, and bytes of one. */
  readonly peakEvents: number;
  readonly eventBytes: number;
  readonly lpBytes: number;
  /** The largest resident memory of the whole process so far. */
  readonly peakRssBytes: number;
  readonly perPe: readonly PeStatistics[];
  /** What the model's `final` handlers reported. */
  readonly results: ModelResults;
  readonly config: RunConfig;
  /** What was recorded, stream by stream of each PE; empty where nothing was. */
  readonly streams: readonly PeStream[];
  /** Where it went. */
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

/** Adds up what the PEs did. GVT computations and all-reduces are joint, so PE 0's stand for all. */
export function summarise(
  model: Model,
  config: RunConfig,
  placement: Placement,
  parts: readonly PeResult[],
  places: readonly { readonly threadId: number | null; readonly cpu: number | null }[],
  totalSeconds: number,
): RunResult {
  const sum = (name: Counter) => parts.reduce((total, p) => total + p.counts[C[name]], 0);
  const joint = (name: Counter) => parts[0]?.counts[C[name]] ?? 0;
  const digest = (pick: (p: PeResult) => readonly [number, number]) => {
    const d = new Digest();
    for (const p of parts) d.merge(...pick(p));
    return d.toString();
  };
  const processed = sum('eventsProcessed');
  const rolledBack = sum('eventsRolledBack');
  const net = processed - rolledBack;
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
    totalSeconds,
    eventRate: wallSeconds > 0 ? net / wallSeconds : 0,
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
    gvtComputations: joint('gvtComputations'),
    forcedGvts: sum('forcedGvts'),
    allReduces: joint('allReduces'),
    remoteSends: sum('remoteSends'),
    remoteReceives: sum('remoteReceives'),
    remoteEvents: sum('remoteEvents'),
    heldBack: parts.reduce((total, p) => total + p.heldBack, 0),
    eventTies: sum('eventTies'),
    cancelbacks: sum('cancelbacks'),
    stateDigest: digest((p) => p.stateDigest),
    eventDigest: digest((p) => p.eventDigest),
    criticalPath: Math.max(0, ...parts.map((p) => p.criticalPath)),
    leastOffset: leastOf(parts.map((p) => p.leastOffset)),
    leastDelay: leastOf(parts.map((p) => p.leastDelay)),
    stoppedAt: leastOf(parts.map((p) => p.stoppedAt)),
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
      handlers: p.handlers,
    })),
    results: mergeResults(parts.map((p) => p.results)),
    streams: parts.flatMap((p) => p.streams.map((stream) => ({ pe: p.pe, ...stream }))),
    config,
  };
}
