/** Tables about the recording itself: what is in it, where it ran, what is doubtful. */
import type { Recording } from '../model/recording.ts';
import type { ClockPlace } from './clocks.ts';
import type { Suspect } from './part.ts';
import type { Sources } from './sources.ts';
import { SQL_TYPES, type Table } from './table.ts';

export type FactType = 'VARCHAR' | 'UINTEGER' | 'INTEGER' | 'HUGEINT' | 'DOUBLE';
type FactColumn = readonly [name: string, type: FactType];

const columns =
  (type: FactType) =>
  (...names: readonly string[]): FactColumn[] =>
    names.map((name) => [name, type]);
const [texts, counts, integers, huge, doubles] = (
  ['VARCHAR', 'UINTEGER', 'INTEGER', 'HUGEINT', 'DOUBLE'] as const
).map(columns);

const table = (
  name: string,
  columns: readonly FactColumn[],
  rows: FactTable['rows'],
): FactTable => ({ name, columns, rows });

export interface Facts {
  readonly tables: readonly Table[];
  readonly start: bigint | null;
  readonly clocks: readonly ClockPlace[];
}

export interface FactTable {
  readonly name: string;
  readonly columns: readonly FactColumn[];
  readonly rows: readonly (readonly (string | number | bigint | null | undefined)[])[];
}

/** `recording`, `metrics`, `pes`, `entities` and `clocks`. */
export function factTables(
  { name, recording }: Sources,
  { tables, start, clocks }: Facts,
): FactTable[] {
  const dropped = recording?.sources.reduce((sum, one) => sum + BigInt(one.droppedBytes), 0n);
  return [
    table(
      'recording',
      [
        ...texts('name', 'state', 'started', 'ended', 'error', 'command', 'triscope'),
        ...huge('start_ns', 'dropped_bytes'),
      ],
      [
        [
          ...[name, recording?.state, recording?.started, recording?.ended, recording?.error],
          ...[recording?.madeBy.command.join(' '), recording?.madeBy.triscope],
          ...[start, dropped],
        ],
      ],
    ),
    table(
      'metrics',
      [
        ...texts('table_name', 'column_name', 'type', 'kind', 'behaviour', 'form', 'unit'),
        ...integers('bits'),
        ...texts('combine', 'help'),
      ],
      tables.flatMap((one) =>
        one.columns.map(({ name: column, metric: m }) => [
          ...[one.name, column, SQL_TYPES[m.cell], m.kind, m.behaviour, m.form, m.unit],
          ...[m.bits, m.over, m.help],
        ]),
      ),
    ),
    table(
      'pes',
      [...counts('pe', 'rank'), ...texts('host'), ...counts('cpu', 'thread_id')],
      (recording?.pes ?? []).map((one) => [one.pe, one.rank, one.host, one.cpu, one.threadId]),
    ),
    table(
      'entities',
      [...texts('domain'), ...counts('id'), ...texts('name', 'parent_domain'), ...counts('parent')],
      entities(recording),
    ),
    table(
      'clocks',
      [
        ...texts('file', 'table_name', 'placement'),
        ...huge('zero_ns'),
        ...doubles('shift', 'bound'),
        ...texts('quality'),
      ],
      clocks.map((one) => [
        ...[one.file, one.table, one.placement, one.zero],
        ...[one.placement === 'untimed' ? null : one.shift, one.bound, one.quality],
      ]),
    ),
  ];
}

/** `suspect`. */
export const suspectTable = (suspects: readonly Suspect[]): FactTable =>
  table(
    'suspect',
    texts('file', 'what'),
    suspects.map(({ file, what }) => [file, what]),
  );

type EntityRow = [string, number, string, string | null, number | null];

/** Hosts, their CPUs that PEs were bound to, and PEs, each with what it is part of. */
function entities(recording: Recording | null): EntityRow[] {
  const rows: EntityRow[] = [];
  const hosts = new Map<string, number>();
  for (const { name } of recording?.hosts ?? []) {
    hosts.set(name, hosts.size);
    rows.push(['host', hosts.size - 1, name, null, null]);
  }
  const cpus = new Map<string, number>();
  for (const { pe, host, cpu } of recording?.pes ?? []) {
    const on = hosts.get(host) ?? null;
    const name = `${host}:${cpu}`;
    if (cpu !== null && !cpus.has(name)) {
      cpus.set(name, cpus.size);
      rows.push(['cpu', cpus.size - 1, name, on === null ? null : 'host', on]);
    }
    if (cpu === null) rows.push(['pe', pe, `PE ${pe}`, on === null ? null : 'host', on]);
    else rows.push(['pe', pe, `PE ${pe}`, 'cpu', cpus.get(name) ?? null]);
  }
  return rows;
}
