/** How real time, virtual time and GVT index relate, and the run in a few numbers. */
import { countedIn } from '../../findings/samples.ts';
import { BEYOND, COMMITTED_RATE, coveredBy, oneMode, sqlOf } from '../../model/measures/index.ts';
import { endedBy } from '../../query/ended-by.ts';
import type { OpenRecording } from '../../query/index.ts';
import type { ClockFacts, SummaryFacts } from '../../view/facts/clock.ts';
import { sharedBy } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import type { Route } from './route.ts';

/** Moments that are enough for any width of a page. */
const MOST_MOMENTS = 4096;

/** Columns of a table; empty if there is no such table. */
async function columnsOf(recording: OpenRecording, table: string): Promise<ReadonlySet<string>> {
  const rows = await recording.query<{ name: string }>(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_name = '${table}'`,
  );
  return new Set(rows.map(({ name }) => name));
}

interface Moment {
  readonly real: number;
  readonly virtual: number;
  readonly gvt: number;
}

const NOTHING: ClockFacts = { real: [], virtual: [], gvt: [] };

async function clockOf(recording: OpenRecording): Promise<ClockFacts> {
  const columns = await columnsOf(recording, 'ross_pe');
  if (!columns.has('gvt') || !columns.has('t')) return NOTHING;
  // Files of ROSS have no index: GVTs are numbered in order, as far as they were sampled.
  const index = columns.has('gvt_index') ? 'min(gvt_index)' : 'row_number() OVER (ORDER BY gvt)';
  const moments = await recording.query<Moment>(`
    WITH clock AS (
      SELECT min(t) AS real, gvt AS virtual, ${index} AS gvt
      FROM ross_pe WHERE gvt >= 0 AND gvt < ${BEYOND} AND isfinite(t) GROUP BY ross_pe.gvt
    ), numbered AS (
      SELECT *, row_number() OVER (ORDER BY virtual) AS nth, count(*) OVER () AS n FROM clock
    )
    SELECT real::DOUBLE AS real, virtual::DOUBLE AS virtual, gvt::DOUBLE AS gvt FROM numbered
    WHERE nth = 1 OR nth = n OR nth % ceil(n / ${MOST_MOMENTS}) = 0 ORDER BY nth`);
  // A sample may have been written later than one of a later GVT, but real time must not fall.
  let last = Number.NEGATIVE_INFINITY;
  const rising = moments.filter(({ real }) => {
    if (real < last) return false;
    last = real;
    return true;
  });
  return {
    real: rising.map(({ real }) => real),
    virtual: rising.map(({ virtual }) => virtual),
    gvt: rising.map(({ gvt }) => gvt),
  };
}

/** In place of virtual time: how many regions all processes had entered. */
async function regionClockOf(recording: OpenRecording): Promise<ClockFacts> {
  const columns = await columnsOf(recording, 'geopm_profile_trace');
  if (!columns.has('event') || !columns.has('t')) return NOTHING;
  const moments = await recording.query<Pick<Moment, 'real' | 'virtual'>>(`
    WITH entries AS (
      SELECT t, row_number() OVER (ORDER BY t) AS nth, count(*) OVER () AS n
      FROM geopm_profile_trace WHERE event = 'REGION_ENTRY' AND isfinite(t)
    )
    SELECT t::DOUBLE AS real, nth::DOUBLE AS virtual FROM entries
    WHERE nth = 1 OR nth = n OR nth % ceil(n / ${MOST_MOMENTS}) = 0 ORDER BY nth`);
  const entered = moments.map(({ virtual }) => virtual);
  return { real: moments.map(({ real }) => real), virtual: entered, gvt: entered };
}

/** Samples of PEs with the time that each covers. */
const TIMED = `SELECT *, ${coveredBy('real_time')} AS span
  FROM ross_pe WHERE ${oneMode('ross_pe')}`;

async function summaryOf(recording: OpenRecording): Promise<SummaryFacts> {
  const counting = await Promise.all(
    ['ross_pe', 'ross_lp', 'ross_kp'].map(
      async (name) => [name, await columnsOf(recording, name)] as const,
    ),
  );
  const tables = new Map(counting);
  const has = (name: string) => {
    const [table, column] = name.split('.');
    return tables.get(table)?.has(column) === true;
  };
  const counted = countedIn(has, 'events_processed', 'events_rolled_back');
  const region = await columnsOf(recording, 'geopm_region');
  // One way of sampling: an engine sampled by GVT and by real time counts its events in both.
  const [run] =
    counted === null
      ? []
      : await recording.query<{ processed: number; undone: number }>(`
        SELECT sum(events_processed)::DOUBLE AS processed, sum(events_rolled_back)::DOUBLE AS undone
        FROM ${counted} WHERE ${oneMode(counted)}`);
  const [pace] =
    counted === 'ross_pe' && has('ross_pe.real_time')
      ? await recording.query<{ rate: number | null }>(
          `SELECT ${sqlOf(COMMITTED_RATE, { seconds: 'sum(span) / count(DISTINCT pe_id)' })} AS rate FROM (${TIMED}) WHERE span > 0`,
        )
      : [];
  const [energy] = region.has('package_energy')
    ? await recording.query<{ joules: number | null }>(
        `SELECT sum(package_energy)::DOUBLE AS joules FROM geopm_region WHERE section = 'application'`,
      )
    : [];
  return {
    processed: run?.processed ?? null,
    rolledBack: run?.undone ?? null,
    committedRate: pace?.rate ?? null,
    energy: energy?.joules ?? null,
  };
}

const summaries = sharedBy(async (shown: Shown, signal) =>
  summaryOf(endedBy(await shown.sql(), signal)),
);

export const CLOCK: readonly Route[] = [
  {
    method: 'get',
    path: '/clock',
    summary: 'How real time, virtual time and GVT index go together',
    parameters: [
      {
        name: 'of',
        help: 'regions: `virtual` and `gvt` count the regions that were entered so far, by the profile trace',
        schema: { type: 'string', enum: ['regions'] },
      },
    ],
    gives: 'real, virtual, gvt: arrays of one length, empty where the recording does not say',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      const read = c.req.query('of') === 'regions' ? regionClockOf : clockOf;
      return c.json(await read(endedBy(await shown.sql(), context.signal)));
    },
  },
  {
    method: 'get',
    path: '/summary',
    summary: 'The run in a few numbers',
    gives: 'processed, rolledBack, committedRate, energy; null where the recording does not say',
    answer: async (c, context) => {
      const shown = await context.shown(c);
      return c.json(await summaries(shown, context.signal));
    },
  },
];
