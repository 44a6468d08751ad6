/** Where on the page a finding's evidence is seen: view, window, entity; read from its rule and its worst row. */
import type { Finding } from '../../../src/findings/finding.ts';
import type { ViewState } from '../state.ts';

/** Views by rule; rules about jobs and hosts are seen in the nodes. */
const VIEWS: Readonly<Record<string, string>> = {
  efficiency: 'simulation',
  'false-rollbacks': 'simulation',
  'gvt-interval': 'simulation',
  imbalance: 'simulation',
  instrumentation: 'simulation',
  'rollback-chains': 'simulation',
  'rollback-culprits': 'simulation',
  'secondary-rollbacks': 'simulation',
  'energy-per-event': 'regions',
  'energy-per-region': 'regions',
  'region-alignment': 'regions',
  'stolen-cpu': 'overview',
  'suspect-data': 'nodes',
};

/** Metrics that show what a rule speaks of. */
const METRICS: Readonly<Record<string, string>> = {
  efficiency: 'ross_pe.efficiency',
  'false-rollbacks': 'ross_pe.events_rolled_back',
  'gvt-interval': 'ross_pe.gvt_time',
  imbalance: 'ross_pe.events_processed',
  'rollback-chains': 'ross_pe.events_rolled_back',
  'rollback-culprits': 'ross_pe.events_rolled_back',
  'secondary-rollbacks': 'ross_pe.secondary_rollbacks',
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

/** Share of the run shown around a single moment. */
const AROUND = 0.05;

export interface Jump {
  readonly change: Partial<ViewState>;
  /** What the button says. */
  readonly text: string;
}

/** `views`: ids of those that this recording has. */
export function jumpTo(
  { rule, evidence }: Finding,
  extent: readonly [number, number],
  views: readonly string[],
): Jump | null {
  const [row] = evidence.rows as readonly EvidenceRow[];
  const wanted = VIEWS[rule] ?? 'nodes';
  const view = views.includes(wanted) ? wanted : 'overview';
  const pe = row === undefined ? null : numberOf(row, PES);
  const from = row === undefined ? null : numberOf(row, FROMS);
  const to = row === undefined ? null : numberOf(row, TOS);
  const [first, last] = extent;
  const isIn = (t: number | null): t is number => t !== null && t >= first && t <= last;
  const around = AROUND * (last - first);
  const window: Partial<ViewState> =
    isIn(from) && isIn(to) && to > from
      ? { from, to }
      : isIn(to ?? from)
        ? {
            from: Math.max(first, (to ?? from ?? 0) - around),
            to: Math.min(last, (to ?? from ?? 0) + around),
          }
        : {};
  const change: Partial<ViewState> = { view, path: '', ...window };
  const isPe = pe !== null && wanted !== 'nodes';
  if (view === 'overview' && !isPe && window.from === undefined) return null;
  const metric = METRICS[rule];
  return {
    change: {
      ...change,
      ...(isPe && { pe }),
      ...(metric !== undefined && view === 'simulation' && { metric }),
    },
    text: isPe ? `Show PE ${pe}` : window.from === undefined ? 'Show' : 'Show when',
  };
}
