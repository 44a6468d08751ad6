/** Of runs drawn at random, findings contradict neither each other nor the chart that they point to. */
import { type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unpack } from '../../src/view/simulation/packed.ts';
import { temporaryFolder } from '../cli/support/run.ts';
import { ask, json } from '../live/support/ask.ts';
import { apiSays } from './api.ts';
import { contradictions } from './contradictions.ts';
import { findingsOf, type Place, placeOf } from './place.ts';
import { randomRecording } from './random.ts';
import { differences, printed } from './seen.ts';
import { macrosSay, sqlSays } from './sql.ts';

/** Of run 23 few events are rolled back, and undoing them takes much of the time. */
const SEEDS =
  process.env.TRISCOPE_ONE_TRUTH === 'all'
    ? Array.from({ length: 60 }, (_, k) => k)
    : [0, 1, 2, 3, 23];

/** A metric of each PE over the whole run, as the heatmap has it; null where it has none. */
async function charted(
  { port, id }: Place,
  metric: string,
): Promise<ReadonlyMap<string, number> | null> {
  const { status, body } = await ask(
    port,
    `/api/heatmap?metric=${metric}&level=pe&bins=1&recording=${encodeURIComponent(id)}`,
  );
  if (status !== 200) return null;
  const { rows, totals } = unpack<{
    readonly rows: readonly string[];
    readonly totals: Float32Array;
  }>(new Uint8Array(body).buffer);
  return new Map(rows.map((pe, k) => [pe, totals[k]]));
}

/** What sentences of findings say of a PE, beside the chart that their button opens. */
async function besideCharts(place: Place): Promise<{ wrong: string[]; compared: number }> {
  const wrong: string[] = [];
  let compared = 0;
  for (const { rule, sentence } of await findingsOf(place)) {
    const compare = async (pe: string, text: string, metrics: readonly string[]) => {
      compared++;
      const parts = await Promise.all(metrics.map((metric) => charted(place, metric)));
      const chart = parts.reduce((sum, part) => sum + (part?.get(pe) ?? Number.NaN), 0);
      const { value, within } = printed('finding', rule, pe, text);
      if (value === null || !(Math.abs(value - chart) <= within + 1e-4 * Math.abs(chart)))
        wrong.push(`${rule}: “${text}” of PE ${pe}, ${chart} in the chart`);
    };
    const worst = /PE (\d+) is the worst with ([\d.]+ %) rolled back/.exec(sentence);
    if (worst !== null) await compare(worst[1], worst[2], ['rolled_back_share']);
    const bound = /^PE (\d+) spends ([\d.]+ %) of its time on messages/.exec(sentence);
    if (bound !== null)
      await compare(bound[1], bound[2], ['network_read_time', 'network_other_time']);
  }
  return { wrong, compared };
}

describe('findings', () => {
  const folder = temporaryFolder();
  let server: LiveServer;
  let recordings: readonly string[];

  beforeAll(async () => {
    recordings = SEEDS.map((seed) => randomRecording(folder, seed));
    server = await startServer({ recordings });
  });
  afterAll(async () => {
    await server?.close();
  });

  it('of random runs contradict neither each other, nor charts, nor SQL', async () => {
    const ids = await json<{ id: string }[]>(server.port, '/api/recordings');
    let found = 0;
    let compared = 0;
    for (const [k, seed] of SEEDS.entries()) {
      const place = await placeOf(recordings[k], server.port, ids[k].id);
      const said = [await sqlSays(place), await macrosSay(place), await apiSays(place)].flat();
      found += (await findingsOf(place)).length;
      expect([seed, differences(said)]).toEqual([seed, []]);
      expect([seed, await contradictions(place)]).toEqual([seed, []]);
      const beside = await besideCharts(place);
      expect([seed, beside.wrong]).toEqual([seed, []]);
      compared += beside.compared;
    }
    // Most of the runs have something to tell.
    expect(found).toBeGreaterThan(2 * SEEDS.length);
    expect(compared).toBeGreaterThan(SEEDS.length / 5);
  });
});
