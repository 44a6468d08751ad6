/** The lanes' charts: what each asks of the source, its lines, and the sentence about them. */

import {
  ACTIVITIES,
  CPU_STOLEN,
  CPU_SYSTEM,
  CPU_USER,
  evaluate,
  inputsOf,
  pooled,
  ROLLED_BACK_SHARE,
  type SumOf,
  THREAD_WAITING,
} from '../../../src/model/measures/index.ts';
import { KIB } from '../../../src/model/units.ts';
import type { EntityBins } from '../../../src/view/series/table.ts';
import { leastOf, listed, meanOf, mostOf, percent, short } from '../figures.ts';
import type { DrawnLine } from '../parts/lines.ts';
import type { PageSource } from '../source.ts';
import type { LaneChart, LaneGroup, LaneView } from './lane.ts';
import { THREAD_CHARTS } from './threads.ts';
import { whenSpent } from './when-spent.ts';

/** Amounts are by time: of the model's, where samples have no other. */
const perTime = ({ facts }: LaneView) =>
  facts.clock === 'virtual'
    ? { unit: 'per virtual time', words: 'events per unit of virtual time' }
    : { unit: '/s', words: 'events a second' };

/** Number of lines that can be distinguished. */
const MOST_LINES = 8;

const ofPe = (series: readonly EntityBins[], pe: number | null) =>
  pe === null ? series : series.filter(({ entity }) => entity === String(pe));

function scaled(values: ArrayLike<number>, factor: number): Float64Array {
  const all = new Float64Array(values.length);
  for (let k = 0; k < all.length; k++) all[k] = values[k] * factor;
  return all;
}

/** Mean over entities, bin by bin, of measured values. Plain loops, because a live run computes it all the time. */
function across(series: readonly EntityBins[], factor: number): Float64Array {
  const count = series[0]?.mean.length ?? 0;
  const sums = new Float64Array(count);
  const measured = new Uint32Array(count);
  for (const { mean } of series) {
    for (let bin = 0; bin < count; bin++) {
      if (Number.isNaN(mean[bin])) continue;
      sums[bin] += mean[bin];
      measured[bin]++;
    }
  }
  for (let bin = 0; bin < count; bin++) {
    sums[bin] = measured[bin] === 0 ? Number.NaN : (sums[bin] * factor) / measured[bin];
  }
  return sums;
}

const meanOfLine = ({ mean, values }: DrawnLine) => mean ?? meanOf(values);

/** The highest by their mean, highest first, where there are too many. */
function most(lines: readonly DrawnLine[]): readonly DrawnLine[] {
  if (lines.length <= MOST_LINES) return lines;
  return lines
    .map((line) => ({ line, mean: meanOfLine(line) }))
    .sort((a, b) => b.mean - a.mean)
    .slice(0, MOST_LINES)
    .map(({ line }) => line);
}

/** The one with the highest mean; there is at least one. */
function highest<L extends DrawnLine>(lines: readonly L[]): L {
  let best = lines[0];
  let mean = meanOfLine(best);
  for (const line of lines) {
    const its = meanOfLine(line);
    if (its > mean || Number.isNaN(mean)) [best, mean] = [line, its];
  }
  return best;
}

/** In place of a sentence about a window without a sample. */
const NOT_MEASURED = 'Not measured in this window.';

/** The window as one bin: its mean weights samples by time, whereas a mean of bins would weight partial bins too much. */
const whole = (view: LaneView): LaneView => ({ ...view, bins: 1 });

/** Means over the whole window, by entity. */
const meansOf = (series: readonly EntityBins[]): ReadonlyMap<string, number> =>
  new Map(series.map(({ entity, mean }) => [entity, mean[0] ?? Number.NaN]));

const ask = (source: PageSource, view: LaneView, table: string, keys: readonly string[]) =>
  source.series(table, keys, view.from, view.to, view.bins);

/** For each PE: from its own samples or, if only its parts were sampled, from theirs. */
async function peSeries(
  source: PageSource,
  view: LaneView,
  key: string,
): Promise<readonly EntityBins[]> {
  const own = await ask(source, view, 'ross_pe', [key]);
  if (own.length > 0) return ofPe(own, view.pe);
  for (const table of ['ross_lp', 'ross_kp']) {
    const parts = await ask(source, view, table, [key]);
    if (parts.length === 0) continue;
    const sums = new Map<string, Float32Array>();
    for (const { entity, mean } of parts) {
      const [pe] = entity.split('/');
      const sum = sums.get(pe) ?? new Float32Array(mean.length).fill(Number.NaN);
      sums.set(pe, sum);
      for (const [k, value] of mean.entries()) {
        if (!Number.isNaN(value)) sum[k] = (sum[k] || 0) + value;
      }
    }
    return ofPe(
      [...sums].map(([entity, mean]) => ({ entity, mean, min: mean, max: mean })),
      view.pe,
    );
  }
  return [];
}

const EVENTS: LaneChart = {
  id: 'events',
  lane: 'simulation',
  title: 'Events handled',
  help: 'Events that each PE handles per second, including those that it undoes later.',
  unit: '/s',
  stacked: false,
  async draw(source, view) {
    const [series, all] = await Promise.all([
      peSeries(source, view, 'events_processed'),
      peSeries(source, whole(view), 'events_processed'),
    ]);
    if (series.length === 0) return null;
    const { unit, words } = perTime(view);
    const means = meansOf(all);
    const rates = series.map((bins) => ({ bins, rate: means.get(bins.entity) ?? Number.NaN }));
    // Of hundreds of entities, only the drawn ones are examined.
    const lines = [...rates]
      .sort((a, b) => (b.rate || 0) - (a.rate || 0))
      .slice(0, MOST_LINES)
      .sort((a, b) => Number(a.bins.entity) - Number(b.bins.entity))
      .map(({ bins: { entity, mean, min, max }, rate }) => ({
        label: `PE ${entity}`,
        mean: rate,
        values: mean,
        min: leastOf(min),
        max: mostOf(max),
      }));
    const ranked = rates
      .map(({ bins: { entity }, rate }) => ({ label: `PE ${entity}`, rate }))
      .filter(({ rate }) => rate > 0)
      .sort((a, b) => b.rate - a.rate);
    const first = ranked[0];
    const last = ranked.at(-1);
    if (first === undefined || last === undefined) {
      const isMeasured = rates.some(({ rate }) => !Number.isNaN(rate));
      return {
        ...{ unit, lines },
        sentence: isMeasured ? 'No events were handled in this window.' : NOT_MEASURED,
      };
    }
    const sentence =
      first === last
        ? `${first.label} handles ${short(first.rate)} ${words} in this window.`
        : `${first.label} is the fastest with ${short(first.rate)} ${words}, ${(first.rate / last.rate).toFixed(2)} times ${last.label}.`;
    return { unit, lines, sentence };
  },
};

const UNDONE: LaneChart = {
  id: 'undone',
  lane: 'simulation',
  title: 'Rolled back',
  help: ROLLED_BACK_SHARE.help,
  unit: '%',
  stacked: false,
  async draw(source, view) {
    const [handled, undone, allHandled, allUndone] = await Promise.all([
      peSeries(source, view, 'events_processed'),
      peSeries(source, view, 'events_rolled_back'),
      peSeries(source, whole(view), 'events_processed'),
      peSeries(source, whole(view), 'events_rolled_back'),
    ]);
    const undoneOf = new Map(undone.map((one) => [one.entity, one]));
    const [handledMeans, undoneMeans] = [meansOf(allHandled), meansOf(allUndone)];
    const shares = handled
      .flatMap(({ entity, mean }) => {
        const back = undoneOf.get(entity)?.mean;
        if (back === undefined) return [];
        const sums: SumOf = (key) =>
          (key === 'events_processed' ? handledMeans : undoneMeans).get(entity) ?? Number.NaN;
        return [
          { entity, mean, back, share: evaluate(ROLLED_BACK_SHARE, sums, null) ?? Number.NaN },
        ];
      })
      .sort((a, b) => (b.share || 0) - (a.share || 0));
    if (shares.length === 0) return null;
    const lines = shares
      .slice(0, MOST_LINES)
      .sort((a, b) => Number(a.entity) - Number(b.entity))
      .map(({ entity, mean, back, share }) => ({
        label: `PE ${entity}`,
        mean: share,
        values: mean.map((all, k) => {
          const sums: SumOf = (key) => (key === 'events_processed' ? all : back[k]);
          return evaluate(ROLLED_BACK_SHARE, sums, null) ?? Number.NaN;
        }),
      }));
    const worst = { label: `PE ${shares[0].entity}`, mean: shares[0].share };
    const sentence = Number.isNaN(worst.mean)
      ? NOT_MEASURED
      : !(worst.mean > 0)
        ? 'Nothing is rolled back in this window.'
        : shares.length === 1
          ? `${percent(worst.mean)} of what ${worst.label} handles is undone.`
          : `${worst.label} undoes the most: ${percent(worst.mean)} of what it handles.`;
    return { lines, sentence };
  },
};

const SHARES: LaneChart = {
  id: 'phases',
  lane: 'regions',
  title: 'Where PEs spend their time',
  help: 'Share of real time in each phase, averaged over the selected PEs. White: waiting, or not timed. Handlers, queue and rollback are estimates from sampled turns; bins in which they exceed the time are joined with others.',
  unit: '%',
  stacked: true,
  async draw(source, view) {
    if (view.facts.clock !== undefined) return null;
    const parts = await Promise.all(
      ACTIVITIES.map(async (activity) => {
        const inputs = inputsOf(activity);
        const [series, all] = await Promise.all([
          ask(source, view, 'ross_pe', inputs),
          ask(source, whole(view), 'ross_pe', inputs),
        ]);
        const values = across(ofPe(series, view.pe), activity.factor);
        const [mean = Number.NaN] = across(ofPe(all, view.pe), activity.factor);
        return { label: activity.label, values, mean, there: values.length > 0 };
      }),
    );
    const there = parts.filter((part) => part.there);
    if (there.length === 0) return null;
    const wide = pooled(there.map(({ values }) => values));
    const lines = there.map(({ label, mean }, k) => ({ label, mean, values: wide[k] }));
    if (wide.every((values) => Number.isNaN(meanOf(values))))
      return { lines, sentence: NOT_MEASURED };
    const ranked = lines
      .map(({ label, mean }) => ({ label, share: mean }))
      .sort((a, b) => b.share - a.share);
    const timed = ranked.reduce((sum, { share }) => sum + (share || 0), 0);
    const who = view.pe === null ? 'PEs' : `PE ${view.pe}`;
    const top = ranked.slice(0, 2).map(({ label, share }) => `${percent(share)} in ${label}`);
    const rest =
      timed > 100
        ? `all of the time by estimates that sum to ${percent(timed)}`
        : `${percent(100 - timed)} waiting or not timed`;
    return { lines, sentence: `${who}: ${listed([...top, rest])}.` };
  },
};

/**
 * Steal is a type of its own in raw stats of our collector, a key of `cpu` in others', or missing.
 */
const CPU_PARTS = [
  { share: CPU_USER, tables: ['node_cpu'] },
  { share: CPU_SYSTEM, tables: ['node_cpu'] },
  { share: CPU_STOLEN, tables: ['node_cpu_steal', 'node_cpu'] },
];

/** Series of a share's inputs: all inputs, else those that every collector has, from the first table that has them. */
async function inputSeries(
  source: PageSource,
  view: LaneView,
  { share, tables }: (typeof CPU_PARTS)[number],
) {
  const all = inputsOf(share);
  const needed = all.filter((key) => !share.optional?.includes(key));
  for (const table of tables) {
    for (const keys of [all, needed]) {
      const series = keys.length === 0 ? [] : await ask(source, view, table, keys);
      if (series.length > 0) return series;
    }
  }
  return [];
}

/** Entities of `node_cpu` on which the PEs run that are looked at; all where no place is known. */
function onCpus(series: readonly EntityBins[], { facts, pe }: LaneView): readonly EntityBins[] {
  const places = facts.pes.filter(
    (place) => place.cpu !== null && (pe === null || place.pe === pe),
  );
  if (places.length === 0) return series;
  const names = new Set(places.map(({ host, cpu }) => `${host}/${cpu}`));
  const found = series.filter(({ entity }) => names.has(entity));
  return found.length > 0 ? found : series;
}

const cpuTitle = ({ facts }: LaneView): string =>
  facts.pes.length === 0 ? 'CPUs of all hosts' : CPUS.title;

const CPUS: LaneChart = {
  id: 'cpus',
  lane: 'nodes',
  title: 'The PEs’ CPUs',
  help: 'How the kernel accounts for the time of the CPUs on which the PEs run. Stolen: a hypervisor ran something else.',
  unit: '%',
  stacked: true,
  async draw(source, view) {
    const parts = await Promise.all(
      CPU_PARTS.map(async (part) => {
        const { share } = part;
        const [series, all] = (
          await Promise.all([
            inputSeries(source, view, part),
            inputSeries(source, whole(view), part),
          ])
        ).map((one) => onCpus(one, view));
        const values = across(series, share.factor);
        const [mean = Number.NaN] = across(all, share.factor);
        return { label: share.label, mean, values, cpus: series.map(({ entity }) => entity) };
      }),
    );
    const lines = parts.filter(({ cpus }) => cpus.length > 0);
    if (lines.length === 0) return null;
    const cpus = lines[0].cpus;
    const stolen = lines.find(({ label }) => label === CPU_STOLEN.label)?.mean ?? Number.NaN;
    const shares = lines.map(({ mean }) => mean);
    if (shares.every(Number.isNaN)) {
      return { title: cpuTitle(view), lines, sentence: NOT_MEASURED };
    }
    // Each state is counted in hundredths of a second: rounded, they may add up to a little more than the time.
    const busy = Math.min(
      100,
      shares.reduce((sum, share) => sum + (share || 0), 0),
    );
    const which = cpus.length === 1 ? `CPU ${cpus[0]} is` : `${cpus.length} CPUs are`;
    const steal = Number.isNaN(stolen)
      ? 'what a hypervisor took was not measured'
      : stolen >= 0.05
        ? `${percent(stolen)} was taken by the hypervisor`
        : 'nothing was stolen';
    return {
      title: cpuTitle(view),
      lines,
      sentence: `${which} ${percent(busy)} busy in this window; ${steal}.`,
    };
  },
};

const WAITS: LaneChart = {
  id: 'waits',
  lane: 'nodes',
  title: 'PEs waiting for a CPU',
  help: 'Share of the time in which a PE’s thread was ready to run while its CPU ran something else. The kernel counts a wait when it ends: what does not fit into a bin is drawn before it.',
  unit: '%',
  stacked: false,
  async draw(source, view) {
    const inputs = inputsOf(THREAD_WAITING);
    const [series, all] = await Promise.all([
      ask(source, view, 'sim_thread', inputs),
      ask(source, whole(view), 'sim_thread', inputs),
    ]);
    const means = meansOf(all);
    const lines = ofPe(series, view.pe).map(({ entity, mean }) => ({
      label: `PE ${entity}`,
      mean: (means.get(entity) ?? Number.NaN) * THREAD_WAITING.factor,
      values: whenSpent(scaled(mean, THREAD_WAITING.factor), 100),
    }));
    if (lines.length === 0) return null;
    const worst = highest(lines);
    const share = worst.mean;
    const sentence = Number.isNaN(share)
      ? NOT_MEASURED
      : share >= 0.1
        ? `${worst.label} waits the most: ${percent(share)} of the time.`
        : 'No PE waits for its CPU.';
    return { lines: most(lines), sentence };
  },
};

const MEMORY: LaneChart = {
  id: 'memory',
  lane: 'nodes',
  title: 'Memory in use',
  help: 'Memory in use on each host, including cached pages of files.',
  unit: 'B',
  of: 'host',
  async draw(source, view) {
    const series = await ask(source, view, 'node_mem', ['MemUsed']);
    // A host has a device for each of its parts.
    const hosts = new Map<string, EntityBins[]>();
    for (const one of series) {
      const [host] = one.entity.split('/');
      hosts.set(host, [...(hosts.get(host) ?? []), one]);
    }
    const lines = [...hosts].map(([label, parts]) => ({
      label,
      values: Float64Array.from(parts[0].mean, (_, bin) =>
        parts.reduce((sum, { mean }) => sum + mean[bin] * KIB, 0),
      ),
    }));
    const ranked = lines
      .map(({ label, values }) => ({ label, top: mostOf(values) }))
      .filter(({ top }) => top > 0)
      .sort((a, b) => b.top - a.top);
    if (ranked.length === 0) return null;
    const [{ label, top }] = ranked;
    const sentence =
      ranked.length === 1
        ? `At most ${short(top)}B are in use on ${label}.`
        : `${label} uses the most: up to ${short(top)}B.`;
    return { lines: most(lines), sentence };
  },
};

export const CHARTS: readonly LaneChart[] = [
  ...[EVENTS, UNDONE, SHARES],
  ...THREAD_CHARTS,
  ...[CPUS, WAITS, MEMORY],
];

export const LANES: readonly { readonly lane: LaneGroup; readonly title: string }[] = [
  { lane: 'simulation', title: 'Simulation' },
  { lane: 'regions', title: 'Regions' },
  { lane: 'nodes', title: 'Nodes' },
  { lane: 'threads', title: 'Processes and threads' },
];
