/** The simulation's routes over a recorded run: what they say is what SQL says. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LiveServer, startServer } from 'triscope/live';
import { type OpenRecording, openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLLBACK_CHAINS } from '../../../src/findings/rollback-chains.ts';
import type { Breakdown } from '../../../src/view/simulation/breakdown.ts';
import type { CascadeList, CascadeNode } from '../../../src/view/simulation/cascades.ts';
import type { EventDensity, SingleEvent } from '../../../src/view/simulation/event-view.ts';
import type { Heat, HeatMetric } from '../../../src/view/simulation/heat.ts';
import type { Matrix } from '../../../src/view/simulation/matrix.ts';
import { unpack } from '../../../src/view/simulation/packed.ts';
import { BEARER } from '../support/token.ts';

const RUN = [
  ...['sim', 'run', 'phold', '--pes=2', '--nlp=16', '--nkp=4', '--synch=3', '--end=100'],
  ...['--start-events=4', '--remote=0.5', '--no-pin', '--engine-stats=rt', '--rt-interval=10'],
  ...['--kp-data', '--lp-data', '--event-trace=1', '--record=run.tri'],
];

let server: LiveServer;
let recording: OpenRecording;
let folder = '';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'triscope-simulation-'));
  const program = join(import.meta.dirname, '../../../bin/triscope');
  execFileSync(process.execPath, [program, ...RUN], { cwd: folder, stdio: 'ignore' });
  const path = join(folder, 'run.tri');
  server = await startServer({ recording: path });
  recording = await openRecording(path);
});
afterAll(async () => {
  await server?.close();
  await recording?.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = (route: string) => fetch(new URL(`/api/${route}`, server.url), { headers: BEARER });
const json = async <T>(route: string) => (await (await get(route)).json()) as T;
const bytes = async <T>(route: string) => unpack<T>(await (await get(route)).arrayBuffer());
const sql = <T extends object>(query: string) => recording.query<T>(query);

describe('heatmaps', () => {
  it.each([
    ['pe', 'pe_id::VARCHAR'],
    ['kp', "pe_id || '/' || kp_id"],
    ['lp', "pe_id || '/' || kp_id || '/' || lp_id"],
  ])('of %ss hold all events that SQL counts', async (level, path) => {
    const heat = await bytes<Heat>(`heatmap?metric=events_processed&level=${level}&bins=50`);
    const rows = await sql<{ path: string; events: number }>(
      `SELECT ${path} AS path, sum(events_processed) AS events FROM ross_${level} GROUP BY 1`,
    );
    const counted = new Map(rows.map((row) => [row.path, row.events]));
    expect([...heat.rows].sort()).toEqual([...counted.keys()].sort());
    const width = (heat.to - heat.from) / heat.bins;
    heat.rows.forEach((row, k) => {
      const events = counted.get(row) as number;
      expect(heat.totals[k] * heat.seconds[k]).toBeCloseTo(events, -Math.log10(events * 1e-4));
      const cells = heat.values.subarray(k * heat.bins, (k + 1) * heat.bins);
      const sums = [...cells].filter((rate) => !Number.isNaN(rate)).map((rate) => rate * width);
      const sum = sums.reduce((all, one) => all + one, 0);
      // The last bin is measured in part, so that its rate times its width may be too much, however much it is.
      expect(sum).toBeGreaterThan(0.999 * events);
      expect(sum - (sums.at(-1) ?? 0)).toBeLessThan(1.001 * events);
    });
  });

  it('have the efficiency that follows from the sums', async () => {
    const heat = await bytes<Heat>('heatmap?metric=efficiency&level=pe&sort=value');
    const rows = await sql<{ efficiency: number }>(
      `SELECT 100 * (1 - sum(events_rolled_back) / (sum(events_processed) - sum(events_rolled_back))) AS efficiency
       FROM ross_pe GROUP BY pe_id ORDER BY 1 DESC`,
    );
    rows.forEach(({ efficiency }, k) => {
      expect(heat.totals[k]).toBeCloseTo(efficiency, 2);
    });
  });

  it('of a window and an entity hold what lies there', async () => {
    const heat = await bytes<Heat>(
      'heatmap?metric=events_processed&level=lp&within=1/2&sort=similar',
    );
    expect(heat.rows).toHaveLength(4);
    expect(heat.rows.every((row) => row.startsWith('1/2/'))).toBe(true);
    const metrics = await json<HeatMetric[]>('heatmap/metrics?level=kp');
    expect(metrics.map(({ key }) => key)).toEqual(
      expect.arrayContaining(['efficiency', 'events_processed', 'time_ahead_gvt']),
    );
  });

  it.each([
    ['heatmap', 'metric=… is missing: see /api/heatmap/metrics'],
    ['heatmap?metric=colour', 'no pe has "colour": see /api/heatmap/metrics'],
    ['heatmap?metric=efficiency&level=core', 'level=… must be one of pe, kp, lp'],
    ['heatmap?metric=efficiency&within=a', 'within=… must be a path such as 1, 1/3 or 1/3/17'],
    ['heatmap?metric=efficiency&bins=0', 'bins=… must be an integer of 1 to 4000'],
    ['heatmap?metric=efficiency&from=2&to=1', 'from=… and to=… must be seconds, from before to'],
    ['cascades/tree?pe=0&id=99999999', 'PE 0 has no rollback 99999999'],
  ])('say what is wrong with %s', async (route, error) => {
    const response = await get(route);
    expect([400, 404]).toContain(response.status);
    expect(await response.json()).toEqual({ error });
  });
});

it('the breakdown has the seconds that SQL sums', async () => {
  const { activities, pes } = await json<Breakdown>('breakdown');
  const rows = await sql<{ pe_id: number; gvt: number; undo: number }>(
    `SELECT pe_id, sum(gvt_time) AS gvt, sum(rollback_time + cancel_q_time + events_aborted_time) AS undo
     FROM ross_pe GROUP BY 1 ORDER BY 1`,
  );
  rows.forEach(({ pe_id, gvt, undo }, k) => {
    expect(pes[k].pe).toBe(pe_id);
    expect(pes[k].parts[activities.indexOf('gvt')]).toBeCloseTo(gvt, 4);
    expect(pes[k].parts[activities.indexOf('rollback')]).toBeCloseTo(undo, 4);
  });
});

describe('the matrix', () => {
  const PLACES = 'SELECT DISTINCT lp_id, pe_id, kp_id FROM ross_lp';
  it('counts the traced events between PEs', async () => {
    const matrix = await bytes<Matrix>('matrix?level=pe');
    const rows = await sql<{ events: number }>(
      `WITH place AS (${PLACES}) SELECT s.pe_id, d.pe_id, count(*) AS events FROM ross_event
       JOIN place s ON s.lp_id = source_lp JOIN place d ON d.lp_id = destination_lp
       GROUP BY 1, 2 ORDER BY s.pe_id, d.pe_id`,
    );
    expect(matrix.of).toBe('events');
    expect([...matrix.counts]).toEqual(rows.map(({ events }) => events));
  });

  it('of PEs’ counters has the messages that left them', async () => {
    const matrix = await bytes<Matrix>('matrix?of=sends');
    const rows = await sql<{ sends: number }>(
      'SELECT sum(network_sends) AS sends FROM ross_pe GROUP BY pe_id ORDER BY pe_id',
    );
    expect([matrix.counts[1], matrix.counts[2]]).toEqual(rows.map(({ sends }) => sends));
  });

  it('is made from PEs’ counters if only events that caused rollbacks were traced', async () => {
    const path = join(folder, 'stragglers.tri');
    cpSync(join(folder, 'run.tri'), path, { recursive: true });
    const readme = join(path, 'stats-output', 'ross-stats-README.txt');
    const text = readFileSync(readme, 'utf8');
    writeFileSync(readme, text.replace('EVENT_TRACE=1', 'EVENT_TRACE=2'));
    const other = await startServer({ recording: path });
    try {
      const url = new URL('/api/matrix?level=pe', other.url);
      const answer = await fetch(url, { headers: BEARER });
      expect(unpack<Matrix>(await answer.arrayBuffer()).of).toBe('sends');
    } finally {
      await other.close();
    }
  });

  it('of rollbacks counts each of them', async () => {
    const matrix = await bytes<Matrix>('matrix?of=rollbacks&level=kp');
    const [{ all }] = await sql<{ all: number }>('SELECT count(*) AS "all" FROM ross_rollback');
    expect(matrix.total).toBe(all);
  });
});

describe('cascades', () => {
  it('are those of the finding, worst first', async () => {
    const list = await json<CascadeList>('cascades?most=10');
    const found = await ROLLBACK_CHAINS.run({
      recording,
      has: () => true,
      jobs: async () => [],
    });
    const [sums] = await sql<{ undone: number; rollbacks: number }>(
      'SELECT sum(events_undone) AS undone, count(*) AS rollbacks FROM ross_rollback',
    );
    expect([list.undone, list.rollbacks]).toEqual([sums.undone, sums.rollbacks]);
    const rows = ('lacks' in found ? [] : found[0].evidence.rows).map((row) => [
      ...[row.pe_id, row.kp_id, row.source_lp, row.undone, row.rollbacks],
      row.undone_at_once,
    ]);
    expect(rows.length).toBeGreaterThan(0);
    expect(
      list.cascades.map(({ pe, kp, sourceLp, undone, rollbacks, undoneAtOnce }) => [
        ...[pe, kp, sourceLp, undone, rollbacks],
        undoneAtOnce,
      ]),
    ).toEqual(rows);
  });

  it('have trees with as many rollbacks, and those of a KP are among them', async () => {
    const { cascades } = await json<CascadeList>('cascades?within=1/0&most=1');
    const [{ pe, id, rollbacks, undone }] = cascades;
    const { nodes } = await json<{ nodes: CascadeNode[] }>(
      `cascades/tree?pe=${pe}&id=${id}&most=5000`,
    );
    expect(nodes).toHaveLength(rollbacks);
    expect(nodes.reduce((sum, node) => sum + node.undone, 0)).toBe(undone);
    expect(nodes.some((node) => node.pe === 1 && node.kp === 0)).toBe(true);
  });
});

describe('events', () => {
  it('are as many in a window as SQL counts, and come one by one', async () => {
    const [{ middle, all }] = await sql<{ middle: number; all: number }>(
      'SELECT median(t) AS middle, count(*) AS "all" FROM ross_event',
    );
    const [from, to] = [middle - 0.001, middle + 0.001];
    const where = `t >= ${from} AND t < ${to}`;
    const rows = await sql<{ t: number; source_lp: number; destination_lp: number }>(
      `SELECT t, source_lp, destination_lp FROM ross_event WHERE ${where} ORDER BY t`,
    );
    const density = await bytes<EventDensity>(
      `events/density?level=lp&from=${from}&to=${to}&bins=7`,
    );
    expect(density).toMatchObject({ total: rows.length, all });
    expect(density.counts.reduce((a, b) => a + b, 0)).toBe(rows.length);
    const list = await json<{ events: SingleEvent[] }>(`events?from=${from}&to=${to}&most=10000`);
    const key = (row: { t: number }) => row.t;
    expect(list.events.map(key)).toEqual(rows.map(key));
    const count = (lp: number) => rows.filter((row) => row.source_lp === lp).length;
    const sent = list.events.filter(({ source }) => source === 0);
    expect(sent).toHaveLength(count(0));
  });
});
