/** One rank that is kept from running while the others are not: in MPI they wait for it. */
import { expecting, type FindingRule, OWN, percent } from './finding.ts';
import {
  capital,
  ENOUGH,
  lostOf,
  nameOf,
  stretchOfThread,
  THREADS,
  type ThreadRun,
  threadRows,
  threadsOf,
} from './threads.ts';
import { when } from './when.ts';

const BEHIND = {
  value: 0.1,
  unit: 'share',
  means: 'of its time a rank’s main thread could not run: notice',
  source: `${OWN}: where ranks meet after each step, a step takes as long as the slowest rank`,
};
const STANDS_OUT = {
  value: 2,
  unit: '',
  means: 'times what the other ranks lose on average: it is the late one',
  source: OWN,
};

const lost = (one: ThreadRun): number => lostOf(one) + one.blocked / Math.max(1, one.samples);

export const LATE_RANK: FindingRule = {
  name: 'late-rank',
  title: 'one MPI rank that the others wait for',
  looks:
    'Compares the time for which each rank’s busiest thread could not run: it waited for its CPU, a hypervisor took the CPU, or a device blocked it.',
  needs: ['rank_on_node'],
  thresholds: { BEHIND, STANDS_OUT, ENOUGH },
  knob: 'Keep other work off that rank’s CPU, or bind the rank to another CPU (--bind-to core, --cpu-list).',
  explains: ['rank-imbalance', 'mpi-share', 'region-alignment'],
  async run(subject) {
    const byRank = new Map<string, ThreadRun>();
    for (const one of await threadsOf(subject)) {
      if (one.rank === null) continue;
      const key = `${one.rank}`;
      const known = byRank.get(key);
      if (known === undefined || one.running + lost(one) > known.running + lost(known)) {
        byRank.set(key, one);
      }
    }
    const ranks = [...byRank.values()].sort((a, b) => lost(b) - lost(a));
    if (ranks.length < 2) return [];
    const [late, ...others] = ranks;
    const theirs = others.reduce((sum, one) => sum + lost(one), 0) / others.length;
    if (lost(late) < BEHIND.value || lost(late) < STANDS_OUT.value * theirs) return [];
    const stretch = await stretchOfThread(subject, late, 'cpu');
    const by = late.others === null ? '' : `, of which others used ${percent(late.others)}`;
    return [
      {
        severity: 'problem',
        sentence: `${capital(nameOf(late))} could not run for ${percent(lost(late))} of the time${when(stretch)} on CPU ${late.cpu} of ${late.host}${by}; the other ranks for ${percent(theirs)} on average: where they meet in MPI, they wait for it.`,
        evidence: { sql: THREADS, rows: threadRows(ranks, stretch) },
        ...expecting(
          this.knob,
          lost(late) - theirs,
          'so much longer than they could it not run, and they wait for it',
        ),
      },
    ];
  },
};
