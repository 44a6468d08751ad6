/** A program that spends much of its time in MPI. */
import { asRows, expecting, type FindingRule, graded, OWN, percent, short } from './finding.ts';
import {
  LONG,
  NEEDS,
  RANK_REGIONS,
  rankRegions,
  stretchInMpi,
  summed,
} from './ranks-in-regions.ts';
import { when } from './when.ts';

const SOME = {
  value: 0.3,
  unit: 'share',
  means: 'of the processes’ time was spent in MPI calls: notice',
  source: `${OWN}: MPI_Init, MPI_Finalize and MPI_File_* are left out`,
};
const MUCH = { value: 0.6, unit: 'share', means: 'of their time: problem', source: OWN };

export const MPI_SHARE: FindingRule = {
  name: 'mpi-share',
  title: 'much time spent in MPI',
  looks:
    'Adds up the time that each process spent in MPI calls, except those that initialize and finalize MPI and those for files.',
  needs: NEEDS,
  thresholds: { SOME, MUCH, LONG },
  knob: 'Use fewer ranks for this problem size, send fewer and larger messages, or overlap communication and work (MPI_Isend, MPI_Iallreduce). If one call dominates, find the rank that reaches it late.',
  async run(subject) {
    const rows = await rankRegions(subject);
    const inMpi = rows.filter(({ mpi }) => mpi);
    const processes = new Map(inMpi.map((row) => [`${row.host} ${row.pid}`, row.whole]));
    const whole = [...processes.values()].reduce((sum, one) => sum + one, 0);
    const time = inMpi.reduce((sum, { runtime }) => sum + runtime, 0);
    // A single process waits for no other.
    if (processes.size < 2) return [];
    const share = time / whole;
    const severity = graded(share, SOME, MUCH);
    if (severity === null) return [];
    const calls = summed(inMpi, ({ region }) => region)
      .slice(0, 2)
      .map(([region, seconds]) => `${percent(seconds / whole)} in ${region}`);
    const stretch = await stretchInMpi(subject);
    const [first, ...rest] = inMpi;
    return [
      {
        severity,
        sentence: `${processes.size} processes spent ${percent(share)} of their time in MPI, ${calls.join(' and ')}: ${short(time / processes.size)} s each${when(stretch)}.`,
        evidence: { sql: RANK_REGIONS, rows: asRows([{ ...first, ...stretch }, ...rest]) },
        ...expecting(this.knob, share, 'that share of the time was spent in MPI'),
      },
    ];
  },
};
