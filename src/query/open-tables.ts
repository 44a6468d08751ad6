/**
 * Tables whose columns only their files list (a node's types and keys, a trace's signals), but whose columns' types follow
 * from their names: those of raw stats (formats/tacc/schema.ts) and of GEOPM's files (formats/geopm/read/tables.ts).
 */
import type { Cell } from '../model/metric.ts';

/** Texts of each table, hashes, and what all other columns are. */
const RULES = {
  node_mark: { labels: ['host', 'jobids', 'mark'], hashes: '', others: 'f64' },
  node: { labels: ['host', 'jobids', 'device'], hashes: '', others: 'u64' },
  node_rate: { labels: ['host', 'jobids', 'device'], hashes: '', others: 'f64' },
  geopm_region: { labels: ['host', 'section', 'region'], hashes: 'hash', others: 'f64' },
  geopm_trace: { labels: ['host', 'region_hint'], hashes: 'region_hash', others: 'f64' },
  geopm_session: { labels: ['host', 'region_hint'], hashes: 'region_hash', others: 'f64' },
  geopm_profile_trace: { labels: ['host', 'event'], hashes: 'hash', others: 'f64' },
  geopm_process: { labels: ['host', 'process', 'region'], hashes: '', others: 'f64' },
  geopm_inside: { labels: ['host', 'region', 'path'], hashes: '', others: 'f64' },
} as const satisfies Readonly<
  Record<string, { labels: readonly string[]; hashes: string; others: Cell }>
>;

type Rules = typeof RULES;

type RuleOf<N extends string> = N extends 'node' | 'node_rate'
  ? never
  : N extends keyof Rules
    ? N
    : N extends `node_${string}_rate`
      ? 'node_rate'
      : N extends `node_${string}`
        ? 'node'
        : never;

type CellBy<R extends keyof Rules, K extends string> = K extends Rules[R]['labels'][number]
  ? 'label'
  : K extends 't' | 't0' | 'time'
    ? 'f64'
    : Rules[R]['hashes'] extends ''
      ? Rules[R]['others']
      : K extends Rules[R]['hashes'] | `${Rules[R]['hashes']}_${string}`
        ? 'u32'
        : Rules[R]['others'];

/** The cell of column `K` of table `N`; never where its name does not tell. */
export type OpenCell<N extends string, K extends string> = [RuleOf<N>] extends [never]
  ? never
  : CellBy<RuleOf<N>, K>;

function ruleOf(name: string): Rules[keyof Rules] | null {
  if (Object.hasOwn(RULES, name) && !/^node(_rate)?$/.test(name)) return RULES[name as keyof Rules];
  if (!name.startsWith('node_')) return null;
  return name.endsWith('_rate') ? RULES.node_rate : RULES.node;
}

/** The same when it runs; null where the name does not tell. */
export function openCell(name: string, column: string): Cell | null {
  const rule = ruleOf(name);
  if (rule === null) return null;
  const { labels, hashes, others } = rule;
  if (labels.some((label) => label === column)) return 'label';
  if (['t', 't0', 'time'].includes(column)) return 'f64';
  const isHash = hashes !== '' && (column === hashes || column.startsWith(`${hashes}_`));
  return isHash ? 'u32' : others;
}
