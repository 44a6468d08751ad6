/** Queries on a recorded command's threads that several rules share. */
import { meanOver } from '../model/measures/index.ts';
import { asRows, counted, OWN, type Subject, type Threshold } from './finding.ts';
import { type LossWindow, type Stretch, stretchOf } from './when.ts';

/** Less time is not enough for a finding. */
export const ENOUGH: Threshold = {
  value: 1,
  unit: 's',
  means: 'of samples at least, in two windows or more: less proves nothing about a thread',
  source: `${OWN}: a single sample may be chance`,
};

/** A thread over the whole run; shares are of its time, null if not measured. */
export interface ThreadRun {
  readonly rank: number | null;
  readonly host: string;
  readonly process_id: number;
  readonly thread_id: number;
  readonly process: string;
  readonly thread: string;
  /** The CPU on which it ran most. */
  readonly cpu: number;
  readonly seconds: number;
  readonly running: number;
  readonly waiting: number | null;
  readonly stolen: number | null;
  readonly others: number | null;
  readonly samples: number;
  readonly blocked: number;
  readonly moves: number;
  readonly minor_faults: number;
  readonly major_faults: number;
}

export const THREADS = `SELECT any_value(rank) AS rank, host, process_id, thread_id, any_value(process) AS process, any_value(thread) AS thread,
  arg_max(cpu, running * seconds) AS cpu, sum(seconds) AS seconds, ${meanOver('running')} AS running, ${meanOver('waiting')} AS waiting,
  ${meanOver('steal')} AS stolen, ${meanOver('others')} AS others, sum(samples)::DOUBLE AS samples, sum(blocked)::DOUBLE AS blocked,
  sum(moves)::DOUBLE AS moves, ${meanOver('minor_faults')} AS minor_faults, ${meanOver('major_faults')} AS major_faults
FROM rank_on_node GROUP BY host, process_id, thread_id HAVING sum(seconds) >= ${ENOUGH.value} AND count(*) >= 2
ORDER BY host, process_id, thread_id`;

/** Threads with enough data. */
export const threadsOf = ({ recording }: Subject): Promise<ThreadRun[]> =>
  recording.query<ThreadRun>(THREADS);

/**
 * Share of its time, 0 to 1, in which a thread was ready to run and did not run: it waited for its CPU, or its CPU was
 * stolen. Stolen time is split in proportion to what ran there: a sleeping thread loses nothing. What was not measured
 * counts as no loss.
 */
export function lostOf({ waiting, stolen, running, others }: ThreadRun): number {
  const ran = running + (others ?? 0);
  return (waiting ?? 0) + (ran > 0 ? ((stolen ?? 0) * running) / ran : 0);
}

/** A thread's loss in one window, by the same formula as `lostOf`. */
const LOST = `coalesce(waiting, 0) + CASE WHEN running + coalesce(others, 0) > 0
  THEN coalesce(steal, 0) * running / (running + coalesce(others, 0)) ELSE 0 END`;

/** The loss in one window, by kind of loss. */
const LOSSES = {
  cpu: LOST,
  device: 'blocked / greatest(1, samples)',
  moves: 'moves / seconds',
  faults: 'minor_faults',
  reads: 'major_faults',
} as const;

/** When a thread had most of its loss; null if the loss covers the whole run. */
export async function stretchOfThread(
  { recording }: Subject,
  { host, process_id, thread_id }: ThreadRun,
  what: keyof typeof LOSSES,
): Promise<Stretch | null> {
  const windows = await recording.query<LossWindow & { host: string }>(
    `SELECT host, t0, t, ${LOSSES[what]} AS lost FROM rank_on_node
      WHERE process_id = ${Number(process_id)} AND thread_id = ${Number(thread_id)} ORDER BY t0`,
  );
  return stretchOf(windows.filter((one) => one.host === host));
}

/** Rows of threads as evidence: the worst is first, with the stretch of its loss. */
export const threadRows = ([worst, ...others]: readonly ThreadRun[], stretch: Stretch | null) =>
  asRows([{ ...worst, ...stretch }, ...others]);

/** “rank 1 (app, process 812)”, “process 812 (app)”, “thread 815 (worker) of process 812”. */
export function nameOf({ rank, process, process_id, thread, thread_id }: ThreadRun): string {
  if (thread_id !== process_id) {
    const of = rank === null ? `process ${process_id} (${process})` : `rank ${rank}`;
    return `thread ${thread_id} (${thread}) of ${of}`;
  }
  return rank === null
    ? `process ${process_id} (${process})`
    : `rank ${rank} (${process}, process ${process_id})`;
}

/** The first names, and the number of the others. */
export function namesOf(all: readonly ThreadRun[]): string {
  const [first, second] = all.map(nameOf);
  if (all.length === 1) return first;
  return all.length === 2
    ? `${first} and ${second}`
    : `${first} and ${counted(all.length - 1, 'thread')} more`;
}

/** “Thread 815 …”: with a capital at the start of a sentence. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
