/** Regions: report, processes, hierarchy; lanes and signals of traces by window. */
import type { Context } from 'hono';
import { endedBy } from '../../query/ended-by.ts';
import { packBins } from '../../view/binary.ts';
import type { RegionFacts } from '../../view/facts/regions.ts';
import { SharedWork } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { regionFacts } from './regions-report.ts';
import { ReadTraces, RegionTraces } from './regions-traces.ts';
import {
  type ApiContext,
  ApiError,
  BYTES,
  bytesAnswer,
  CELL_BYTES,
  fits,
  integerOf,
  type Parameter,
  type Route,
  WINDOW,
  windowOf,
} from './route.ts';

const MOST_BINS = 4000;
const DEFAULT_BINS = 600;
/** Bytes of a span, as an object and as text. */
const SPAN_BYTES = 128;

interface Known {
  readonly read: ReadTraces;
  readonly facts: SharedWork<RegionFacts>;
}
const KNOWN = new WeakMap<Shown, Known>();

function knownOf(shown: Shown): Known {
  const known = KNOWN.get(shown);
  if (known !== undefined) return known;
  const read = new ReadTraces(() => shown.sql());
  const facts = new SharedWork(async (signal) =>
    regionFacts(endedBy(await shown.sql(), signal), new RegionTraces(read, signal)),
  );
  const made = { read, facts };
  KNOWN.set(shown, made);
  return made;
}

const NOTHING: RegionFacts = {
  ...{ available: false, columns: [], rows: [], processes: [], processesFrom: null },
  ...{ places: [], sessions: [], traces: [], profiles: [], names: [], suspects: [] },
};

async function regionFactsOf(shown: Shown, signal: AbortSignal): Promise<RegionFacts> {
  if (shown.path === null) return NOTHING;
  return knownOf(shown).facts.get(signal);
}

const BINS: Parameter = {
  name: 'bins',
  help: `${DEFAULT_BINS} where it is not given`,
  schema: { type: 'integer', minimum: 1, maximum: MOST_BINS },
};

async function windowAsked(c: Context, context: ApiContext) {
  const shown = await context.shown(c);
  const traces = new RegionTraces(knownOf(shown).read, context.signal);
  const { from, to } = windowOf(c, { from: 0, to: 1 });
  return { traces, from, to, bins: integerOf(c, 'bins', DEFAULT_BINS, 1, MOST_BINS) };
}

const lanes = (
  path: string,
  summary: string,
  of: 'lanes' | 'processLanes',
  without: string,
): Route => ({
  method: 'get',
  path,
  summary,
  parameters: [
    { name: 'host', help: 'one of /api/regions', schema: { type: 'string' }, required: true },
    ...WINDOW,
    BINS,
  ],
  gives:
    'spans with the hash of their region: exact where they are no more than bins, else the region with the most of each bin',
  answer: async (c, context) => {
    const { traces, from, to, bins } = await windowAsked(c, context);
    const host = c.req.query('host') ?? '';
    const room = (lanes: number) => fits(lanes * bins, SPAN_BYTES, context.limits);
    const found = await traces[of](host, from, to, bins, room);
    if (found === null) throw new ApiError(400, `there is no ${without} of host ${host}`);
    return c.json(found);
  },
});

const signal: Route = {
  method: 'get',
  path: '/regions/signal',
  summary: 'A signal of the traces, per bin and host',
  parameters: [
    { name: 'signal', help: 'one of /api/regions', schema: { type: 'string' }, required: true },
    ...WINDOW,
    BINS,
  ],
  gives: 'bytes as of /api/series, an entity per host',
  types: [BYTES],
  answer: async (c, context) => {
    const { traces, from, to, bins } = await windowAsked(c, context);
    const key = c.req.query('signal') ?? '';
    const room = (hosts: number) => fits(hosts * bins, CELL_BYTES, context.limits);
    const found = await traces.signal(key, from, to, bins, room);
    if (found === null) throw new ApiError(400, `no trace has a signal ${JSON.stringify(key)}`);
    return bytesAnswer(c, packBins(from, to, bins, found));
  },
};

export const REGIONS: readonly Route[] = [
  {
    method: 'get',
    path: '/regions',
    summary: 'Regions with their totals, processes and hierarchy',
    gives: 'rows of the reports with columns, units and help; what traces there are',
    answer: async (c, context) =>
      c.json(await regionFactsOf(await context.shown(c), context.signal)),
  },
  lanes('/regions/lanes', 'Which region each CPU was in', 'lanes', 'trace'),
  lanes('/regions/processes', 'Which region each process was in', 'processLanes', 'profile trace'),
  signal,
];
