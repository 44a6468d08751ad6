/** Tables about the recording itself: its contents, where it ran, and suspect spots. */
import { beganOf, type Recording } from '../model/recording.ts';
import type { ClockPlace } from './clocks.ts';
import type { Suspect } from './part.ts';
import type { Sources } from './sources.ts';
import { SQL_TYPES, type Table } from './table.ts';

export type FactType = 'VARCHAR' | 'UINTEGER' | 'INTEGER' | 'HUGEINT' | 'DOUBLE';
/** A column of a table of facts, with what it means. */
export type FactColumn = readonly [name: string, type: FactType, unit?: string, help?: string];

export const factTable = (
  name: string,
  columns: readonly FactColumn[],
  rows: FactTable['rows'],
): FactTable => ({ name, columns, rows });

export interface FactSources {
  readonly tables: readonly Table[];
  readonly start: bigint | null;
  readonly clocks: readonly ClockPlace[];
}

export interface FactTable {
  readonly name: string;
  readonly columns: readonly FactColumn[];
  readonly rows: readonly (readonly (string | number | bigint | null | undefined)[])[];
}

/** Columns of the tables about a recording. */
export const FACT_COLUMNS: ReadonlyMap<string, readonly FactColumn[]> = new Map(
  Object.entries<readonly FactColumn[]>({
    recording: [
      ['name', 'VARCHAR', '', 'of its folder or file'],
      ['state', 'VARCHAR', '', 'how it ended: finished, interrupted, failed; running'],
      ['started', 'VARCHAR', '', 'time of day (UTC) at which it was started'],
      ['ended', 'VARCHAR', '', 'and at which it had ended'],
      ['error', 'VARCHAR', '', 'why it failed'],
      ['command', 'VARCHAR', '', 'the words of the command'],
      ['triscope', 'VARCHAR', '', 'version of triscope that recorded it'],
      ['start_ns', 'HUGEINT', 'ns', 'time of day at t = 0, since 1970'],
      ['began', 'DOUBLE', 's', 'when PEs began to handle events, after their set-up'],
      [
        'dropped_bytes',
        'HUGEINT',
        'B',
        'bytes that were dropped because buffers or the disk were full',
      ],
    ],
    metrics: [
      ['table_name', 'VARCHAR', '', 'table'],
      ['column_name', 'VARCHAR', '', 'column'],
      ['type', 'VARCHAR', '', 'SQL type'],
      ['kind', 'VARCHAR', '', 'event (counts), gauge or control'],
      ['behaviour', 'VARCHAR', '', 'constant, monotone, variable or label'],
      ['form', 'VARCHAR', '', 'total: since the counter’s start; change: since the last sample'],
      ['unit', 'VARCHAR', '', 'unit (UCUM)'],
      ['bits', 'INTEGER', 'bit', 'width of the counter'],
      ['combine', 'VARCHAR', '', 'how values of several entities combine'],
      ['help', 'VARCHAR', '', 'what it means'],
    ],
    pes: [
      ['pe', 'UINTEGER', '', 'PE'],
      ['rank', 'UINTEGER', '', 'its MPI rank'],
      ['host', 'VARCHAR', '', 'host on which it ran'],
      ['cpu', 'UINTEGER', '', 'CPU to which it was bound; NULL: none'],
      ['thread_id', 'UINTEGER', '', 'its thread'],
    ],
    entities: [
      ['domain', 'VARCHAR', '', 'host, cpu or pe'],
      ['id', 'UINTEGER', '', 'number in its domain'],
      ['name', 'VARCHAR', '', 'name'],
      ['parent_domain', 'VARCHAR', '', 'domain of what it is part of'],
      ['parent', 'UINTEGER', '', 'number of what it is part of'],
    ],
    clocks: [
      ['file', 'VARCHAR', '', 'file'],
      ['table_name', 'VARCHAR', '', 'table that has its rows'],
      ['placement', 'VARCHAR', '', 'how its times were placed'],
      ['zero_ns', 'HUGEINT', 'ns', 'time of day of its time 0, since 1970'],
      ['shift', 'DOUBLE', 's', 'what was added to its times'],
      ['bound', 'DOUBLE', 's', 'by how much they may be off against those of other files'],
      ['quality', 'VARCHAR', '', 'how good that is, in words'],
    ],
    link: [
      ['host', 'VARCHAR', '', 'host'],
      ['first_host', 'VARCHAR', '', 'host of the first rank'],
      ['round_trip', 'DOUBLE', 's', 'shortest of up to 400 messages between them and back'],
    ],
    note: [
      ['t', 'DOUBLE', 's', 'time since the recording’s start'],
      ['t1', 'DOUBLE', 's', 'and the end, of a note about a stretch'],
      ['text', 'VARCHAR', '', 'what was noted'],
    ],
    suspect: [
      ['file', 'VARCHAR', '', 'file'],
      ['what', 'VARCHAR', '', 'what is doubtful in it'],
    ],
  }),
);

const aboutTable = (name: string, rows: FactTable['rows']): FactTable =>
  factTable(name, FACT_COLUMNS.get(name) ?? [], rows);

/** The round trips between the hosts of a run, as measured when it began and ended. */
const linksOf = (recording: Recording | null): (string | number)[][] =>
  (recording?.clocks ?? []).map(({ host, start, end }) => [
    ...[host, recording?.hosts[0]?.name ?? ''],
    // Half of the round trip is the error of each clock.
    (2 * Math.min(start.uncertainty, end.uncertainty)) / 1e9,
  ]);

/** `recording`, `metrics`, `pes`, `entities` and `clocks`; `link` of several hosts, `note` where something is noted. */
export function factTables(
  { name, recording, notes: { notes } }: Sources,
  { tables, start, clocks }: FactSources,
): FactTable[] {
  const links = linksOf(recording);
  const dropped = recording?.sources.reduce((sum, one) => sum + BigInt(one.droppedBytes), 0n);
  return [
    aboutTable('recording', [
      [
        ...[name, recording?.state, recording?.started, recording?.ended, recording?.error],
        ...[recording?.madeBy.command.join(' '), recording?.madeBy.triscope],
        ...[start, recording ? beganOf(recording) : null, dropped],
      ],
    ]),
    aboutTable(
      'metrics',
      tables.flatMap((one) =>
        one.columns.map(({ name: column, metric: m }) => [
          ...[one.name, column, SQL_TYPES[m.cell], m.kind, m.behaviour, m.form, m.unit],
          ...[m.bits, m.over, m.help],
        ]),
      ),
    ),
    aboutTable(
      'pes',
      (recording?.pes ?? []).map((one) => [one.pe, one.rank, one.host, one.cpu, one.threadId]),
    ),
    aboutTable('entities', entities(recording)),
    aboutTable(
      'clocks',
      clocks.map((one) => [
        ...[one.file, one.table, one.placement, one.zero],
        ...[one.placement === 'untimed' ? null : one.shift, one.bound, one.quality],
      ]),
    ),
    ...(links.length === 0 ? [] : [aboutTable('link', links)]),
    ...(notes.length === 0
      ? []
      : [
          aboutTable(
            'note',
            notes.map(({ time, until, text }) => [time, until, text]),
          ),
        ]),
  ];
}

/** `suspect`. */
export const suspectTable = (suspects: readonly Suspect[]): FactTable =>
  aboutTable(
    'suspect',
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
