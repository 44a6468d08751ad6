/** The charts of a recorded command's threads: their time on a CPU, waiting for one, standing still, and which CPU it is. */
import {
  inputsOf,
  type Measure,
  THREAD_RUNNING,
  THREAD_WAITING,
} from '../../../src/model/measures/index.ts';
import type { EntityBins } from '../../../src/view/series/table.ts';
import { percent } from '../figures.ts';
import type { DrawnLine } from '../parts/lines.ts';
import type { PageSource } from '../source.ts';
import type { DrawnLane, LaneChart, LaneView } from './lane.ts';
import { type ProcessNames, processNames } from './process-names.ts';

const TABLE = 'process_thread';
/** Number of threads that are drawn: those that ran most in the window. */
const MOST = 8;
/** Threads that ran less get no line if others ran more. */
const LITTLE = 0.005;

interface Thread {
  readonly entity: string;
  readonly label: string;
}

const seriesOf = (source: PageSource, view: LaneView, keys: readonly string[], bins = view.bins) =>
  source.series(TABLE, keys, view.from, view.to, bins);

const processOf = (entity: string): string => entity.split('/').slice(0, 2).join('/');

/**
 * “PE 1”, “rank 1, solver”, “solver 812”, “thread 815 of solver 812”; “process 812” where no name is known; with the host where
 * there are several.
 */
export function labelOf(
  entity: string,
  { facts }: Pick<LaneView, 'facts'>,
  names: ProcessNames,
): string {
  const [host, process, thread] = entity.split('/');
  const pe = facts.pes.find((one) => String(one.threadId) === thread && one.host === host);
  if (pe !== undefined) return `PE ${pe.pe}`;
  const { name = '', rank = null } = names.get(processOf(entity)) ?? {};
  const own = name === '' ? `process ${process}` : `${name} ${process}`;
  const called = rank === null ? own : [`rank ${rank}`, name].filter(Boolean).join(', ');
  const where = facts.hosts.length > 1 ? ` on ${host}` : '';
  return process === thread ? `${called}${where}` : `thread ${thread} of ${called}${where}`;
}

/** The threads that ran most, without those that hardly ran; in a command that mostly waits, all ran little. */
export function worthALine<T extends { readonly share: number }>(threads: readonly T[]): T[] {
  const ran = threads.filter(({ share }) => share >= 100 * LITTLE);
  const all = threads.length <= MOST || ran.length === 0;
  return [...(all ? threads : ran)].sort((a, b) => b.share - a.share).slice(0, MOST);
}

/** The threads that ran most, in the order of their numbers; for a PE, its threads alone. */
async function busiest(source: PageSource, view: LaneView): Promise<readonly Thread[]> {
  const whole = await seriesOf(source, view, inputsOf(THREAD_RUNNING), 1);
  const own = view.facts.pes.find(({ pe }) => pe === view.pe)?.threadId ?? null;
  const shares = whole
    .filter(({ entity }) => own === null || entity.endsWith(`/${own}`))
    .map(({ entity, mean }) => ({ entity, share: (mean[0] || 0) * THREAD_RUNNING.factor }));
  const some = worthALine(shares);
  const names = await processNames(source, [
    ...new Set(some.map(({ entity }) => processOf(entity))),
  ]);
  return some.map(({ entity }) => ({ entity, label: labelOf(entity, view, names) }));
}

/** A line of each of these threads; null where none was sampled. */
async function linesOf(
  source: PageSource,
  view: LaneView,
  keys: readonly string[],
  factor: number,
): Promise<readonly DrawnLine[] | null> {
  const threads = await busiest(source, view);
  if (threads.length === 0) return null;
  const [all, whole] = await Promise.all([
    seriesOf(source, view, keys),
    seriesOf(source, view, keys, 1),
  ]);
  const of = (some: readonly EntityBins[], entity: string) =>
    some.find((one) => one.entity === entity)?.mean ?? new Float32Array(0);
  const lines = threads
    .map(({ entity, label }) => ({
      label,
      values: Float64Array.from(of(all, entity), (value) => value * factor),
      mean: (of(whole, entity)[0] ?? Number.NaN) * factor,
    }))
    .filter(({ values }) => values.length > 0);
  return lines.length === 0 ? null : lines;
}

const mostOf = (lines: readonly DrawnLine[]): DrawnLine =>
  lines.reduce((best, one) => ((one.mean ?? 0) > (best.mean ?? 0) ? one : best));

/** The value that comes most often; NaN of none. */
function mostOften(values: ArrayLike<number>): number {
  const counts = new Map<number, number>();
  for (const value of Array.from(values).filter(Number.isFinite)) {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].reduce((best, one) => (one[1] > best[1] ? one : best), [Number.NaN, 0])[0];
}

/** A share of each thread's time, and a sentence about the thread that has the most of it. */
const shareChart = (
  own: { readonly id: string; readonly title: string; readonly help: string },
  measure: Measure,
  sentenceOf: (label: string, share: number) => string,
): LaneChart => ({
  ...own,
  lane: 'threads',
  unit: '%',
  stacked: false,
  of: 'thread',
  async draw(source, view): Promise<DrawnLane | null> {
    const lines = await linesOf(source, view, inputsOf(measure), measure.factor);
    if (lines === null) return null;
    const { label, mean } = mostOf(lines);
    return { lines, sentence: sentenceOf(label, mean ?? 0) };
  },
});

const RUNNING = shareChart(
  {
    id: 'threads',
    title: 'Threads on a CPU',
    help: 'Share of time for which each of the command’s threads ran. Only the threads that ran most in this window are shown.',
  },
  THREAD_RUNNING,
  (label, share) => `${label} ran for ${percent(share)} of this window.`,
);

const WAITING = shareChart(
  {
    id: 'thread-waits',
    title: 'Threads waiting for a CPU',
    help: 'Share of time for which each thread was ready to run while its CPU ran something else. The kernel counts a wait when it ends, so a peak can exceed 100.',
  },
  THREAD_WAITING,
  (label, share) =>
    share >= 1
      ? `${label} waited the most: ${percent(share)} of the time, others used its CPU.`
      : 'No thread waited for a CPU.',
);

const BLOCKED: LaneChart = {
  id: 'thread-blocks',
  lane: 'threads',
  title: 'Threads standing still',
  help: 'Share of samples, ten a second, in which a device blocked each of them (state D), or it was stopped (T). A thread that neither runs, waits for a CPU nor stands still is asleep.',
  unit: '%',
  stacked: false,
  of: 'thread',
  async draw(source, view): Promise<DrawnLane | null> {
    const lines = await linesOf(source, view, ['blocked'], 100);
    if (lines === null) return null;
    const top = mostOf(lines);
    const sentence =
      (top.mean ?? 0) >= 1
        ? `${top.label} stood still the most: in ${percent(top.mean ?? 0)} of the samples.`
        : 'None of them stood still.';
    return { lines, sentence };
  },
};

const PLACES: LaneChart = {
  id: 'thread-cpus',
  lane: 'threads',
  title: 'CPU of each thread',
  help: 'The CPU on which each thread ran last and, beside its name, the one on which it ran most. Between two numbers, the thread moved within the bin.',
  unit: '',
  stacked: false,
  of: 'thread',
  async draw(source, view): Promise<DrawnLane | null> {
    const all = await linesOf(source, view, ['cpu'], 1);
    if (all === null) return null;
    // CPU numbers have no mean: for the window, the most frequent CPU is given.
    const lines = all.map((line) => ({ ...line, mean: mostOften(line.values) }));
    const moved = lines.filter(
      ({ values }) => new Set(Array.from(values).filter(Number.isFinite)).size > 1,
    );
    const sentence =
      moved.length === 0
        ? 'Each thread stayed on its CPU.'
        : `${moved.length} of ${lines.length} moved between CPUs.`;
    return { lines, sentence };
  },
};

export const THREAD_CHARTS: readonly LaneChart[] = [RUNNING, WAITING, BLOCKED, PLACES];
