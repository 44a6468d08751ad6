/** One rank with more work than the others, which wait for it in MPI. */
import { asRows, expecting, type FindingRule, graded, OWN, percent, short } from './finding.ts';
import {
  LONG,
  NEEDS,
  RANK_REGIONS,
  type RankRegion,
  rankRegions,
  stretchInMpi,
  summed,
} from './ranks-in-regions.ts';
import { threadsOf } from './threads.ts';
import { when } from './when.ts';

const WAITS = {
  value: 0.1,
  unit: 'share',
  means: 'of their time is what the other ranks spent longer in MPI than this rank: notice',
  source: `${OWN}: that is how long they waited for it`,
};
const MUCH = { value: 0.25, unit: 'share', means: 'of their time: problem', source: OWN };
const MORE = {
  value: 1.25,
  unit: '',
  means: 'times the others’ mean in a marked region: the finding names the region',
  source: 'as imbalance',
};

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

interface Rank {
  readonly rank: number;
  readonly host: string;
  readonly pid: number;
  readonly rows: readonly RankRegion[];
  /** Seconds in MPI, and in all regions. */
  readonly mpi: number;
  readonly whole: number;
}

function ranksOf(rows: readonly RankRegion[]): Rank[] {
  const byRank = new Map<number, RankRegion[]>();
  for (const row of rows) {
    if (row.rank !== null) byRank.set(row.rank, [...(byRank.get(row.rank) ?? []), row]);
  }
  return [...byRank].map(([rank, own]) => ({
    ...{ rank, host: own[0].host, pid: own[0].pid, rows: own, whole: own[0].whole },
    mpi: own.reduce((sum, row) => sum + (row.mpi ? row.runtime : 0), 0),
  }));
}

const inRegion = ({ rows }: Rank, name: string): number =>
  rows.find(({ region }) => region === name)?.runtime ?? 0;

export const RANK_IMBALANCE: FindingRule = {
  name: 'rank-imbalance',
  title: 'one MPI rank with more to do than the others',
  looks:
    'Compares the time that ranks spend in MPI: the others wait for the rank that spends the least. Names the call in which they wait, the marked region in which that rank takes longer than the others, and its CPU.',
  needs: NEEDS,
  thresholds: { WAITS, MUCH, MORE, LONG },
  knob: 'Distribute that rank’s work (its part of the domain, its tasks) evenly, or give it more threads.',
  explains: ['mpi-share', 'region-alignment'],
  async run(subject) {
    const ranks = ranksOf(await rankRegions(subject)).sort((a, b) => a.mpi - b.mpi);
    const [late, ...others] = ranks;
    if (others.length === 0) return [];
    // If the others differ from each other as much, no rank stands out.
    const next = others[0];
    const share = mean(others.map((one) => (one.mpi - late.mpi) / one.whole));
    const apart = (next.mpi - late.mpi) / next.whole;
    const severity = graded(Math.min(share, 2 * apart), WAITS, MUCH);
    if (severity === null) return [];
    const rows = others.flatMap((one) => one.rows);
    const call = summed(
      rows.filter(({ mpi }) => mpi),
      ({ region }) => region,
    ).sort(
      ([a, x], [b, y]) =>
        y / others.length - inRegion(late, b) - (x / others.length - inRegion(late, a)),
    )[0][0];
    const regions = late.rows
      .filter(({ mpi }) => !mpi)
      .map(({ region, runtime }) => ({
        region,
        runtime,
        theirs: mean(others.map((one) => inRegion(one, region))),
      }))
      .filter(({ runtime, theirs }) => runtime >= MORE.value * theirs)
      .sort((a, b) => b.runtime - b.theirs - (a.runtime - a.theirs));
    const [region] = regions;
    const where =
      region === undefined
        ? ''
        : `: region ${region.region} takes it ${short(region.runtime)} s, the others ${short(region.theirs)} s`;
    const threads = subject.has('rank_on_node') ? await threadsOf(subject) : [];
    const [main] = threads
      .filter(({ process_id, host }) => process_id === late.pid && host === late.host)
      .sort((a, b) => b.running - a.running);
    const cpu = main === undefined ? '' : ` (CPU ${main.cpu} of ${late.host})`;
    const stretch = await stretchInMpi(subject);
    const [worst, ...rest] = [...late.rows, ...rows];
    return [
      {
        severity,
        sentence: `The other ranks wait for rank ${late.rank}${cpu} for ${percent(share)} of their time${when(stretch)}, mostly in ${call}${where}.`,
        evidence: { sql: RANK_REGIONS, rows: asRows([{ ...worst, ...stretch }, ...rest]) },
        ...expecting(
          this.knob,
          (share * others.length) / ranks.length,
          'so much of the ranks’ time was spent waiting',
        ),
      },
    ];
  },
};
