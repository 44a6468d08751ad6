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

type Files = Parameters<typeof writeFolder>[1];

const without = (schema: Schema, key: string): Schema => ({
  ...schema,
  metrics: schema.metrics.filter((metric) => metric.key !== key),
});

/** Files of a recording: two PEs for ten seconds, whose samples have no such column. */
function pesWithout(key: string): Files {
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
  return {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(batchOf(without(ROSS_PE, key), rows)),
  };
}

/** Raw stats of two CPUs; lines and keys that match are left out of it. */
function hostWithout(cut: (text: string) => string): Files {
  const groups = [0, 10, 20].map((second) => ({
    time: NOON + second,
    cpus: [0, 1].map(() => ({ user: 60 * second, system: 10 * second, idle: 30 * second })),
  }));
  return { 'h1/1': cut(rawStats('h1', groups)) };
}

/** A report whose regions have no such key. */
function regionsWithout(key: string): Files {
  const text = geopmReport([
    { name: 'a', runtime: 6, sync: 5, joules: 100 },
    { name: 'b', runtime: 3, sync: 2, joules: 50 },
  ]);
  const kept = text.split('\n').filter((line) => !line.trim().startsWith(`${key} (`));
  return { 'a.report': kept.join('\n') };
}

interface Lack {
  /** The column as SQL knows it. */
  readonly column: string;
  readonly files: Files;
  /** Numbers of reports' tables that need it, by the names of their columns. */
  readonly shown: readonly string[];
  /** What `diff` calls those that it compares. */
  readonly compared: readonly string[];
}

const OF_PES: readonly Lack[] = (
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
  ...{ column: `ross_pe.${key}`, files: pesWithout(key), shown, compared },
}));

const OF_MACHINES: readonly Lack[] = [
  {
    column: 'node_cpu_rate.steal',
    files: hostWithout((text) =>
      text
        .split('\n')
        .filter((line) => !/^!?cpu_steal /.test(line))
        .join('\n'),
    ),
    ...{ shown: ['stolen %'], compared: ['steal'] },
  },
  {
    column: 'node_cpu_rate.idle',
    files: hostWithout((text) =>
      text.replace(/ idle,E,U=cs/, '').replace(/^(cpu \d+ \d+ \d+ \d+) \d+/gm, '$1'),
    ),
    ...{ shown: ['idle %'], compared: ['idle'] },
  },
  {
    ...{ column: 'geopm_region.runtime', files: regionsWithout('runtime') },
    ...{ shown: ['runtime s'], compared: ['runtime'] },
  },
  {
    ...{ column: 'geopm_region.sync_runtime', files: regionsWithout('sync-runtime') },
    ...{ shown: ['sync-runtime s'], compared: ['sync runtime'] },
  },
  {
    ...{ column: 'geopm_region.package_energy', files: regionsWithout('package-energy') },
    ...{ shown: ['package energy J'], compared: ['package energy'] },
  },
];

interface Case {
  readonly path: string;
  /** One of each system at most: a column that one system lacks is no other's. */
  readonly lacks: readonly Lack[];
}

const caseOf = (name: string, lacks: readonly Lack[]): Case => ({
  path: writeFolder(`${folder}/${name}.tri`, Object.assign({}, ...lacks.map(({ files }) => files))),
  lacks,
});

const CASES: readonly Case[] = OF_PES.map((lack, k) =>
  caseOf(`no-${k}`, [lack, ...OF_MACHINES.slice(k, k + 1)]),
);

/** Lacks nothing. */
const COMPLETE = caseOf('complete', [{ ...OF_PES[0], files: pesWithout('nothing') }]);

/** Shares of time, and totals, that sentences and pages say of what a column counts. */
const WORDS: Readonly<Record<string, RegExp>> = {
  'ross_pe.events_rolled_back': /rolled back|efficiency/i,
  'ross_pe.events_processed': /events were handled|handled/i,
  'ross_pe.secondary_rollbacks': /secondary/i,
  'ross_pe.gvt_time': /% of their time computing [\d,]+ GVTs/,
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

  /** What outlets say of a case. */
  interface Told {
    readonly made: RecordingReport;
    readonly changes: Awaited<ReturnType<typeof compareRecordings>>['changes'];
    /** Which recording the server is asked for. */
    readonly of: string;
  }

  /** What is wrong with the outlets of a case, for want of a column. */
  const faults: Readonly<Record<string, (lack: Lack, told: Told) => Promise<string[]> | string[]>> =
    {
      'tables of reports': ({ shown }, { made }) =>
        made.tables.flatMap(({ rows }) =>
          rows.flatMap((row) =>
            shown.flatMap((name) =>
              row[name] === undefined || row[name] === null ? [] : [`${name} is ${row[name]}`],
            ),
          ),
        ),
      findings: ({ column }, { made: { verdict } }) => {
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
      'text and HTML': ({ shown }, { made }) =>
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
      diff: ({ compared }, { changes }) =>
        changes.flatMap(({ key, unit, a }) =>
          compared.includes(key) && (unit === '%' || !unit.startsWith('in all')) && a !== null
            ? [`${key} ${unit} is ${a.value}`]
            : [],
        ),
      API: async ({ column }, { of }) => {
        const [, key] = column.split('.');
        const wrong: string[] = [];
        const summary = await json<Record<string, number | null>>(
          server.port,
          `/api/summary?${of}`,
        );
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
      SQL: async ({ column }, { of }) => {
        const [table, key] = column.split('.');
        const sql = `SELECT sum("${key}") AS value FROM ${table}`;
        const answer = await query(server.port, { sql }, `?${of}`);
        // No such column, or nothing in it.
        return answer.status === 200 && answer.rows[0][0] !== null
          ? [`is ${answer.rows[0][0]}`]
          : [];
      },
    };

  /** Columns, outlets, and what is wrong with them. */
  async function told({ path, lacks }: Case, k: number): Promise<[string, string, string][]> {
    const of = `recording=${encodeURIComponent(ids[k].id)}`;
    const { changes } = await compareRecordings(path, path);
    const all: Told = { made: await gather(path), changes, of };
    const found: [string, string, string][] = [];
    for (const lack of lacks)
      for (const [outlet, say] of Object.entries(faults))
        for (const fault of await say(lack, all)) found.push([lack.column, outlet, fault]);
    return found;
  }

  it('is no number in any outlet', async () => {
    expect(CASES.flatMap(({ lacks }) => lacks)).toHaveLength(OF_PES.length + OF_MACHINES.length);
    const found: string[] = [];
    for (const [k, one] of CASES.entries())
      for (const [column, outlet, fault] of await told(one, k))
        found.push(`without ${column}, ${outlet}: ${fault}`);
    expect(found).toEqual([]);
  });

  it('would be seen: what was measured is told by each outlet', async () => {
    const measured = await told(COMPLETE, CASES.length);
    expect([...new Set(measured.map(([, outlet]) => outlet))]).toEqual([
      ...['tables of reports', 'findings', 'diff', 'API', 'SQL'],
    ]);
  });
});
