/** What is compared of a simulation: the run, its PEs, KPs, LPs, their threads and phases. */
import { COUNTING } from '../../findings/samples.ts';
import {
  ACTIVITIES,
  COMMITTED_RATE,
  courseOf,
  type Measure as Declared,
  EFFICIENCY,
  inputsOf,
  oneMode,
  ROLLED_BACK_SHARE,
  SECONDARY_SHARE,
  THREAD_RUNNING,
  THREAD_WAITING,
  type Weights,
} from '../../model/measures/index.ts';
import type { Has } from '../tables.ts';
import type { Measure, Samples } from './measures.ts';
import type { Scope } from './scope.ts';

const WORK = ['events_processed', 'events_rolled_back'];
const COMMITTED = 'events_processed::DOUBLE - events_rolled_back::DOUBLE';

interface Known extends Measure {
  readonly needs: readonly string[];
}

/** A sample's parts of the two sums that a measure is the ratio of. */
function compared(measure: Declared): Known {
  const { label, unit, of, per, factor } = measure;
  const sum = (weights: Weights) =>
    Object.entries(weights)
      .map(([key, weight]) => `${weight} * ${key}::DOUBLE`)
      .join(' + ');
  return {
    key: label,
    unit: unit.replace(/^\{(\w+)\}/, '$1s'),
    count: `${factor} * (${sum(of)})`,
    per: per === null ? 'total' : per === 'seconds' ? 'second' : sum(per),
    needs: inputsOf(measure),
  };
}

const KNOWN: readonly Known[] = [
  ...[COMMITTED_RATE, EFFICIENCY, ROLLED_BACK_SHARE, SECONDARY_SHARE].map(compared),
  ...ACTIVITIES.map((activity) => ({ ...compared(activity), isSampled: true })),
  {
    ...{ key: 'pending events', unit: 'events', count: 'priority_queue_size', per: '1' },
    needs: ['priority_queue_size'],
  },
  {
    ...{ key: 'ahead of GVT', unit: 'virtual time', count: 'time_ahead_gvt' },
    ...{ per: '(time_ahead_gvt IS NOT NULL)::INTEGER', needs: ['time_ahead_gvt'] },
  },
  {
    ...{ key: 'committed events', unit: 'in all', count: COMMITTED },
    ...{ per: 'total', needs: WORK },
  },
  ...(
    [
      ['events handled', 'events_processed'],
      ['events rolled back', 'events_rolled_back'],
      ['rollbacks', 'total_rollbacks'],
      ['events sent to other PEs', 'network_sends'],
    ] as const
  ).map(([key, column]) => ({
    ...{ key, unit: 'in all', count: column, per: 'total', needs: [column] },
  })),
];

const COMMITTED_A_SECOND = compared(COMMITTED_RATE);
/** The number whose course tells where a run's ramp ends. */
export const RAMP_KEY = `${COMMITTED_A_SECOND.key} ${COMMITTED_A_SECOND.unit}`;

const LASTING = ['priority_queue_size', 'time_ahead_gvt'];
/** Columns that add up over samples of one moment, and those that do not. */
const ADDED = [
  ...new Set([...WORK, ...KNOWN.flatMap(({ needs }) => needs)]),
  'network_sends',
].filter((key) => !LASTING.includes(key));

interface Level {
  readonly scope: Scope;
  readonly table: string;
  /** Those that tell of such entities, best first: a measure is taken from the first that has it. */
  readonly tables: readonly string[];
  /** SQL of the entity's name. */
  readonly entity: string;
  /** Columns that tell one series from another. */
  readonly lane: readonly string[];
  readonly lanes?: 'mean';
  /** Whether entities are parts of PEs, each with samples of its own. */
  readonly parts?: true;
}

/** What stands for all PEs where two runs have different numbers of them. */
export const MEAN_PE = 'a PE on average';

/** Of the run and of PEs: from the PEs' own samples, or from those of what they hold where those alone tell. */
const ofPes = (entity: string, more: Pick<Level, 'scope' | 'lanes'>): Level[] =>
  COUNTING.map((table) => ({ ...more, table, entity, lane: ['pe_id'], tables: COUNTING }));

const LEVELS: readonly Level[] = [
  ...ofPes("''", { scope: 'run' }),
  ...ofPes("'PE ' || pe_id", { scope: 'pe' }),
  ...ofPes(`'${MEAN_PE}'`, { scope: 'pe', lanes: 'mean' }),
  {
    ...{ scope: 'kp', table: 'ross_kp', tables: ['ross_kp'] },
    ...{ entity: "'PE ' || pe_id || ' KP ' || kp_id", lane: ['pe_id', 'kp_id'] },
    parts: true,
  },
  {
    ...{ scope: 'lp', table: 'ross_lp', tables: ['ross_lp'] },
    ...{ entity: "'LP ' || lp_id", lane: ['lp_id'] },
    parts: true,
  },
];

export interface ScopedSamples extends Samples {
  readonly scope: Scope;
}

function levelSamples({ scope, table, tables, entity, lane, lanes, parts }: Level, has: Has) {
  const there = (column: string) => has(`${table}.${column}`);
  const course = courseOf(table, has);
  if (course === null || ![...lane, 'mode'].every(there)) return [];
  const timed = there('t');
  const isOwn = table === tables[0];
  /** Whether this is the first of the tables that has all of them. */
  const first = (needs: readonly string[]) =>
    tables.find((one) => [...needs, 'mode'].every((key) => has(`${one}.${key}`))) === table;
  const measures = KNOWN.filter(
    ({ needs, per }) =>
      first(needs) &&
      (timed || per !== 'second') &&
      // States of parts are none of the whole.
      (isOwn || !needs.some((key) => LASTING.includes(key))) &&
      !(lanes === 'mean' && per === 'total'),
  );
  if (measures.length === 0) return [];
  const columns = [...ADDED, ...LASTING].filter(there);
  const sums = columns.map(
    (column) => `${LASTING.includes(column) ? 'max' : 'sum'}(${column}) AS ${column}`,
  );
  const keys = lane.join(', ');
  const from = `FROM ${table} WHERE ${oneMode(table)}`;
  const since = (by: string) =>
    timed ? `real - lag(real) OVER (PARTITION BY ${by} ORDER BY t)` : 'NULL::DOUBLE';
  const real = timed ? ', min(t) AS real' : '';
  const named = `NULL::VARCHAR AS host, ${entity} AS entity`;
  const samples: ScopedSamples = {
    scope,
    // Without a time nothing tells how totals would scatter.
    work: WORK.every(there) ? COMMITTED : timed ? 'seconds' : '1',
    measures: measures.map((one) =>
      // Times of several PEs are shares of the time of all.
      scope === 'run' && one.unit === '%' && one.per === 'second'
        ? { ...one, per: 'CASE WHEN seconds > 0 THEN seconds END' }
        : one,
    ),
    ...(parts && there('pe_id')
      ? {
          lanes: 'one',
          // A PE samples all that it holds at once, and has few moments where there are many samples.
          moments: `SELECT pe_id, t, ${since('pe_id')} AS seconds
            FROM (SELECT pe_id, ${course} AS t${real} ${from} GROUP BY ALL)`,
          sql: `SELECT ${named}, pe_id, ${course} AS t, ${columns.join(', ')} ${from}`,
        }
      : {
          lanes: lanes ?? 'sum',
          sql: `SELECT ${named}, concat_ws(' ', ${keys}) AS lane, ${since(keys)} AS seconds, *
            FROM (SELECT ${keys}, ${course} AS t${real}, ${sums.join(', ')} ${from} GROUP BY ${keys}, ${course})`,
        }),
  };
  return [samples];
}

/** How long threads ran, and waited for a CPU. */
function threadSamples(has: Has): ScopedSamples[] {
  const columns = ['pe_id', 't0', 't', 'cpu_time', 'run_queue_wait'];
  if (!columns.every((column) => has(`sim_thread_rate.${column}`))) return [];
  // Columns are rates already.
  const share = ({ label, unit, factor, of }: Declared): Measure => ({
    ...{ key: label, unit, count: `${factor} * ${Object.keys(of)} * seconds`, per: 'second' },
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

export const simulatorSamples = (has: Has): ScopedSamples[] => [
  ...LEVELS.flatMap((level) => levelSamples(level, has)),
  ...threadSamples(has),
  ...phaseSamples(has),
];
