/** Genuine files of ROSS as heatmaps and matrices: all open, and hold what SQL counts. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type LiveServer, startServer } from 'triscope/live';
import { openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Heat, HeatMetric } from '../../../src/view/simulation/heat.ts';
import type { Matrix } from '../../../src/view/simulation/matrix.ts';
import { unpack } from '../../../src/view/simulation/packed.ts';
import { BEARER } from '../support/token.ts';

const golden = process.env.TRISCOPE_GOLDEN;
const ROSS = golden === undefined ? '' : join(golden, 'ross');
const SAMPLED = ['m-opt2-rt-all', 'o1707-opt2-both-g1'];
const TRACED = ['m-opt2-ev1'];

describe.skipIf(!existsSync(ROSS))('genuine files of ROSS (TRISCOPE_GOLDEN)', () => {
  const servers: LiveServer[] = [];
  let there: readonly string[] = [];
  beforeAll(() => {
    there = readdirSync(ROSS);
  });
  afterAll(async () => {
    await Promise.all(servers.map((one) => one.close()));
  });

  async function serve(name: string) {
    expect(there).toContain(name);
    const path = join(ROSS, name);
    const server = await startServer({ recording: path });
    servers.push(server);
    return { api: new URL('/api/', server.url).href, recording: await openRecording(path) };
  }

  it.each(SAMPLED)('%s: heatmaps of all levels that were sampled', async (name) => {
    const { api, recording } = await serve(name);
    const levels = await recording.query<{ level: string }>(
      "SELECT DISTINCT table_name[6:] AS level FROM metrics WHERE table_name IN ('ross_pe', 'ross_kp', 'ross_lp')",
    );
    expect(levels.length).toBeGreaterThan(0);
    for (const { level } of levels) {
      const metrics = (await (
        await fetch(`${api}heatmap/metrics?level=${level}`, { headers: BEARER })
      ).json()) as HeatMetric[];
      expect(metrics.length).toBeGreaterThan(0);
      const response = await fetch(
        `${api}heatmap?level=${level}&metric=${metrics[0].key}&bins=20&sort=similar`,
        { headers: BEARER },
      );
      const heat = unpack<Heat>(await response.arrayBuffer());
      const [{ count }] = await recording.query<{ count: number }>(
        `SELECT count(DISTINCT (${level === 'kp' ? 'pe_id, kp_id' : `${level}_id`})) AS count FROM ross_${level}`,
      );
      expect(heat.rows).toHaveLength(count);
      expect(heat.values).toHaveLength(count * 20);
    }
    await recording.close();
  });

  it.each(TRACED)('%s: a matrix of its LPs', async (name) => {
    const { api, recording } = await serve(name);
    const tables = (await (await fetch(`${api}tables`, { headers: BEARER })).json()) as {
      name: string;
    }[];
    expect(tables.map((table) => table.name)).toEqual(['ross_event']);
    const response = await fetch(`${api}matrix?level=lp`, { headers: BEARER });
    const matrix = unpack<Matrix>(await response.arrayBuffer());
    const [{ events }] = await recording.query<{ events: number }>(
      'SELECT count(*) AS events FROM ross_event',
    );
    expect(matrix.total).toBe(events);
    await recording.close();
  });
});
