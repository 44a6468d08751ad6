/** A type of LP whose handler is so expensive that the PE with most of these LPs keeps the other PEs waiting. */
import { asRows, expecting, type FindingRule, graded, OWN, percent, short } from './finding.ts';
import { ROLLBACK_SIGNS } from './samples.ts';

const SLOWER = {
  value: 3,
  unit: '',
  means: 'times the cost of an event of the other types: the type is examined',
  source: OWN,
};
const SOME = {
  value: 1.25,
  unit: '',
  means: 'times the mean time in handlers on the busiest PE: notice',
  source: 'as imbalance',
};
const MUCH = { value: 1.5, unit: '', means: 'times the mean: problem', source: 'as imbalance' };
const TIMED = {
  value: 20,
  unit: '{event}',
  means: 'of a PE were timed at least: fewer prove nothing',
  source: OWN,
};

const SQL = `WITH pe AS (SELECT pe_id, sum(events_processed) AS handled FROM ross_pe GROUP BY pe_id)
SELECT pe_id, type, sum(lps) AS lps, sum(timed) AS timed, sum("time") AS seconds, sum("time") / nullif(sum(timed), 0) AS each,
  any_value(handled) * sum("time") / sum(sum(timed)) OVER (PARTITION BY pe_id) AS all_seconds
FROM sim_handler JOIN pe USING (pe_id) GROUP BY pe_id, type ORDER BY all_seconds DESC, pe_id, type`;

interface Cost {
  readonly pe_id: number;
  readonly type: string;
  readonly timed: number;
  readonly seconds: number;
  /** Time in the handlers of all its events, in s: an estimate. */
  readonly all_seconds: number | null;
}

const sum = (rows: readonly Cost[], of: (row: Cost) => number) =>
  rows.reduce((total, row) => total + of(row), 0);
const each = (rows: readonly Cost[]) =>
  sum(rows, (row) => row.seconds) /
  Math.max(
    1,
    sum(rows, (row) => row.timed),
  );
const micro = (seconds: number) => `${short(1e6 * seconds)} µs`;

export const SLOW_HANDLERS: FindingRule = {
  name: 'slow-handlers',
  title: 'a type of LP whose events cost more than others',
  looks:
    'Compares the time per event of each type of LP, from events that are timed one by one, and the sum of these times on each PE.',
  needs: ['sim_handler', 'ross_pe.events_processed'],
  thresholds: { SLOWER, SOME, MUCH, TIMED },
  knob: 'Make that handler cheaper, or spread the LPs of that type over all PEs (the model’s map).',
  explains: ROLLBACK_SIGNS,
  async run({ recording }) {
    const rows = await recording.query<Cost>(SQL);
    const pes = [...new Set(rows.map(({ pe_id }) => pe_id))].map((pe) => {
      const own = rows.filter(({ pe_id }) => pe_id === pe);
      return { pe, own, busy: sum(own, (row) => row.all_seconds ?? 0) };
    });
    if (pes.length < 2 || pes.some(({ own }) => sum(own, (row) => row.timed) < TIMED.value))
      return [];
    const mean = pes.reduce((total, { busy }) => total + busy, 0) / pes.length;
    const [busiest] = [...pes].sort((a, b) => b.busy - a.busy);
    const severity = graded(busiest.busy / mean, SOME, MUCH);
    const [most] = busiest.own;
    const others = rows.filter(({ type }) => type !== most.type);
    const those = rows.filter(({ type }) => type === most.type);
    if (severity === null || others.length === 0) return [];
    const times = each(those) / each(others);
    if (!(times >= SLOWER.value)) return [];
    const wait = 1 - mean / busiest.busy;
    const why = `the others wait for PE ${busiest.pe} for ${percent(wait)} of the time`;
    return [
      {
        severity,
        sentence: `An event of an LP of type ${most.type} costs ${micro(each(those))}, ${short(times)} times one of the other types, and PE ${busiest.pe} has ${percent((most.all_seconds ?? 0) / sum(those, (row) => row.all_seconds ?? 0))} of that work: it is busy ${short(busiest.busy / mean)} times as long as the average PE.`,
        evidence: { sql: SQL, rows: asRows(rows) },
        ...expecting(this.knob, wait, why),
      },
    ];
  },
};
