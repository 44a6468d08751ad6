/**
 * One host's part of the report. Fields have the meaning of geopm_report(7). Where GEOPM's own code computes something
 * else, that value is in our section (or, with `compat`, in the field itself).
 */
import { readFileSync } from 'node:fs';
import type {
  ExtraValue,
  HostReport,
  ReportFields,
  ReportRegion,
} from '../../formats/geopm/write.ts';
import { HASH_UNMARKED } from '../../model/region-hash.ts';
import type { Agent } from '../agents/agent.ts';
import { ROW } from '../attribution.ts';
import { type ExactTotals, exactTotals, type ProcessRecord } from '../exact-totals.ts';
import type { Punctuality } from './deadlines.ts';
import { Hierarchy, recordOf } from './process-record.ts';
import type { ApplicationProcess } from './process-table.ts';
import type { Sampled } from './sampled.ts';

export interface ReportedHost {
  readonly host: string;
  readonly processes: readonly ApplicationProcess[];
  readonly sampled: Sampled;
  readonly agent: Agent;
  readonly punctuality: Punctuality;
  /** Seconds between samples. */
  readonly period: number;
  readonly compat: boolean;
  /** ns of CLOCK_MONOTONIC: time zero, and now. */
  readonly zero: number;
  readonly now: number;
  /** Seconds since the command was started, if no process attached. */
  readonly elapsed: number;
  /** Seconds from the application's start to the first sample. */
  readonly startup: number;
  /** Why the report is not complete; null if it is. */
  readonly incomplete: string | null;
  /** How the command ended; null while it runs. */
  readonly exit: string | null;
  readonly warnings: readonly string[];
}

export function hostReport(state: ReportedHost): HostReport {
  const { sampled, agent, compat, processes, zero, now } = state;
  const records = processes.map((process) => recordOf(process, zero, now));
  const exact = exactTotals(records);
  const regions = exact.regions.map(({ name, hash, runtime, count }): ReportRegion => {
    const row = sampled.rowOf(hash);
    const fields = section(runtime, count, sampled.section(row, sampled.seconds(row)));
    return { name, hash, fields: new Map([...fields, ...agent.reportRegion(hash)]) };
  });
  const marked = exact.regions.some(({ runtime }) => runtime > 0);
  const unmarkedSync = sampled.seconds(ROW.unmarked);
  const unmarkedRuntime = compat ? exact.unmarkedByDifference : exact.unmarked;
  const agentHost = agent.reportHost();
  return {
    name: state.host,
    ...(agentHost.size > 0 && { agent: agentHost }),
    regions,
    ...(marked && {
      unmarked: new Map([
        ...section(unmarkedRuntime, 0, sampled.section(ROW.unmarked, unmarkedSync)),
        ...agent.reportRegion(HASH_UNMARKED),
      ]),
    }),
    ...(exact.epoch !== undefined && epochSection(exact, sampled, compat)),
    application: applicationSection(state, exact),
    extra: extraOf(state, records, exact),
  };
}

const section = (
  runtime: number,
  count: number,
  sampled: readonly (readonly [string, number])[],
): ReportFields => new Map([['runtime (s)', runtime], ['count', count], ...sampled]);

/** Counted from the first epoch of any process; in GEOPM, from the moment when the last process had reached one. */
function epochSection(
  { epoch, ended }: ExactTotals,
  sampled: Sampled,
  compat: boolean,
): { epoch?: ReportFields } {
  if (epoch === undefined) return {};
  if (!compat) {
    const runtime = Math.max(0, ended - epoch.first);
    return { epoch: section(runtime, epoch.count, sampled.section(ROW.epoch, runtime)) };
  }
  if (epoch.leastCount === 0) return {};
  const seconds = sampled.seconds(ROW.epochOfAll);
  const fields = sampled.section(ROW.epochOfAll, seconds);
  return { epoch: section(seconds, epoch.leastCount, fields) };
}

function applicationSection(state: ReportedHost, exact: ExactTotals): ReportFields {
  const { sampled, compat, processes } = state;
  const runtime = processes.length === 0 ? state.elapsed : exact.ended - exact.started;
  // Of a program that marks nothing, samples begin and end within its time: energy is that of their time.
  const sync = compat || processes.length === 0 ? sampled.seconds(ROW.application) : runtime;
  const memory = peakMemory();
  return new Map([
    ...section(runtime, 0, sampled.section(ROW.application, sync)),
    ...mpiStartup(exact),
    ['GEOPM startup (s)', state.startup],
    ['GEOPM overhead (s)', exact.overhead],
    // GEOPM prints kibibytes here, and labels them bytes.
    ...(memory === null
      ? []
      : ([['geopmctl memory HWM (B)', compat ? memory / 1024 : memory]] as const)),
    ['geopmctl network BW (B/s)', 0],
  ]);
}

/** Seconds in MPI_Init, mean over processes. Programs without MPI do not have this field. */
function mpiStartup({ regions }: ExactTotals): [string, number][] {
  const calls = regions.filter(({ name }) => name === 'MPI_Init' || name === 'MPI_Init_thread');
  if (calls.length === 0) return [];
  return [['MPI startup (s)', calls.reduce((sum, { runtime }) => sum + runtime, 0)]];
}

/** Largest memory of this process, in bytes. Source: proc(5), VmHWM. */
function peakMemory(): number | null {
  try {
    const kib = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  } catch {
    return null;
  }
}

function extraOf(
  state: ReportedHost,
  records: readonly ProcessRecord[],
  exact: ExactTotals,
): { readonly [key: string]: ExtraValue } {
  const { sampled, punctuality, warnings } = state;
  const hierarchy = new Hierarchy();
  for (const process of state.processes) {
    const ended = process.alive ? state.now : process.ended;
    hierarchy.add(process.snapshot(), (ended - process.zero) / 1e9);
    const { before } = process;
    if (before !== null) hierarchy.add(before.snapshot, before.time, -1);
  }
  const absent = sampled.absent();
  return {
    complete: state.incomplete === null,
    ...(state.incomplete !== null && { incomplete: state.incomplete }),
    ...(state.exit !== null && { exit: state.exit }),
    sampling: {
      'period (s)': state.period,
      samples: punctuality.samples,
      missed: punctuality.missed,
      'mean lateness (s)': punctuality.meanLate,
      'lateness of 99 % (s)': punctuality.late99,
      'worst lateness (s)': punctuality.worstLate,
    },
    ...(absent.length > 0 && { 'absent signals': absent }),
    ...(warnings.length > 0 && { warnings }),
    // Values of GEOPM's code for the fields that geopm_report(7) defines differently.
    geopm: {
      'application sync-runtime (s)': sampled.seconds(ROW.application),
      'unmarked runtime (s)': exact.unmarkedByDifference,
      ...(exact.epoch !== undefined && {
        'epoch count': exact.epoch.leastCount,
        'epoch runtime (s)': sampled.seconds(ROW.epochOfAll),
      }),
    },
    processes: records.map((record, k) => processValue(record, state.processes[k])),
    regions: hierarchy.value(),
  };
}

function processValue(record: ProcessRecord, process: ApplicationProcess): ExtraValue {
  const { page } = process;
  const snapshot = process.snapshot();
  const oddities: [string, number][] = [
    ['region names refused', snapshot.regionsRefused],
    ['threads refused', snapshot.threadsRefused],
    ['exits out of order', snapshot.misordered],
    ['entries not placed', snapshot.unplaced],
    ['events lost', page.eventsLost],
  ];
  return {
    pid: record.pid,
    name: page.processName,
    ...(page.rank >= 0 && { rank: page.rank }),
    ...(process.alive && { running: true }),
    ...(process.replaced && { replaced: true }),
    ...(!process.alive && !process.stopped && !process.replaced && { vanished: true }),
    'runtime (s)': record.ended - record.started,
    'unmarked (s)': Math.max(0, record.ended - record.started - record.inside),
    ...(record.epochs > 0 && { epochs: record.epochs }),
    ...Object.fromEntries(oddities.filter(([, count]) => count > 0)),
    regions: [...record.regions]
      .sort((a, b) => b.seconds - a.seconds)
      .map(({ name, count, seconds, threadSeconds }) => ({
        region: name,
        count,
        'runtime (s)': seconds,
        ...(threadSeconds > seconds && { 'runtime of all threads (s)': threadSeconds }),
      })),
  };
}
