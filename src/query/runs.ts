/**
 * Recordings side by side: table `runs`, a row each with its settings, and schema `every`, in which each table is that of all
 * recordings together, with the run's name before each row.
 */
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Recording } from '../model/recording.ts';
import { quoteName, quoteText } from '../model/sql.ts';
import { readPlain } from '../os/plain-file.ts';
import { type FactColumn, type FactTable, type FactType, factTable } from './facts.ts';
import { runAll } from './make.ts';
import type { Sources } from './sources.ts';

/** The schema of what all recordings have together. */
export const EVERY = 'every';
export const LOOKS_AT_EVERY = /\bevery\b/i;

/** A recording, and the schema of its tables. */
export interface RunTables {
  readonly schema: string;
  readonly sources: Sources;
}

/** Of one recording alone the schema is `main`: it is called as its folder. */
const nameOf = ({ schema, sources }: RunTables): string =>
  schema === 'main' ? sources.name : schema;

type Cell = string | number | null | undefined;
type FactSources = ReadonlyMap<string, Cell>;

const RESULT_FILE = 'sim-result.json';
/** Bytes of it. */
const LONGEST_RESULT_BYTES = 1 << 24;

/** What a simulation's result says, by its keys; nothing where there is none. */
function resultOf({ path, recording }: Sources): Readonly<Record<string, unknown>> {
  if (recording === null) return {};
  try {
    const value: unknown = JSON.parse(readPlain(join(path, RESULT_FILE), LONGEST_RESULT_BYTES));
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Columns of `runs` except options. */
export const RUN_COLUMNS: readonly FactColumn[] = [
  ['run', 'VARCHAR', '', 'name of the run: the schema of its tables; column run of schema every'],
  ['path', 'VARCHAR', '', 'its folder or file'],
  ['state', 'VARCHAR', '', 'how it ended: finished, interrupted, failed; running'],
  ['started', 'VARCHAR', '', 'time of day (UTC) at which it was started'],
  ['ended', 'VARCHAR', '', 'and at which it had ended'],
  ['error', 'VARCHAR', '', 'why it failed'],
  ['command', 'VARCHAR', '', 'the words of the command'],
  ['triscope', 'VARCHAR', '', 'version of triscope that recorded it'],
  ['node_version', 'VARCHAR', '', 'version of Node.js that ran it'],
  ['hosts', 'INTEGER', '', 'number of hosts'],
  ['host', 'VARCHAR', '', 'the first host'],
  ['cpu_model', 'VARCHAR', '', 'model of its processors'],
  ['cpus', 'INTEGER', '', 'CPUs that it has'],
  ['memory', 'DOUBLE', 'B', 'memory that it has'],
  ['model', 'VARCHAR', '', 'model that was simulated'],
  ['synchroniser', 'VARCHAR', '', 'how PEs were kept in order'],
  ['pes', 'INTEGER', '', 'PEs of the simulation'],
  ['kps', 'INTEGER', '', 'KPs of all PEs'],
  ['lps', 'INTEGER', '', 'LPs'],
  ['end_time', 'DOUBLE', '', 'virtual time at which it was to end'],
  ['wall_seconds', 'DOUBLE', 's', 'real time that it took'],
  ['event_rate', 'DOUBLE', '1/s', 'committed events per second'],
  ['net_events', 'DOUBLE', '', 'committed events'],
  ['efficiency', 'DOUBLE', '%', 'efficiency of the whole run, its ramp included'],
];

/** Keys of a result, by column. */
const OF_RESULT: Readonly<Record<string, string>> = {
  ...{ model: 'model', synchroniser: 'synchroniser', pes: 'pes', kps: 'kps', lps: 'lps' },
  ...{ end_time: 'end', wall_seconds: 'wallSeconds', event_rate: 'eventRate' },
  ...{ net_events: 'netEvents', efficiency: 'efficiency' },
};

function factSourcesOf(run: RunTables): FactSources {
  const { path, recording } = run.sources;
  const result = resultOf(run.sources);
  const known = Object.entries(OF_RESULT).map(([column, key]): [string, Cell] => {
    const value = result[key];
    return [column, typeof value === 'number' || typeof value === 'string' ? value : null];
  });
  const host = recording?.hosts[0];
  const { state, started, ended, error, madeBy } = recording ?? {};
  return new Map<string, Cell>([
    ...Object.entries({
      ...{ run: nameOf(run), path, state, started, ended, error },
      ...{ command: madeBy?.command.join(' '), triscope: madeBy?.triscope },
      ...{ node_version: madeBy?.node, hosts: recording?.hosts.length, host: host?.name },
      ...{ cpu_model: host?.cpuModel, cpus: host?.cpus, memory: host?.memory },
    }),
    ...known,
  ]);
}

/** Options that say where output goes, not how it ran. */
const OUTPUT = new Set(['record', 'json', 'output', 'live', 'help']);
const OPTION = /^--([A-Za-z][\w-]*)(?:=(.*))?$/s;
/** Options that take no value: what stands after them may be the program that was recorded. */
const TAKES_NONE = /^(?:no-|visits$)/;

/** Options of a command's words up to `--`, by name; of one that stands alone `true`. */
function optionsOf(recording: Recording | null): Map<string, string> {
  const options = new Map<string, string>();
  const words = recording?.madeBy.command ?? [];
  const end = words.indexOf('--');
  for (const [k, word] of words.slice(0, end < 0 ? words.length : end).entries()) {
    const [, name, value] = OPTION.exec(word) ?? [];
    if (name === undefined || OUTPUT.has(name)) continue;
    const next = words[k + 1];
    const alone = next === undefined || next.startsWith('-') || TAKES_NONE.test(name);
    const apart = alone ? 'true' : next;
    options.set(name.replaceAll('-', '_'), value ?? apart);
  }
  return options;
}

const isNumber = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text));

/** A row for each recording: facts, and the options that any of them was given. */
export function runsTable(runs: readonly RunTables[]): FactTable {
  const options = runs.map(({ sources }) => optionsOf(sources.recording));
  const names = [...new Set(options.flatMap((one) => [...one.keys()]))].sort();
  const taken = new Set(RUN_COLUMNS.map(([name]) => name));
  const given = names.map((name) => {
    const values = options.flatMap((one) => one.get(name) ?? []);
    const type: FactType = values.every(isNumber) ? 'DOUBLE' : 'VARCHAR';
    const lower = name.toLowerCase();
    const column = taken.has(lower) ? `option_${lower}` : lower;
    taken.add(column);
    const help = `option --${name.replaceAll('_', '-')}, where it was given`;
    return { name, column: [column, type, '', help] as const };
  });
  return factTable(
    'runs',
    [...RUN_COLUMNS, ...given.map(({ column }) => column)],
    runs.map((run, k) => {
      const facts = factSourcesOf(run);
      return [
        ...RUN_COLUMNS.map(([name]) => facts.get(name)),
        ...given.map(({ name, column: [, type] }) => {
          const value = options[k].get(name);
          return value === undefined || type === 'VARCHAR' ? value : Number(value);
        }),
      ];
    }),
  );
}

/** Makes schema `every`: its tables are those of the recordings, one below the other. */
export async function defineEvery(
  connection: DuckDBConnection,
  recordings: readonly { readonly name: string; readonly schema: string }[],
): Promise<void> {
  const rows = await connection.runAndReadAll(
    `SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'memory' ORDER BY ALL`,
  );
  const tables = new Map<string, string[]>();
  const names = new Map(recordings.map(({ schema, name }) => [schema, name]));
  for (const [schema, table] of rows.getRowsJS().map((row) => row.map(String))) {
    const name = names.get(schema);
    if (name === undefined || table === 'runs') continue;
    const from = `SELECT ${quoteText(name)} AS run, * FROM ${quoteName(schema)}.${quoteName(table)}`;
    tables.set(table, [...(tables.get(table) ?? []), from]);
  }
  await runAll(connection, [
    `CREATE SCHEMA ${EVERY}`,
    ...[...tables].map(
      ([table, all]) =>
        `CREATE VIEW ${EVERY}.${quoteName(table)} AS ${all.join(' UNION ALL BY NAME ')}`,
    ),
  ]);
}
