/** Tables about the recording itself: what is in it, where it ran, what is doubtful. */
import type { Recording } from '../model/recording.ts';
import type { ClockPlace } from './clocks.ts';
import type { Suspect } from './part.ts';
import type { Sources } from './sources.ts';
import { createTable } from './sql.ts';
import { SQL_TYPES, type Table } from './table.ts';

const texts = (...names: readonly string[]) => names.map((name) => `${name} VARCHAR`);
const counts = (...names: readonly string[]) => names.map((name) => `${name} UINTEGER`);

export interface Facts {
  readonly tables: readonly Table[];
  readonly suspects: readonly Suspect[];
  readonly start: bigint | null;
  readonly clocks: readonly ClockPlace[];
}

/** Statements that make `recording`, `metrics`, `pes`, `entities`, `clocks` and `suspect`. */
export function factStatements(
  { name, recording }: Sources,
  { tables, suspects, start, clocks }: Facts,
  schema: string,
): string[] {
  const dropped = recording?.sources.reduce((sum, one) => sum + BigInt(one.droppedBytes), 0n);
  return [
    ...createTable(
      `${schema}.recording`,
      [
        ...texts('name', 'state', 'started', 'ended', 'error', 'command', 'triscope'),
        ...['start_ns HUGEINT', 'dropped_bytes HUGEINT'],
      ],
      [
        [
          ...[name, recording?.state, recording?.started, recording?.ended, recording?.error],
          ...[recording?.madeBy.command.join(' '), recording?.madeBy.triscope],
          ...[start, dropped],
        ],
      ],
    ),
    ...createTable(
      `${schema}.metrics`,
      [
        ...texts('table_name', 'column_name', 'type', 'kind', 'behaviour', 'form', 'unit'),
        ...['bits INTEGER', ...texts('combine', 'help')],
      ],
      tables.flatMap((table) =>
        table.columns.map(({ name: column, metric: m }) => [
          ...[table.name, column, SQL_TYPES[m.cell], m.kind, m.behaviour, m.form, m.unit],
          ...[m.bits, m.over, m.help],
        ]),
      ),
    ),
    ...createTable(
      `${schema}.pes`,
      [...counts('pe', 'rank'), ...texts('host'), ...counts('cpu', 'thread_id')],
      (recording?.pes ?? []).map((one) => [one.pe, one.rank, one.host, one.cpu, one.threadId]),
    ),
    ...createTable(
      `${schema}.entities`,
      [...texts('domain'), ...counts('id'), ...texts('name', 'parent_domain'), ...counts('parent')],
      entities(recording),
    ),
    ...createTable(
      `${schema}.clocks`,
      [
        ...texts('file', 'table_name', 'placement'),
        ...['zero_ns HUGEINT', 'shift DOUBLE', ...texts('quality')],
      ],
      clocks.map((one) => [
        ...[one.file, one.table, one.placement, one.zero],
        ...[one.placement === 'untimed' ? null : one.shift, one.quality],
      ]),
    ),
    ...createTable(
      `${schema}.suspect`,
      texts('file', 'what'),
      suspects.map(({ file, what }) => [file, what]),
    ),
  ];
}

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
