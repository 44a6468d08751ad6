/** Busy threads that the kernel moves from CPU to CPU: each move leaves a cache behind. */
import { type FindingRule, OWN, short, unforeseen } from './finding.ts';
import {
  capital,
  ENOUGH,
  namesOf,
  stretchOfThread,
  THREADS,
  type ThreadRun,
  threadRows,
  threadsOf,
} from './threads.ts';
import { when } from './when.ts';

const BUSY = {
  value: 0.5,
  unit: 'share',
  means:
    'of its time a thread ran: threads that mostly sleep move when they wake, which costs nothing',
  source: OWN,
};
const MOVES = {
  value: 2,
  unit: 'moves/s',
  means: 'between samples at least: notice',
  source: `${OWN}: ten samples per second can show at most ten moves`,
};

const rate = ({ moves, seconds }: ThreadRun): number => moves / seconds;

export const MIGRATING_THREADS: FindingRule = {
  name: 'migrating-threads',
  title: 'busy threads that move from CPU to CPU',
  looks:
    'Compares the CPUs on which a busy thread is found, ten times a second: a lower bound for the number of its moves.',
  needs: ['rank_on_node'],
  thresholds: { BUSY, MOVES, ENOUGH },
  knob: 'Bind threads to CPUs: mpirun --bind-to core, OMP_PROC_BIND=close, taskset.',
  async run(subject) {
    const all = await threadsOf(subject);
    const moving = all
      .filter((one) => one.running >= BUSY.value && rate(one) >= MOVES.value)
      .sort((a, b) => rate(b) - rate(a));
    if (moving.length === 0) return [];
    const stretch = await stretchOfThread(subject, moving[0], 'moves');
    return [
      {
        severity: 'notice',
        sentence: `${capital(namesOf(moving))} changed its CPU at least ${short(rate(moving[0]))} times a second while it was busy${when(stretch)}.`,
        evidence: { sql: THREADS, rows: threadRows(moving, stretch) },
        ...unforeseen(this.knob, 'what a move costs depends on what the thread has in its cache'),
      },
    ];
  },
};
