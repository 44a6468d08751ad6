/** What is compared of a simulation: the run, its PEs, KPs, LPs, their threads and phases. */
import { COUNTING } from '../../findings/samples.ts';
import {
  courseOf,
  type Measure as Declared,
  type Settled,
  settledSql,
  THREAD_RUNNING,
  THREAD_WAITING,
} from '../../model/measures/index.ts';
import { type OpenRecording, quoteText, type Row } from '../../query/index.ts';
import type { Has } from '../tables.ts';
import { COMMITTED, KNOWN, needsOf, sqlOf, WORK, weighedSql } from './known.ts';
import type { ComparedMeasure, Samples } from './measures.ts';
import type { PartSamples } from './part-measures.ts';
import type { Scope } from './scope.ts';

const LASTING = ['priority_queue_size', 'time_ahead_gvt'];
/** Columns that add up over samples of one moment, and those that do not. */
const ADDED = [...new Set([...WORK, ...KNOWN.flatMap(needsOf)])].filter(
  (key) => !LASTING.includes(key),
);

interface Level {
  readonly scope: Scope;
  readonly table: string;
  /** Tables with such entities, best first: a measure is taken from the first table that has it. */
  readonly tables: readonly string[];
  /** SQL of the entity's name. */
  readonly entity: string;
  /** Of entities that are parts of PEs, each with samples of its own: SQL of a number for each, and its name. */
  readonly part?: { readonly number: string; readonly nameOf: (number: number) => string };
  /** Columns that distinguish series. */
  readonly lane: readonly string[];
  readonly lanes?: 'mean';
}

/** What stands for all PEs where two runs have different numbers of them. */
export const MEAN_PE = 'a PE on average';

/** The run and PEs: from the PEs' own samples, or where these are missing, from samples of their KPs or LPs. */
const ofPes = (entity: string, more: Pick<Level, 'scope' | 'lanes'>): Level[] =>
  COUNTING.map((table) => ({ ...more, table, entity, lane: ['pe_id'], tables: COUNTING }));

const LEVELS: readonly Level[] = [
  ...ofPes("''", { scope: 'run' }),
  ...ofPes("'PE ' || pe_id", { scope: 'pe' }),
  ...ofPes(`'${MEAN_PE}'`, { scope: 'pe', lanes: 'mean' }),
  {
    ...{ scope: 'kp', table: 'ross_kp', tables: ['ross_kp'] },
    ...{ entity: "'PE ' || pe_id || ' KP ' || kp_id", lane: ['pe_id', 'kp_id'] },
    part: {
      number: `pe_id::DOUBLE * ${2 ** 32} + kp_id`,
      nameOf: (one) => `PE ${Math.floor(one / 2 ** 32)} KP ${one % 2 ** 32}`,
    },
  },
  {
    ...{ scope: 'lp', table: 'ross_lp', tables: ['ross_lp'] },
    ...{ entity: "'LP ' || lp_id", lane: ['lp_id'] },
    part: { number: 'lp_id', nameOf: (lp) => `LP ${lp}` },
  },
];

export interface ScopedSamples extends Samples {
  readonly scope: Scope;
}

export interface ScopedParts extends PartSamples {
  readonly scope: Scope;
}

function levelSamples(
  { scope, table, tables, entity, part, lane, lanes }: Level,
  has: Has,
  settled: Settled | undefined,
): (ScopedSamples | ScopedParts)[] {
  const there = (column: string) => has(`${table}.${column}`);
  const course = courseOf(table, has, settled);
  if (course === null || settled === undefined || ![...lane, 'mode'].every(there)) return [];
  const timed = there('t');
  const isOwn = table === tables[0];
  /** Whether this is the first of the tables that has all of them. */
  const first = (needs: readonly string[]) =>
    tables.find((one) => [...needs, 'mode'].every((key) => has(`${one}.${key}`))) === table;
  const known = KNOWN.filter((one) => {
    const needs = needsOf(one);
    return (
      first(needs) &&
      (timed || one.per !== 'second') &&
      // A state of a KP or LP is not a state of its PE.
      (isOwn || !needs.some((key) => LASTING.includes(key))) &&
      !(lanes === 'mean' && one.per === 'total')
    );
  });
  if (known.length === 0) return [];
  const columns = [...ADDED, ...LASTING].filter(there);
  const keys = lane.join(', ');
  const from = `FROM ${table} WHERE mode = ${quoteText(settled.mode)}`;
  const since = (by: string) =>
    timed ? `real - lag(real) OVER (PARTITION BY ${by} ORDER BY t)` : 'NULL::DOUBLE';
  const real = timed ? ', min(t) AS real' : '';
  const hasWork = WORK.every(there);
  if (part !== undefined && there('pe_id')) {
    const used = [...new Set([...known.flatMap(needsOf), ...(hasWork ? WORK : [])])];
    return [
      {
        ...{ scope, columns: used, known, nameOf: part.nameOf },
        work: hasWork ? COMMITTED : timed ? 'seconds' : 'samples',
        // A PE samples all that it holds at once, and has few moments where there are many samples.
        moments: `SELECT pe_id, t, ${since('pe_id')} AS seconds
          FROM (SELECT pe_id, ${course} AS t${real} ${from} GROUP BY ALL)`,
        sql: `SELECT pe_id::FLOAT, (${course})::DOUBLE, ${part.number},
          ${used.map((column) => `${column}::DOUBLE`).join(', ')} ${from}`,
      },
    ];
  }
  const sums = columns.map(
    (column) => `${LASTING.includes(column) ? 'max' : 'sum'}(${column}) AS ${column}`,
  );
  return [
    {
      scope,
      lanes: lanes ?? 'sum',
      // Without times, the scatter of totals is not known.
      work: hasWork ? weighedSql(COMMITTED) : timed ? 'seconds' : '1',
      measures: known.map(sqlOf).map((one) =>
        // Times of several PEs are shares of the time of all.
        scope === 'run' && one.unit === '%' && one.per === 'second'
          ? { ...one, per: 'CASE WHEN seconds > 0 THEN seconds END' }
          : one,
      ),
      sql: `SELECT NULL::VARCHAR AS host, ${entity} AS entity, concat_ws(' ', ${keys}) AS lane, ${since(keys)} AS seconds, *
        FROM (SELECT ${keys}, ${course} AS t${real}, ${sums.join(', ')} ${from} GROUP BY ${keys}, ${course})`,
    },
  ];
}

/** How long threads ran, and waited for a CPU. */
function threadSamples(has: Has): ScopedSamples[] {
  const columns = ['pe_id', 't0', 't', 'cpu_time', 'run_queue_wait'];
  if (!columns.every((column) => has(`sim_thread_rate.${column}`))) return [];
  // Columns are rates already.
  const share = ({ label, unit, good, factor, of }: Declared): ComparedMeasure => ({
    ...{ key: label, unit, good, count: `${factor} * ${Object.keys(of)} * seconds`, per: 'second' },
  });
  return [
    {
      scope: 'pe',
      lanes: 'sum',
      measures: [share(THREAD_RUNNING), share(THREAD_WAITING)],
      sql: `SELECT NULL::VARCHAR AS host, 'PE ' || pe_id AS entity, pe_id AS lane, t - t0 AS seconds, *
      FROM sim_thread_rate`,
    },
  ];
}

/** The phases that PEs mark: time in each, as a share of the PEs' time. */
function phaseSamples(has: Has): ScopedSamples[] {
  const columns = ['pe_id', 'region', 't', 'time'];
  if (!columns.every((column) => has(`region_phase.${column}`))) return [];
  return [
    {
      scope: 'phase',
      lanes: 'mean',
      measures: [{ key: 'time', unit: '% of PEs’ time', count: '100 * inside', per: 'second' }],
      sql: `SELECT NULL::VARCHAR AS host, region AS entity, pe_id AS lane, t,
        t - lag(t) OVER w AS seconds, time - lag(time) OVER w AS inside
      FROM region_phase WINDOW w AS (PARTITION BY pe_id, region ORDER BY t)`,
    },
  ];
}

/** @returns samples in the order in which they are told, those of the run first */
export async function simulatorSamples(
  recording: OpenRecording,
  has: Has,
): Promise<(ScopedSamples | ScopedParts)[]> {
  const settled = new Map<string, Settled>();
  for (const table of new Set(LEVELS.map((level) => level.table))) {
    if (!has(`${table}.mode`)) continue;
    const [found] = await recording.query<Settled & Row>(settledSql(table, has(`${table}.t`)));
    if (found !== undefined) settled.set(table, found);
  }
  return [
    ...LEVELS.flatMap((level) => levelSamples(level, has, settled.get(level.table))),
    ...threadSamples(has),
    ...phaseSamples(has),
  ];
}
