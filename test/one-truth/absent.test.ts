/**
 * What was not measured is not 0: recordings that lack a column each, and what every outlet says of the numbers that need
 * it.
 */
import { type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportText } from '../../src/cli/report-text.ts';
import { FINDINGS } from '../../src/findings/index.ts';
import { DECLARED, inputsOf } from '../../src/model/measures/index.ts';
import type { Schema } from '../../src/model/metric.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import {
  compareRecordings,
  gather,
  htmlPage,
  type RecordingReport,
} from '../../src/report/index.ts';
import { temporaryFolder } from '../cli/support/run.ts';
import { reportText as geopmReport } from '../findings/support/machine.ts';
import { json, query } from '../live/support/ask.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';

const folder = temporaryFolder();

const without = (schema: Schema, key: string): Schema => ({
  ...schema,
  metrics: schema.metrics.filter((metric) => metric.key !== key),
});

/** Two PEs for ten seconds, whose samples have no such column. */
function pesWithout(key: string): string {
  const times = ROSS_PE.metrics.flatMap((one) => (one.unit === 's' ? [[one.key, 0.1]] : []));
  const rows = Array.from({ length: 10 }, (_, k) => k + 1).flatMap((second) =>
    [0, 1].map((pe_id) => ({
      ...Object.fromEntries(times),
      ...{ pe_id, mode: 'gvt', real_time: second, virtual_time: second, gvt: second },
      ...{ events_processed: 1000, events_rolled_back: 300, total_rollbacks: 50 },
      ...{ secondary_rollbacks: 20, num_gvts: 10 * second, priority_queue_size: 100 },
      ...{ network_sends: 400, network_receives: 400 },
    })),
  );
  return writeFolder(`${folder}/no-${key}.tri`, {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(batchOf(without(ROSS_PE, key), rows)),
  });
}

/** Raw stats of two CPUs; lines and keys that match are left out of it. */
function hostWithout(key: string, cut: (text: string) => string): string {
  const groups = [0, 10, 20].map((second) => ({
    time: NOON + second,
    cpus: [0, 1].map(() => ({ user: 60 * second, system: 10 * second, idle: 30 * second })),
  }));
  return writeFolder(`${folder}/no-${key}`, { 'h1/1': cut(rawStats('h1', groups)) });
}

/** A report whose regions have no such key. */
function regionsWithout(key: string): string {
  const text = geopmReport([
    { name: 'a', runtime: 6, sync: 5, joules: 100 },
    { name: 'b', runtime: 3, sync: 2, joules: 50 },
  ]);
  const kept = text.split('\n').filter((line) => !line.trim().startsWith(`${key} (`));
  return writeFolder(`${folder}/no-${key}`, { 'a.report': kept.join('\n') });
}

interface Case {
  /** The column as SQL knows it. */
  readonly column: string;
  readonly path: string;
  /** Numbers of reports' tables that need it, by the names of their columns. */
  readonly shown: readonly string[];
  /** What `diff` calls those that it compares. */
  readonly compared: readonly string[];
}

const CASES: readonly Case[] = [
  ...(
    [
      ['events_rolled_back', ['rolled back %'], ['rolled back', 'efficiency', 'committed events']],
      ['events_processed', ['events', 'rolled back %'], ['rolled back', 'efficiency']],
      ['secondary_rollbacks', [], ['secondary rollbacks']],
      ['gvt_time', [], ['GVT']],
      ['network_read_time', [], ['network read']],
      ['events_processed_time', [], ['event handlers']],
      ['real_time', [], ['event handlers', 'GVT', 'network read']],
    ] as const
  ).map(([key, shown, compared]) => ({
    ...{ column: `ross_pe.${key}`, path: pesWithout(key), shown, compared },
  })),
  {
    column: 'node_cpu_rate.steal',
    path: hostWithout('steal', (text) =>
      text
        .split('\n')
        .filter((line) => !/^!?cpu_steal /.test(line))
        .join('\n'),
    ),
    ...{ shown: ['stolen %'], compared: ['steal'] },
  },
  {
    column: 'node_cpu_rate.idle',
    path: hostWithout('idle', (text) =>
      text.replace(/ idle,E,U=cs/, '').replace(/^(cpu \d+ \d+ \d+ \d+) \d+/gm, '$1'),
    ),
    ...{ shown: ['idle %'], compared: ['idle'] },
  },
  {
    ...{ column: 'geopm_region.runtime', path: regionsWithout('runtime') },
    ...{ shown: ['runtime s'], compared: ['runtime'] },
  },
  {
    ...{ column: 'geopm_region.sync_runtime', path: regionsWithout('sync-runtime') },
    ...{ shown: ['sync-runtime s'], compared: ['sync runtime'] },
  },
  {
    ...{ column: 'geopm_region.package_energy', path: regionsWithout('package-energy') },
    ...{ shown: ['package energy J'], compared: ['package energy'] },
  },
];

/** Lacks nothing. */
const COMPLETE: Case = {
  ...(CASES.find(({ column }) => column === 'ross_pe.events_rolled_back') as Case),
  path: pesWithout('nothing'),
};

/** Shares of time, and totals, that sentences and pages say of what a column counts. */
const WORDS: Readonly<Record<string, RegExp>> = {
  'ross_pe.events_rolled_back': /rolled back|efficiency/i,
  'ross_pe.events_processed': /events were handled|handled/i,
  'ross_pe.secondary_rollbacks': /secondary/i,
  'ross_pe.gvt_time': /% of their time on [\d,]+ GVTs/,
  'ross_pe.network_read_time': /of its time on messages/,
  'node_cpu_rate.steal': /stolen|hypervisor/i,
};

describe('what was not measured', () => {
  let server: LiveServer;
  let ids: readonly { readonly id: string }[];

  beforeAll(async () => {
    server = await startServer({ recordings: [...CASES, COMPLETE].map(({ path }) => path) });
    ids = await json(server.port, '/api/recordings');
  });
  afterAll(async () => {
    await server?.close();
  });

  /** What is wrong with the outlets of a case. */
  const faults: Readonly<
    Record<string, (one: Case, made: RecordingReport, of: string) => Promise<string[]> | string[]>
  > = {
    'tables of reports': ({ shown }, { tables }) =>
      tables.flatMap(({ rows }) =>
        rows.flatMap((row) =>
          shown.flatMap((name) =>
            row[name] === undefined || row[name] === null ? [] : [`${name} is ${row[name]}`],
          ),
        ),
      ),
    findings: ({ column }, { verdict }) => {
      const told = verdict.findings.map(({ sentence }) => sentence);
      const silent = FINDINGS.filter(
        ({ name, needs }) =>
          needs.includes(column) && !verdict.notExamined.some(({ rule }) => rule === name),
      );
      return [
        ...told.filter((sentence) => WORDS[column]?.test(sentence)),
        ...silent.map(({ name }) => `${name} does not say what it lacks`),
      ];
    },
    'text and HTML': ({ shown }, made) =>
      [reportText(made, false), htmlPage([made], 'a test').replace(/<[^>]*>/g, ' ')].flatMap(
        (text) => {
          const names = [
            'efficiency',
            'stolen',
            'secondary',
            ...shown.map((one) => one.slice(0, -2)),
          ];
          const zero = new RegExp(`(?:${names.join('|')})[^.\\n]{0,20}\\b0 %`).exec(text);
          return zero === null ? [] : [zero[0]];
        },
      ),
    diff: async ({ path, compared }) => {
      const { changes } = await compareRecordings(path, path);
      return changes.flatMap(({ key, unit, a }) =>
        compared.includes(key) && (unit === '%' || !unit.startsWith('in all')) && a !== null
          ? [`${key} ${unit} is ${a.value}`]
          : [],
      );
    },
    API: async ({ column }, _, of) => {
      const [, key] = column.split('.');
      const wrong: string[] = [];
      const summary = await json<Record<string, number | null>>(server.port, `/api/summary?${of}`);
      const lacks: Readonly<Record<string, readonly string[]>> = {
        events_rolled_back: ['rolledBack', 'committedRate'],
        events_processed: ['processed', 'committedRate'],
        real_time: ['committedRate'],
        package_energy: ['energy'],
      };
      for (const name of lacks[key] ?? [])
        if (summary[name] !== null) wrong.push(`summary: ${name} is ${summary[name]}`);
      const metrics = await json<{ key: string }[]>(
        server.port,
        `/api/heatmap/metrics?level=pe&${of}`,
      ).catch(() => []);
      const needing = DECLARED.flatMap(({ measures }) => measures)
        .filter((one) => inputsOf(one).includes(key) && one.optional?.includes(key) !== true)
        .map((one) => one.key);
      for (const metric of metrics)
        if (metric.key === key || needing.includes(metric.key))
          wrong.push(`the heatmap offers ${metric.key}`);
      const times = await json<{ activities: string[] } | null>(
        server.port,
        `/api/breakdown?${of}`,
      ).catch(() => null);
      for (const activity of times?.activities ?? [])
        if (needing.includes(activity) || key === 'real_time')
          wrong.push(`the breakdown has ${activity}`);
      return wrong;
    },
    SQL: async ({ column }, _, of) => {
      const [table, key] = column.split('.');
      const sql = `SELECT sum("${key}") AS value FROM ${table}`;
      const answer = await query(server.port, { sql }, `?${of}`);
      // No such column, or nothing in it.
      return answer.status === 200 && answer.rows[0][0] !== null ? [`is ${answer.rows[0][0]}`] : [];
    },
  };

  /** Outlets with what is wrong with them. */
  async function told(one: Case, k: number): Promise<[string, string][]> {
    const made = await gather(one.path);
    const of = `recording=${encodeURIComponent(ids[k].id)}`;
    const found: [string, string][] = [];
    for (const [outlet, say] of Object.entries(faults))
      for (const fault of await say(one, made, of)) found.push([outlet, fault]);
    return found;
  }

  it('is no number in any outlet', async () => {
    const found: string[] = [];
    for (const [k, one] of CASES.entries())
      for (const [outlet, fault] of await told(one, k))
        found.push(`without ${one.column}, ${outlet}: ${fault}`);
    expect(found).toEqual([]);
  });

  it('would be seen: what was measured is told by each outlet', async () => {
    const measured = await told(COMPLETE, CASES.length);
    expect([...new Set(measured.map(([outlet]) => outlet))]).toEqual([
      ...['tables of reports', 'findings', 'diff', 'API', 'SQL'],
    ]);
  });
});
