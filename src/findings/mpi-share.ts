/** A program that spends much of its time in MPI. */
import { asRows, expecting, type FindingRule, graded, OWN, percent, short } from './finding.ts';
import { LONG, NEEDS, RANK_REGIONS, rankRegions, summed } from './ranks-in-regions.ts';

const SOME = {
  value: 0.3,
  unit: 'share',
  means: 'of the processes’ time in MPI calls: notice',
  source: `${OWN}: the start, the end and files are left out`,
};
const MUCH = { value: 0.6, unit: 'share', means: 'of their time: problem', source: OWN };

export const MPI_SHARE: FindingRule = {
  name: 'mpi-share',
  title: 'much time in MPI',
  looks:
    'Adds up the time that each process spent in MPI calls, but in those that start and end it and in those of files.',
  needs: NEEDS,
  thresholds: { SOME, MUCH, LONG },
  knob: 'Use fewer ranks for this size, send less often and more at a time, let communication and work overlap (MPI_Isend, MPI_Iallreduce); where one call leads, look who comes late to it.',
  async run(subject) {
    const rows = await rankRegions(subject);
    const inMpi = rows.filter(({ mpi }) => mpi);
    const processes = new Map(inMpi.map((row) => [`${row.host} ${row.pid}`, row.whole]));
    const whole = [...processes.values()].reduce((sum, one) => sum + one, 0);
    const time = inMpi.reduce((sum, { runtime }) => sum + runtime, 0);
    // One process alone has nobody to wait for.
    if (processes.size < 2) return [];
    const share = time / whole;
    const severity = graded(share, SOME, MUCH);
    if (severity === null) return [];
    const calls = summed(inMpi, ({ region }) => region)
      .slice(0, 2)
      .map(([region, seconds]) => `${percent(seconds / whole)} in ${region}`);
    return [
      {
        severity,
        sentence: `${processes.size} processes spent ${percent(share)} of their time in MPI, ${calls.join(' and ')}: ${short(time / processes.size)} s each.`,
        evidence: { sql: RANK_REGIONS, rows: asRows(inMpi) },
        ...expecting(this.knob, share, 'so much of the time went there'),
      },
    ];
  },
};
