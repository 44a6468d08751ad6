/** The regions view of a report: tables, sentences, colours. Pure. */
import {
  APPLICATION_SHARE,
  DRAM_ENERGY,
  evaluate,
  PACKAGE_ENERGY,
  POWER,
  RUNTIME,
  SYNC_RUNTIME,
  VISITS,
} from '../../../src/model/measures/index.ts';
import type {
  ProcessRegion,
  RegionColumn,
  RegionFacts,
  RegionRow,
} from '../../../src/view/facts/regions.ts';
import { percent } from '../figures.ts';
import type { ShownCell, ShownColumn, ShownRow, ShownTable } from '../parts/table.ts';

/** A number as C's %g writes it: as it stands in GEOPM's reports. */
export function general(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const exact = value.toExponential(5);
  const exponent = Number(exact.slice(exact.indexOf('e') + 1));
  if (exponent >= -4 && exponent < 6) return String(Number(value.toPrecision(6)));
  const digits = String(Number(exact.slice(0, exact.indexOf('e'))));
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

const HINT = /^time_hint_(.+)$/;

const MEASURES = [RUNTIME, SYNC_RUNTIME, VISITS, PACKAGE_ENERGY, DRAM_ENERGY, POWER];

/** Titles with explanations, for readers who have never seen a report; those of measures come from their declarations. */
const EXPLAINED: Readonly<Record<string, { readonly label: string; readonly help: string }>> = {
  ...Object.fromEntries(MEASURES.map((one) => [one.key, one])),
  gpu_energy: { label: 'GPU energy', help: 'of all GPUs, during sync-runtime' },
  frequency_percent: {
    label: 'frequency',
    help: 'cycles in which processors worked, as a share of those at their nominal frequency',
  },
  frequency: {
    label: 'frequency',
    help: 'the same in hertz: mean frequency while processors worked',
  },
  uncore_frequency: { label: 'uncore frequency', help: 'of caches and memory controllers' },
};
/** In this order, where a report has them; all else follows on demand. */
const FIRST = [
  ...['runtime', 'sync_runtime', 'count', 'package_energy', 'dram_energy', 'gpu_energy'],
  ...['power', 'frequency_percent', 'frequency', 'uncore_frequency'],
];

export const titleOf = ({ key }: RegionColumn): string =>
  EXPLAINED[key]?.label ?? key.replaceAll('_', ' ');

function columnOf(column: RegionColumn): ShownColumn {
  const { key, unit, help } = column;
  return {
    key,
    title: titleOf(column),
    ...(unit !== '' && { unit }),
    help: EXPLAINED[key]?.help ?? help,
    figure: general,
    bar: true,
  };
}

interface HintShare {
  readonly hint: string;
  readonly share: number;
}

/** Shares of a region's time by hint, largest first; none where no hint has time. */
function hintShares(columns: readonly RegionColumn[], row: RegionRow): readonly HintShare[] {
  const parts = columns.flatMap(({ key }, k) => {
    const hint = HINT.exec(key)?.[1];
    const time = row.values[k];
    return hint === undefined || time === null || !(time > 0) ? [] : [{ hint, time }];
  });
  const all = parts.reduce((sum, { time }) => sum + time, 0);
  return parts
    .sort((a, b) => b.time - a.time)
    .map(({ hint, time }) => ({ hint, share: time / all }));
}

const hintWords = ({ hint, share }: HintShare) => `${hint} ${percent(100 * share)}`;

/** “compute 83 %, io 17 %”: largest first; '' where no hint has time. */
const hintsOf = (columns: readonly RegionColumn[], row: RegionRow): string =>
  hintShares(columns, row).map(hintWords).join(', ');

/** Hosts in the order of the reports, then those of traces alone. */
export function hostsOf({ rows, traces, profiles }: RegionFacts): string[] {
  const told = new Set(rows.map(({ node }) => node));
  const others = [...traces, ...profiles].filter(({ host }) => !told.has(host));
  return [...new Set([...rows, ...others].map(({ host }) => host))];
}

/** The first with a region; else the first there is. */
export const firstHost = (facts: RegionFacts): string =>
  facts.rows.find(({ section }) => section === 'region')?.host ?? hostsOf(facts)[0] ?? '';

const cellOf = ({ columns }: RegionFacts, row: RegionRow, key: string): number | null => {
  const at = columns.findIndex((column) => column.key === key);
  return at < 0 ? null : row.values[at];
};

/** Columns that a table of one host shows. `all`: every key of the report. */
function shownColumns({ columns }: RegionFacts, rows: readonly RegionRow[], all: boolean) {
  const there = (column: RegionColumn) => {
    const at = columns.indexOf(column);
    return rows.some(({ values }) => values[at] !== null);
  };
  const known = FIRST.flatMap((key) => columns.filter((column) => column.key === key));
  const rest = columns.filter(({ key }) => !FIRST.includes(key));
  const others = all ? rest : [];
  return [...known, ...others].filter(there);
}

const TOTALS: Readonly<Record<string, string>> = {
  unmarked: 'Unmarked: in no region',
  epoch: 'Epochs',
  application: 'Application: the whole',
};

/** Rows of one host: regions, or with `totals` the sums that stand apart. */
export function hostTable(
  facts: RegionFacts,
  host: string,
  { totals, all }: { readonly totals: boolean; readonly all: boolean },
): ShownTable {
  const rows = facts.rows.filter(
    (row) => row.host === host && (row.section !== 'region') === totals,
  );
  const columns = shownColumns(facts, facts.rows, all);
  const named = facts.columns.flatMap(({ key }) => HINT.exec(key)?.[1] ?? []);
  const hints = named.length > 0;
  const rowOf = new Map<string, RegionRow>();
  // A hint has the same colour in all rows.
  const parts = ({ id }: ShownRow) => {
    const row = rowOf.get(id);
    if (row === undefined) return [];
    return hintShares(facts.columns, row).map((one) => ({
      share: one.share,
      colour: `var(--c${named.indexOf(one.hint) % 8})`,
      text: hintWords(one),
    }));
  };
  return {
    columns: [
      { key: 'region', title: totals ? 'Total' : 'Region' },
      ...columns.map(columnOf),
      ...(hints
        ? [
            {
              key: 'hints',
              title: 'hints',
              help: 'The region’s hints, as shares of its sync-runtime',
              parts,
            },
          ]
        : []),
    ],
    rows: rows.map((row, k): ShownRow => {
      const id = `${row.section} ${row.region} ${k}`;
      rowOf.set(id, row);
      return {
        id,
        cells: {
          region: row.section === 'region' ? row.region : (TOTALS[row.section] ?? row.section),
          hints: hintsOf(facts.columns, row),
          ...Object.fromEntries(columns.map(({ key }) => [key, cellOf(facts, row, key)])),
        },
      };
    }),
  };
}

/** One metric of each region over all hosts: mean, least, most, and each host. */
export function acrossTable(facts: RegionFacts, key: string, hosts: readonly string[]): ShownTable {
  const column = facts.columns.find((one) => one.key === key);
  const unit = column?.unit ?? '';
  const by = new Map<string, (number | null)[]>();
  for (const row of facts.rows) {
    const name = row.section === 'region' ? row.region : (TOTALS[row.section] ?? row.section);
    const values = by.get(name) ?? hosts.map(() => null);
    by.set(name, values);
    values[hosts.indexOf(row.host)] = cellOf(facts, row, key);
  }
  const number = { unit, figure: general };
  return {
    columns: [
      { key: 'region', title: 'Region' },
      { key: 'mean', title: 'mean', ...number, bar: true },
      { key: 'least', title: 'least', ...number },
      { key: 'most', title: 'most', ...number },
      {
        key: 'spread',
        title: 'spread',
        unit: '%',
        help: 'Maximum minus minimum, as a share of the mean',
        figure: (value) => value.toFixed(1),
        bar: true,
      },
      ...hosts.map((host) => ({ key: `host ${host}`, title: host, ...number, bar: true })),
    ],
    rows: [...by].map(([region, values]): ShownRow => {
      const there = values.filter((value): value is number => value !== null);
      const mean = there.reduce((sum, value) => sum + value, 0) / there.length;
      const [least, most] = [Math.min(...there), Math.max(...there)];
      const none = there.length === 0;
      const cells: Record<string, ShownCell> = {
        region,
        mean: none ? null : mean,
        least: none ? null : least,
        most: none ? null : most,
        spread: none || mean === 0 ? null : (100 * (most - least)) / mean,
      };
      hosts.forEach((host, k) => {
        cells[`host ${host}`] = values[k];
      });
      return { id: region, cells };
    }),
  };
}

/** The region with the most time, and the unmarked time. */
export function sentenceOf(facts: RegionFacts, host: string): string {
  const own = facts.rows.filter((row) => row.host === host);
  const runtime = (row: RegionRow | undefined) =>
    row === undefined ? null : cellOf(facts, row, 'runtime');
  const whole = runtime(own.find(({ section }) => section === 'application'));
  const unmarked = runtime(own.find(({ section }) => section === 'unmarked'));
  const regions = own
    .filter(({ section }) => section === 'region')
    .flatMap((row) => {
      const time = runtime(row);
      return time === null ? [] : [{ name: row.region, time }];
    })
    .sort((a, b) => b.time - a.time);
  const shareOf = (time: number | null): number | null =>
    evaluate(
      APPLICATION_SHARE,
      (key) => ({ runtime: time, application_runtime: whole })[key] ?? null,
      null,
    );
  const share = (time: number) =>
    shareOf(time) !== null && time <= (whole ?? 0)
      ? `, ${percent(shareOf(time))} ${APPLICATION_SHARE.label}`
      : '';
  if (regions.length === 0) {
    if (own.some(({ section }) => section === 'region'))
      return 'No report contains the runtime of regions';
    return whole === null
      ? 'No report contains regions'
      : `The application ran ${general(whole)} s; the report names no region`;
  }
  const [first] = regions;
  const rest = shareOf(unmarked) === null ? '' : `; ${percent(shareOf(unmarked))} are in no region`;
  return `${first.name} takes the most time: ${general(first.time)} s${share(first.time)}${rest}`;
}

/** Colours for all but the last of the style sheet’s, which is for all others. */
const COLOURS = 7;

/** Number of a region's colour, by hash: those with the most time first; -1 for the others. */
export function coloursOf(facts: RegionFacts): ReadonlyMap<number, number> {
  const times = new Map<number, number>();
  for (const row of facts.rows) {
    if (row.section !== 'region') continue;
    times.set(row.hash, (times.get(row.hash) ?? 0) + (cellOf(facts, row, 'runtime') ?? 0));
  }
  const order = [...times].sort(([, a], [, b]) => b - a);
  return new Map(order.map(([hash], k) => [hash, k < COLOURS ? k : -1]));
}

/** One region's times of all processes, or hosts. */
export interface Strip {
  readonly region: string;
  readonly points: readonly { readonly name: string; readonly value: number }[];
  readonly least: number;
  readonly most: number;
  readonly median: number;
  /** First and third quarter. */
  readonly quarters: readonly [number, number];
}

const quantile = (sorted: readonly number[], share: number): number => {
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
};

function stripOf(region: string, points: Strip['points']): Strip {
  const sorted = points.map(({ value }) => value).sort((a, b) => a - b);
  return {
    region,
    points,
    least: sorted[0],
    most: sorted[sorted.length - 1],
    median: quantile(sorted, 0.5),
    quarters: [quantile(sorted, 0.25), quantile(sorted, 0.75)],
  };
}

/** Runtime of each region by process; by host if the report has no processes. Longest first. */
export function stripsOf(facts: RegionFacts): {
  readonly of: 'process' | 'host';
  readonly strips: Strip[];
} {
  const by = new Map<string, { name: string; value: number }[]>();
  const add = (region: string, name: string, value: number | null) => {
    if (value === null || !Number.isFinite(value)) return;
    const points = by.get(region) ?? [];
    by.set(region, points);
    points.push({ name, value });
  };
  const several = new Set(facts.processes.map(({ host }) => host)).size > 1;
  const processName = ({ host, name }: ProcessRegion) => (several ? `${host} ${name}` : name);
  for (const one of facts.processes) add(one.region, processName(one), one.runtime);
  const of = by.size > 0 ? 'process' : 'host';
  if (of === 'host') {
    for (const row of facts.rows) {
      if (row.section === 'region') add(row.region, row.host, cellOf(facts, row, 'runtime'));
    }
  }
  const strips = [...by].map(([region, points]) => stripOf(region, points));
  return { of, strips: strips.sort((a, b) => b.most - a.most) };
}

/** The most uneven region in words. */
export function spreadSentence(of: 'process' | 'host', strips: readonly Strip[]): string {
  const several = strips.filter(({ points }) => points.length > 1);
  if (several.length === 0) return `Only one ${of}: there is nothing to compare`;
  const worst = several.reduce((a, b) => (a.most - a.least >= b.most - b.least ? a : b));
  const [high] = [...worst.points].sort((a, b) => b.value - a.value);
  const low = worst.points.reduce((a, b) => (a.value <= b.value ? a : b));
  const seconds = (value: number) => `${general(Number(value.toPrecision(4)))} s`;
  return `${worst.region} is the most uneven: ${high.name} spends ${seconds(high.value)} in it, ${low.name} ${seconds(low.value)}`;
}
