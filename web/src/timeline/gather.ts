/** Asks for all that the timeline has rows for. What a source has nothing of gives no rows. */
import {
  ACTIVITIES,
  inputsOf,
  pooled,
  THREAD_RUNNING,
  THREAD_WAITING,
} from '../../../src/model/measures/index.ts';
import { HASH_UNMARKED } from '../../../src/model/region-hash.ts';
import type { Flag } from '../../../src/view/facts/flag.ts';
import type { JobListFacts } from '../../../src/view/facts/jobs.ts';
import type { LanesFacts, RegionFacts } from '../../../src/view/facts/regions.ts';
import type { ServedFacts } from '../../../src/view/facts/served.ts';
import type { EntityBins } from '../../../src/view/series/table.ts';
import { counted, duration } from '../figures.ts';
import { processNames } from '../overview/process-names.ts';
import { labelOf } from '../overview/threads.ts';
import type { Page } from '../page.svelte.ts';
import { coloursOf } from '../regions/report.ts';
import { simOf } from '../sim/source.ts';
import type { PageSource } from '../source.ts';
import {
  type BinnedSpan,
  type LaneKind,
  MARKED,
  NOTED,
  PALE,
  packed,
  rollbackSlices,
  roundSlices,
  shareSlices,
  type TimelineRow,
  type TimelineSlice,
  WARNED,
} from './slices.ts';

/** What is looked at. */
export interface AskedTimeline extends BinnedSpan {
  readonly page: Page;
  readonly source: PageSource;
  readonly facts: ServedFacts;
  readonly flags: readonly Flag[];
  readonly bins: number;
}

/** Rows of a kind at most: the others are seen where less is looked at. */
const MOST_ROWS = 128;
const MOST_THREADS = 48;
const MOST_HOSTS = 8;
const MOST_DEPTH = 8;
const MOST_ROLLBACKS = 4000;
/** A thread that ran for a smaller part of the window is left out, where there are many. */
const IDLE = 0.1;

const row = (
  own: { id: string; kind: LaneKind; name: string; pe?: number },
  spans: readonly TimelineSlice[],
): TimelineRow => ({ ...own, id: own.id.replaceAll(',', ';'), spans, epochs: [] });

const SHADE_OF = { note: NOTED, mark: MARKED, finding: WARNED } as const;
const TITLE_OF = { note: 'notes', mark: 'marks', finding: 'findings' } as const;

/** A row for each kind of flag, or more where stretches lie over each other. */
function flagRows({ flags, from, to, bins }: AskedTimeline): TimelineRow[] {
  const width = (to - from) / bins;
  return (['finding', 'note', 'mark'] as const).flatMap((kind) => {
    const slices = flags
      .filter((flag) => flag.kind === kind && flag.from <= to && (flag.to ?? flag.from) >= from)
      .map((flag) => ({
        // One at the very end is seen, too.
        from: Math.min(flag.from, to - 3 * width),
        to: Math.max(flag.to ?? 0, flag.from + 3 * width),
        ...{ hash: SHADE_OF[kind], share: flag.to === null ? 1 : 0.6 },
        ...{ name: flag.text, text: '' },
      }));
    return packed(slices, MOST_DEPTH).map((spans, k) =>
      row({ id: `${kind}${k}`, kind: 'flags', name: k === 0 ? TITLE_OF[kind] : '' }, spans),
    );
  });
}

async function jobRows({ source, page, from, to }: AskedTimeline): Promise<TimelineRow[]> {
  if (!page.tables.some(({ name }) => name.startsWith('node_')) && page.facts?.jobs === undefined)
    return [];
  const { jobs } = await source.json<JobListFacts>('jobs');
  const slices = jobs
    .filter((job) => job.from < to && job.to > from)
    .map((job, k) => ({
      ...{ from: job.from, to: job.to, hash: k % 7, share: 0.8, name: `job ${job.id}` },
      text: [
        ...[job.user, job.queue, job.name].filter(Boolean),
        counted(job.hosts, 'host'),
        duration(job.seconds),
      ].join(', '),
    }));
  return packed(slices, MOST_ROWS).map((spans, k) =>
    row({ id: `jobs${k}`, kind: 'jobs', name: k === 0 ? 'jobs' : '' }, spans),
  );
}

async function gvtRow({ source, from, to, bins }: AskedTimeline): Promise<TimelineRow[]> {
  for (const key of ['gvt_index', 'gvt']) {
    const [one] = await source.series('ross_pe', [key], from, to, bins);
    if (one === undefined) continue;
    const spans = roundSlices(one.min, one.max, key === 'gvt_index', { from, to });
    return [row({ id: 'gvt', kind: 'gvt', name: 'GVT' }, spans)];
  }
  return [];
}

const byEntity = (series: readonly EntityBins[]) =>
  new Map(series.map(({ entity, mean }) => [entity, mean]));

async function peRows(asked: AskedTimeline): Promise<TimelineRow[]> {
  const { source, facts, from, to, bins } = asked;
  if (facts.clock !== undefined) return [];
  const parts = await Promise.all(
    ACTIVITIES.map(async (activity, shade) => ({
      ...{ shade, label: activity.label, factor: activity.factor },
      by: byEntity(await source.series('ross_pe', inputsOf(activity), from, to, bins)),
    })),
  );
  const there = parts.filter(({ by }) => by.size > 0);
  const pes = [...(there[0]?.by.keys() ?? [])].slice(0, MOST_ROWS);
  return pes.map((pe) => {
    const values = pooled(
      there.map(({ by, factor }) => Float64Array.from(by.get(pe) ?? [], (value) => value * factor)),
    );
    const own = there.map(({ label, shade }, k) => ({ label, shade, values: values[k] }));
    const spans = shareSlices(own, 'waiting or not timed', { from, to });
    return row({ id: `pe${pe}`, kind: 'pes', name: `PE ${pe}`, pe: Number(pe) }, spans);
  });
}

async function rollbackRows({ page, from, to, bins }: AskedTimeline): Promise<TimelineRow[]> {
  const sim = simOf(page);
  if (sim === null || !page.has('ross_pe')) return [];
  const { rollbacks, total } = await sim.rollbacks({ from, to, within: '' }, MOST_ROLLBACKS);
  const pes = [...new Set(rollbacks.map(({ pe }) => pe))].sort((a, b) => a - b);
  return pes.slice(0, MOST_ROWS).map((pe) => {
    const own = rollbacks.filter((one) => one.pe === pe);
    const left = total > rollbacks.length ? ` (worst ${rollbacks.length} of ${total})` : '';
    return row(
      { id: `undone${pe}`, kind: 'rollbacks', name: `PE ${pe} rollbacks${left}`, pe },
      rollbackSlices(own, bins, { from, to }),
    );
  });
}

async function regionRows({
  source,
  facts,
  from,
  to,
  bins,
}: AskedTimeline): Promise<TimelineRow[]> {
  if (facts.tables?.some((name) => /^geopm_(profile_)?trace$/.test(name)) !== true) return [];
  const regions = await source.json<RegionFacts>('regions');
  const colours = coloursOf(regions);
  const names = new Map(regions.names);
  const hosts = [...new Set([...regions.traces, ...regions.profiles].map(({ host }) => host))];
  const of = async (route: string, host: string) => {
    const where = hosts.length > 1 ? ` on ${host}` : '';
    const { lanes } = await source.json<LanesFacts>(route, { host, from, to, bins });
    return lanes.slice(0, MOST_ROWS).map(({ spans, name, epochs, suspect }) => {
      const slices = spans
        .filter(({ hash }) => hash !== 0)
        .map((span) => {
          const known = colours.get(span.hash) ?? span.hash % 6;
          const isNone = span.hash === HASH_UNMARKED;
          const region = names.get(span.hash) ?? `0x${span.hash.toString(16).padStart(8, '0')}`;
          return {
            ...span,
            hash: isNone ? PALE : known < 0 ? 6 : known,
            name: isNone ? 'no region' : region,
            text: '',
          };
        });
      const own = name === 'host' ? 'all processes' : name;
      const made = row(
        { id: `${route.at(8)}${name}@${host}`, kind: 'regions', name: `${own}${where}` },
        slices,
      );
      return { ...made, epochs, ...(suspect !== undefined && { suspect }) };
    });
  };
  const rows = await Promise.all(
    hosts
      .slice(0, MOST_HOSTS)
      .flatMap((host) => [
        ...(regions.profiles.some((one) => one.host === host)
          ? [of('regions/processes', host)]
          : []),
        ...(regions.traces.some((one) => one.host === host) ? [of('regions/lanes', host)] : []),
      ]),
  );
  return rows.flat();
}

async function threadRows({
  source,
  facts,
  page,
  from,
  to,
  bins,
}: AskedTimeline): Promise<TimelineRow[]> {
  const TABLE = 'process_thread';
  if (!page.has(TABLE)) return [];
  const ask = (keys: readonly string[]) => source.series(TABLE, keys, from, to, bins);
  const [running, waiting, blocked] = await Promise.all([
    ask(inputsOf(THREAD_RUNNING)),
    ask(inputsOf(THREAD_WAITING)),
    ask(['blocked']),
  ]);
  const [wait, block] = [byEntity(waiting), byEntity(blocked)];
  const busy = running
    .map(({ entity, mean }) => {
      let [sum, count] = [0, 0];
      for (const value of mean) {
        if (Number.isNaN(value)) continue;
        sum += value;
        count++;
      }
      return { entity, mean, share: count === 0 ? 0 : (sum / count) * THREAD_RUNNING.factor };
    })
    .filter(({ share }, _, all) => share >= IDLE || all.length <= MOST_DEPTH);
  const kept = new Set(
    [...busy]
      .sort((a, b) => b.share - a.share)
      .slice(0, MOST_THREADS)
      .map(({ entity }) => entity),
  );
  const processOf = (entity: string) => entity.split('/').slice(0, 2).join('/');
  const names = await processNames(source, [...new Set([...kept].map(processOf))]);
  return busy
    .filter(({ entity }) => kept.has(entity))
    .map(({ entity, mean }) => {
      const scaled = (values: ArrayLike<number> | undefined, factor: number) =>
        Float64Array.from(values ?? mean.map(() => Number.NaN), (value) => value * factor);
      const parts = [
        { label: 'running', shade: 2, values: scaled(mean, THREAD_RUNNING.factor) },
        {
          ...{ label: 'waiting for a CPU', shade: 1 },
          values: scaled(wait.get(entity), THREAD_WAITING.factor),
        },
        { label: 'standing still', shade: 3, values: scaled(block.get(entity), 100) },
      ];
      const spans = shareSlices(parts, 'asleep', { from, to });
      const name = labelOf(entity, { facts }, names);
      return row({ id: `thread${entity}`, kind: 'threads', name }, spans);
    });
}

export interface Gathered extends BinnedSpan {
  readonly rows: readonly TimelineRow[];
  /** What was not answered, in the server's words. */
  readonly failures: readonly string[];
}

const ALL = [jobRows, gvtRow, peRows, rollbackRows, regionRows, threadRows];

/** All rows, in the order of their kinds. */
export async function gather(asked: AskedTimeline): Promise<Gathered> {
  const answers = await Promise.allSettled(ALL.map((rows) => rows(asked)));
  const failures = answers.flatMap((answer) =>
    answer.status === 'rejected' ? [String((answer.reason as Error).message)] : [],
  );
  const rows = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  return { from: asked.from, to: asked.to, rows: [...flagRows(asked), ...rows], failures };
}
