/** Where on the page a finding's evidence is seen: view, window, entity; read from its rule and its worst row. */
import type { Finding } from '../../../src/model/finding.ts';
import type { Flag } from '../../../src/view/facts/flag.ts';
import type { EntityBins } from '../../../src/view/series/table.ts';
import type { ViewState } from '../state.ts';

/** Views by rule; rules about jobs and hosts are seen in the nodes. */
const VIEWS: Readonly<Record<string, string>> = {
  efficiency: 'simulation',
  'false-rollbacks': 'simulation',
  'gvt-interval': 'simulation',
  imbalance: 'simulation',
  'memory-pressure': 'simulation',
  'network-bound': 'simulation',
  instrumentation: 'simulation',
  'rollback-chains': 'simulation',
  'rollback-culprits': 'simulation',
  'secondary-rollbacks': 'simulation',
  'energy-per-event': 'regions',
  'energy-per-region': 'regions',
  'region-alignment': 'regions',
  'stolen-cpu': 'overview',
  'suspect-data': 'nodes',
  'cpu-quota': 'overview',
  'device-wait': 'overview',
  'late-rank': 'overview',
  'memory-limit': 'overview',
  'memory-stall': 'overview',
  'migrating-threads': 'overview',
  'page-faults': 'overview',
  pause: 'overview',
  'waiting-threads': 'overview',
  'mpi-share': 'regions',
  'rank-imbalance': 'regions',
};

/** The metrics that show the evidence of each rule. */
const METRICS: Readonly<Record<string, string>> = {
  efficiency: 'ross_pe.efficiency',
  'false-rollbacks': 'ross_pe.events_rolled_back',
  'gvt-interval': 'ross_pe.gvt_time',
  imbalance: 'ross_pe.events_processed',
  'memory-pressure': 'ross_pe.priority_queue_size',
  'network-bound': 'ross_pe.network_read_time',
  'rollback-chains': 'ross_pe.events_rolled_back',
  'rollback-culprits': 'ross_pe.events_rolled_back',
  'secondary-rollbacks': 'ross_pe.secondary_rollbacks',
};

/** What to look at for when it was worst, where the evidence is a sum over the run. */
const PEAKS: Readonly<Record<string, readonly [table: string, key: string]>> = {
  efficiency: ['ross_pe', 'events_rolled_back'],
  'false-rollbacks': ['ross_pe', 'events_rolled_back'],
  'memory-pressure': ['ross_pe', 'priority_queue_size'],
  'network-bound': ['ross_pe', 'network_read_time'],
  'node-memory': ['node_mem', 'MemUsed'],
  'rollback-culprits': ['ross_pe', 'events_rolled_back'],
  'secondary-rollbacks': ['ross_pe', 'secondary_rollbacks'],
  'stolen-cpu': ['node_cpu_steal', 'steal'],
};

/** Where on its view the evidence is seen, by rule; of others where `PLACES` says. Ids, the first that is there. */
const SEEN: Readonly<Record<string, readonly string[]>> = {
  'rollback-chains': ['figure-cascades'],
  'rollback-culprits': ['figure-cascades'],
  'stolen-cpu': ['figure-cpus', 'figure-waits'],
  'device-wait': ['figure-thread-blocks'],
  'late-rank': ['figure-thread-waits'],
  'migrating-threads': ['figure-thread-cpus'],
  'waiting-threads': ['figure-thread-waits'],
};
const PLACES: Readonly<Record<string, readonly string[]>> = {
  simulation: ['figure-heat'],
  regions: ['regions-table', 'figure-region-lanes'],
  nodes: ['figure-hosts'],
  overview: ['lane-simulation-section', 'lane-threads-section', 'lane-nodes-section'],
};

const FROMS = ['t0', 'from', 'begin', 'started', 'first'];
const TOS = ['t1', 't', 'to', 'end', 'ended', 'last'];
const PES = ['pe_id', 'pe', 'root_pe', 'source_pe'];

type EvidenceRow = Readonly<Record<string, unknown>>;

function numberOf(row: EvidenceRow, names: readonly string[]): number | null {
  for (const name of names) {
    const value = row[name];
    if (typeof value === 'number' && Number.isFinite(value)) return value;
  }
  return null;
}

/** Share of the run shown around a single moment, or beside a stretch. */
const AROUND = 0.05;
const BINS = 200;
/** An interval in which a metric is at least this share of its maximum; an interval longer than this share of the run proves nothing. */
const HIGH = 0.5;
const LONGEST = 0.7;

/** The entity whose worst time is searched for: one PE or host, or all. */
export interface Peak {
  readonly table: string;
  readonly key: string;
  /** Name of the entity, or of the host that it belongs to; null: all. */
  readonly of: string | null;
}

interface BinSource {
  series(
    table: string,
    keys: readonly string[],
    from: number,
    to: number,
    bins: number,
  ): Promise<readonly EntityBins[]>;
}

/** When a metric was high: the stretch around its highest. Null where it was so all the time, or never. */
export function highStretch(
  values: ArrayLike<number>,
  [first, last]: readonly [number, number],
): readonly [number, number] | null {
  let best = -1;
  for (let k = 0; k < values.length; k++) {
    if (values[k] > 0 && !(best >= 0 && values[k] <= values[best])) best = k;
  }
  if (best < 0) return null;
  const isHigh = (k: number) => values[k] >= HIGH * values[best];
  let [from, to] = [best, best + 1];
  // A bin in between may be low, or lack samples.
  while (from > 0 && (isHigh(from - 1) || (from > 1 && isHigh(from - 2)))) from--;
  while (to < values.length && (isHigh(to) || (to + 1 < values.length && isHigh(to + 1)))) to++;
  if (to - from > LONGEST * values.length) return null;
  const width = (last - first) / values.length;
  const around = AROUND * (last - first);
  return [
    Math.max(first, first + from * width - around),
    Math.min(last, first + to * width + around),
  ];
}

/** The interval of the run in which the evidence of a finding was worst. */
export async function worstOf(
  source: BinSource,
  { table, key, of }: Peak,
  extent: readonly [number, number],
): Promise<readonly [number, number] | null> {
  const all = await source.series(table, [key], ...extent, BINS);
  const own = all.filter(
    ({ entity }) => of === null || entity === of || entity.startsWith(`${of}/`),
  );
  const sums = new Float64Array(BINS);
  for (const { mean } of own) for (let k = 0; k < BINS; k++) sums[k] += mean[k] || 0;
  return highStretch(sums, extent);
}

export interface Jump {
  readonly change: Partial<ViewState>;
  /** Where the window is to be looked for; null where `change` has one, or there is none. */
  readonly peak: Peak | null;
  /** Ids of the elements to scroll to: the first that exists. */
  readonly seen: readonly string[];
  /** The label of the button. */
  readonly text: string;
}

/** The host or region that the views are restricted to; null if the evidence names none. */
function namedOf(
  view: string,
  host: string | null,
  row: EvidenceRow | undefined,
): Readonly<Record<string, string>> | null {
  const named: Record<string, string> = {};
  const region = typeof row?.region === 'string' ? row.region : null;
  if (view === 'nodes' && host !== null) named['nodes.devicehost'] = host;
  if (view === 'regions' && host !== null) named['regions.host'] = host;
  if (view === 'regions' && region !== null) named['regions.region'] = region;
  return Object.keys(named).length === 0 ? null : named;
}

/** The stretch, or moment, that a row names within the run; null where it names none. */
function timeOf(
  row: EvidenceRow | undefined,
  [first, last]: readonly [number, number],
): { readonly from: number; readonly to: number | null } | null {
  if (row === undefined) return null;
  const [from, to] = [numberOf(row, FROMS), numberOf(row, TOS)];
  const isIn = (t: number | null): t is number => t !== null && t >= first && t <= last;
  if (isIn(from) && isIn(to) && to > from) return { from, to };
  const moment = to ?? from;
  return isIn(moment) ? { from: moment, to: null } : null;
}

/** `views`: ids of the views that this recording has. */
export function jumpTo(
  { rule, evidence }: Finding,
  extent: readonly [number, number],
  views: readonly string[],
): Jump | null {
  const [row] = evidence.rows as readonly EvidenceRow[];
  const wanted = VIEWS[rule] ?? 'nodes';
  const view = views.includes(wanted) ? wanted : 'overview';
  const pe = row === undefined ? null : numberOf(row, PES);
  const [first, last] = extent;
  const around = AROUND * (last - first);
  const time = timeOf(row, extent);
  const window: Partial<ViewState> =
    time === null
      ? {}
      : time.to !== null
        ? { from: time.from, to: time.to }
        : { from: Math.max(first, time.from - around), to: Math.min(last, time.from + around) };
  const change: Partial<ViewState> = { view, path: '', ...window };
  const isPe = pe !== null && wanted !== 'nodes';
  const host = typeof row?.host === 'string' ? row.host : null;
  const high = window.from === undefined ? PEAKS[rule] : undefined;
  const peak =
    high === undefined ? null : { table: high[0], key: high[1], of: isPe ? String(pe) : host };
  const isWhole = !isPe && window.from === undefined && peak === null;
  if (view === 'overview' && isWhole && SEEN[rule] === undefined) return null;
  const metric = METRICS[rule];
  const more = namedOf(view, host, row);
  return {
    change: {
      ...change,
      ...(isPe && { pe }),
      ...(more !== null && { more }),
      ...(metric !== undefined && view === 'simulation' && { metric }),
    },
    peak,
    seen: SEEN[rule] ?? PLACES[view] ?? [],
    text: isPe
      ? `Show PE ${pe}`
      : host !== null && more !== null
        ? `Show ${host.split('.')[0]}`
        : window.from === undefined && peak === null
          ? 'Show'
          : 'Show when',
  };
}

/** Those whose evidence names its time, as flags on the axis; not those about most of the run. */
export const findingFlags = (
  findings: readonly Finding[],
  extent: readonly [number, number],
): readonly Flag[] =>
  findings.flatMap(({ sentence, evidence }) => {
    const time = timeOf(evidence.rows[0] as EvidenceRow | undefined, extent);
    if (time === null) return [];
    const isLong = (time.to ?? time.from) - time.from > LONGEST * (extent[1] - extent[0]);
    return isLong ? [] : [{ kind: 'finding', ...time, text: sentence }];
  });
