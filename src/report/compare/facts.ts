/** What is compared of a run as a whole: its settings, and the result that it stated at its end. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenRecording, Row } from '../../query/index.ts';
import type { Has } from '../tables.ts';

export interface Fact {
  readonly key: string;
  readonly unit: string;
  readonly value: string | number;
}

/** The result that a simulation leaves in its recording: key, name, unit. */
const RESULT: readonly (readonly [string, string, string])[] = [
  ['model', 'model', ''],
  ['synchroniser', 'synchroniser', ''],
  ['pes', 'PEs', ''],
  ['kps', 'KPs', ''],
  ['lps', 'LPs', ''],
  ['end', 'end', 'virtual time'],
  ['wallSeconds', 'time', 's'],
  ['eventRate', 'committed events', 'events/s'],
  ['netEvents', 'committed events', 'in all'],
  ['eventsProcessed', 'events handled', 'in all'],
  ['eventsRolledBack', 'events rolled back', 'in all'],
  ['efficiency', 'efficiency', '%'],
  ['primaryRollbacks', 'primary rollbacks', ''],
  ['secondaryRollbacks', 'secondary rollbacks', ''],
  ['gvtComputations', 'GVTs', ''],
  ['remoteSends', 'events to other PEs', ''],
  ['peakEvents', 'events in memory', 'at most'],
  ['peakRssBytes', 'memory', 'B at most'],
  ['eventDigest', 'digest of committed events', ''],
  ['stateDigest', 'digest of final states', ''],
];

function resultOf(path: string): Fact[] {
  let result: Readonly<Record<string, unknown>>;
  try {
    result = JSON.parse(readFileSync(join(path, 'sim-result.json'), 'utf8'));
  } catch {
    // Only finished runs of the simulator have a result.
    return [];
  }
  return RESULT.flatMap(([name, key, unit]) => {
    const value = result[name];
    return typeof value === 'string' || typeof value === 'number' ? [{ key, unit, value }] : [];
  });
}

async function hostFacts(recording: OpenRecording, hosts: readonly string[]): Promise<Fact[]> {
  const [row] = await recording.query<Row>(
    'SELECT state, command, (SELECT nullif(count(*), 0) FROM pes) AS pes FROM recording',
  );
  const facts: (Fact | null)[] = [
    text('state', row.state),
    text('command', row.command),
    hosts.length === 0 ? null : { key: 'hosts', unit: '', value: hosts.join(', ') },
    typeof row.pes === 'number' ? { key: 'PEs', unit: '', value: row.pes } : null,
  ];
  return facts.filter((fact) => fact !== null);
}

const text = (key: string, value: unknown): Fact | null =>
  typeof value === 'string' ? { key, unit: '', value } : null;

/** Hosts that samples or reports are of. */
export async function hostsOf(recording: OpenRecording, has: Has): Promise<string[]> {
  const tables = ['node_cpu', 'node_mem', 'geopm_region', 'geopm_trace', 'pes'].filter((table) =>
    has(`${table}.host`),
  );
  const all = tables.map((table) => `SELECT DISTINCT host FROM ${table}`).join(' UNION ');
  const rows = await recording.query<{ host: string | null }>(`${all} ORDER BY ALL`);
  const names = rows.flatMap(({ host }) => (host === null ? [] : [host]));
  // PEs record the short name of their host, raw stats the full one.
  return names.filter((name) => !names.some((other) => other.startsWith(`${name}.`)));
}

/** The facts in the order in which they are shown; each key with its unit once. */
export async function comparedFactsOf(
  recording: OpenRecording,
  path: string,
  hosts: readonly string[],
): Promise<Fact[]> {
  const facts = [...(await hostFacts(recording, hosts)), ...resultOf(path)];
  const seen = new Set<string>();
  return facts.filter(({ key, unit }) => {
    const name = `${key} ${unit}`;
    const isFirst = !seen.has(name);
    seen.add(name);
    return isFirst;
  });
}

/** Seconds that the run says it took; null where it does not. */
export function secondsOf(facts: readonly Fact[]): number | null {
  const value = facts.find(({ key, unit }) => key === 'time' && unit === 's')?.value;
  return typeof value === 'number' ? value : null;
}
