/** A run's statistics as text: ROSS's fields in ROSS's order, times of each PE, the model's own results. */
import { ACTIVITIES, type Activity } from '../sim/counters.ts';
import type { ModelResults } from '../sim/results.ts';
import type { StatisticResult } from '../sim/statistic/gathered.ts';
import type { SteadyMean } from '../sim/statistic/steady.ts';
import type { PeStatistics, RunResult } from '../sim/statistics.ts';
import { fewerPes } from './auto-pes.ts';
import { instrumentationLines } from './instrumentation.ts';
import {
  GVT_TITLE,
  MPI_GVT_TITLE,
  overNetwork,
  STATISTICS,
  type StatisticsField,
} from './statistics-fields.ts';
import { figure, table } from './table.ts';

/** More PEs than this are summed up. */
const MOST_PES = 8;
/** Rows and bins that text shows; all are in `--json`. */
const MOST_ROWS = 20;
const MOST_BINS = 20;
const BAR = 40;
/** Correlation of batches with the next, times the root of their number: that of independent ones is above it in 5 %. */
const DEPENDENT = 1.65;

function shown({ as = 'int', value }: StatisticsField, r: RunResult): string {
  const v = value(r);
  if (v === null) return 'n/a';
  if (typeof v === 'string') return v;
  switch (as) {
    case 'int':
      return v.toFixed(0);
    case 'percent':
      return `${v.toFixed(2)} %`;
    case 'rate':
      return v.toFixed(1);
    case 'seconds':
      return v.toFixed(4);
    case 'text':
      return String(v);
  }
}

function statisticsLines(r: RunResult): string[] {
  const lines: string[] = [];
  for (const { title, fields } of STATISTICS) {
    const here = fields.filter((f) => f.label !== undefined && (f.when?.(r) ?? true));
    if (here.length === 0) continue;
    // ROSS prints the running time by itself, between the configuration and the statistics.
    if (title === 'TW Library Statistics') {
      lines.push('', `\t: Running Time = ${r.wallSeconds.toFixed(4)} seconds`);
    }
    lines.push('');
    const over = title === GVT_TITLE && overNetwork(r) ? MPI_GVT_TITLE : title;
    if (over !== null) lines.push(`${over}:`);
    for (const f of here) lines.push(`\t${(f.label ?? '').padEnd(50)} ${shown(f, r).padStart(11)}`);
  }
  return lines;
}

function peLines(r: RunResult): string[] {
  const value = (p: PeStatistics, activity: Activity) => p.seconds[activity].toFixed(4);
  if (r.perPe.length > MOST_PES) {
    const rows = ACTIVITIES.map((activity) => {
      const all = r.perPe.map((p) => p.seconds[activity]);
      const mean = all.reduce((sum, x) => sum + x, 0) / all.length;
      return [activity, Math.min(...all), mean, Math.max(...all)].map((x) =>
        typeof x === 'number' ? x.toFixed(4) : x,
      );
    });
    return table(['', 'least', 'mean', 'most'], r.config.timing ? rows : []);
  }
  const row = (name: string, of: (p: PeStatistics) => string) => [name, ...r.perPe.map(of)];
  const rows = [
    row('CPU', (p) => (p.cpu === null ? '-' : String(p.cpu))),
    row('LPs', (p) => String(p.lps)),
    row('events processed', (p) => p.counts.eventsProcessed.toFixed(0)),
    row('events rolled back', (p) => p.counts.eventsRolledBack.toFixed(0)),
  ];
  if (r.config.timing) {
    for (const activity of ACTIVITIES) rows.push(row(activity, (p) => value(p, activity)));
  }
  return table(['', ...r.perPe.map((p) => `PE ${p.pe}`)], rows);
}

/** A histogram of any number of bins, in at most MOST_BINS lines. */
function histogram(bins: readonly number[]): string[] {
  const step = Math.ceil(bins.length / MOST_BINS);
  const groups = Array.from({ length: Math.ceil(bins.length / step) }, (_, g) => ({
    name: step === 1 ? String(g) : `${g * step}…${Math.min(bins.length, (g + 1) * step) - 1}`,
    weight: bins.slice(g * step, (g + 1) * step).reduce((sum, w) => sum + w, 0),
  }));
  const most = Math.max(...groups.map((g) => g.weight), Number.MIN_VALUE);
  const name = Math.max(...groups.map((g) => g.name.length));
  const digits = Math.max(...groups.map((g) => figure(g.weight).length));
  return groups.map(({ name: n, weight }) => {
    const bar = '#'.repeat(Math.round((BAR * Math.max(0, weight)) / most));
    return `    ${n.padStart(name)}  ${figure(weight).padStart(digits)}  ${bar}`.trimEnd();
  });
}

/** A statistic's line: its mean, or median, and what else there is to say of it. */
function statisticText(one: StatisticResult): string {
  const number = (value: number | null) => (value === null ? 'n/a' : figure(value));
  const range = 'min' in one ? `; ${number(one.min)} to ${number(one.max)}` : '';
  switch (one.kind) {
    case 'tally':
    case 'timeAverage': {
      const of =
        one.kind === 'tally' ? `${figure(one.count)} values, sd ${number(one.sd)}` : 'over time';
      return `mean ${number(one.mean)} (${of}${range})${steadyText(one.steady)}`;
    }
    case 'quantiles': {
      const { p50, p90, p99, error } = one;
      return `median ${number(p50)}, p90 ${number(p90)}, p99 ${number(p99)}, each ±${figure(100 * error)} % (${figure(one.count)} values${range})`;
    }
    case 'histogram':
      return `${figure(one.count)} values from ${figure(one.from)} to ${figure(one.to)}, ${figure(one.below)} below, ${figure(one.above)} above`;
  }
}

function steadyText(steady: SteadyMean | null): string {
  if (steady === null) return '';
  const { mean, low, high, confidence, from, batches, correlation } = steady;
  const doubt =
    correlation * Math.sqrt(batches) > DEPENDENT
      ? '; batches depend on each other: a longer run is needed'
      : '';
  return `\n\t  from ${figure(from)} on: ${figure(mean)}, ${figure(100 * confidence)} % interval ${figure(low)} to ${figure(high)}${doubt}`;
}

function resultLines({ totals, maxima, counts, rows, statistics }: ModelResults): string[] {
  const lines: string[] = [];
  const section = (title: string, values: Record<string, number>) => {
    const entries = Object.entries(values);
    if (entries.length === 0) return;
    lines.push('', `${title}:`);
    for (const [name, v] of entries) lines.push(`\t${name.padEnd(50)} ${figure(v).padStart(11)}`);
  };
  section('Model totals', totals);
  section('Model maxima', maxima);
  const all = Object.entries(statistics);
  if (all.length > 0) lines.push('', 'Model statistics:');
  for (const [name, one] of all) {
    lines.push(`\t${name}: ${statisticText(one)}`);
    if (one.kind === 'histogram' && one.count > 0) lines.push(...histogram(one.bins));
  }
  for (const [name, bins] of Object.entries(counts)) {
    if (bins.length > 0) lines.push('', `Model histogram, ${name}:`, ...histogram(bins));
  }
  for (const [name, all] of Object.entries(rows)) {
    const columns = [...new Set(all.flatMap((row) => Object.keys(row.values)))];
    const cells = all
      .slice(0, MOST_ROWS)
      .map(({ lp, values }) => [
        `LP ${lp}`,
        ...columns.map((c) => (values[c] === undefined ? '' : figure(values[c]))),
      ]);
    lines.push('', `Model rows, ${name}:`, ...table(['', ...columns], cells));
    if (all.length > MOST_ROWS) lines.push(`  … ${all.length - MOST_ROWS} more with --json`);
  }
  return lines;
}

/** The whole text, with its last line end. An unfinished run is marked as such, first and last. */
export function reportText(r: RunResult): string {
  const partial = r.finished
    ? []
    : [`Interrupted at virtual time ${figure(r.gvt)} of ${r.end}: what follows is partial.`];
  const memory = `${r.model}: ${r.synchroniser}, ${r.pes} ${r.pes === 1 ? 'PE' : 'PEs'}, ${r.lps} LPs`;
  const fewer = fewerPes(r);
  const lines = [
    ...partial,
    memory,
    ...(r.stoppedAt === null
      ? []
      : [`Stopped by the model at virtual time ${figure(r.stoppedAt)}.`]),
    ...statisticsLines(r),
    '',
    `PEs (seconds per activity; estimates: sampled):`,
    ...peLines(r),
    ...resultLines(r.results),
    ...instrumentationLines(r),
    '',
    `\t${'Critical path (events)'.padEnd(50)} ${String(r.criticalPath).padStart(11)}`,
    `\t${'State digest'.padEnd(50)} ${r.stateDigest}`,
    `\t${'Event digest'.padEnd(50)} ${r.eventDigest}`,
    ...(r.recording === undefined ? [] : [`\t${'Recording'.padEnd(50)} ${r.recording}`]),
    ...partial.map((line) => line.replace('what follows', 'all of the above')),
    ...(fewer === null ? [] : ['', fewer]),
  ];
  return `${lines.join('\n')}\n`;
}
