/**
 * One number, one value: what each outlet says of each recording is the same, as far as its digits go. The list of
 * measures and outlets is printed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type LiveServer, startServer } from 'triscope/live';
import { openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { temporaryFolder, triscopeHere } from '../cli/support/run.ts';
import { json } from '../live/support/ask.ts';
import { regionRun } from '../live/support/regions.ts';
import { recording } from '../live/support/samples.ts';
import { executable, Web } from '../web/support/browser.ts';
import { apiSays } from './api.ts';
import { rawBytes, reportBytes, rossBytes } from './bytes.ts';
import { diffSays, infoSays, metricsSays, readSays } from './commands.ts';
import { contradictions } from './contradictions.ts';
import { pageSays } from './page.ts';
import { counting, has, placeOf } from './place.ts';
import { reportSays } from './report.ts';
import { differences, listOf, type Seen } from './seen.ts';
import { macrosSay, sqlSays } from './sql.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN ?? '';

interface Case {
  readonly path: string;
  /** Worked out from its bytes. */
  readonly bytes?: () => Seen[];
}

const golden = (path: string, bytes?: (path: string) => Seen[]): Case[] => {
  const whole = join(GOLDEN, path);
  if (GOLDEN === '' || !existsSync(whole)) return [];
  return [{ path: whole, ...(bytes && { bytes: () => bytes(whole) }) }];
};

/** A file of each layer that is worked out from its bytes, too, and our own recordings. */
const CASES: readonly Case[] = [
  ...golden('ross/m-opt2-gvt-all', (path) => rossBytes(join(path, 'ross-stats-gvt.bin'))),
  ...golden('geopm/real-run/two-rank.report-vm', reportBytes),
  ...golden('tacc_stats/genuine_job1835740_2hosts', rawBytes),
  { path: regionRun() },
];

/** Other eras of ROSS and ways of sampling, which take twice as long again: TRISCOPE_ONE_TRUTH=all. */
const MORE: readonly Case[] =
  process.env.TRISCOPE_ONE_TRUTH === 'all'
    ? [
        { path: recording() },
        ...golden('ross/m-opt2-everything'),
        ...golden('ross/m-opt2-vt-all'),
        ...golden('ross/o1704-opt2-gvt-g1'),
        ...golden('ross/o1707-opt2-both-g0'),
        ...golden('ross/v8-opt2-rt-all'),
        ...golden('ross/o1706-opt2-gvt-g0'),
        ...golden('ross/o1707-opt2-both-g1'),
      ]
    : [];

const LEAST_FROM_BYTES = 10;
/** For one recording: its page alone takes half a minute where others work, too. */
const MOST_MILLISECONDS = 600_000;
vi.setConfig({ testTimeout: MOST_MILLISECONDS, hookTimeout: MOST_MILLISECONDS });

describe('one truth', () => {
  const own = join(temporaryFolder(), 'own.tri');
  let server: LiveServer;
  let web: Web | null = null;
  let ids: string[];
  const cases = [...CASES, ...MORE, { path: own }];
  const all: Seen[] = [];

  beforeAll(async () => {
    const words =
      'sim run phold --synch=3 --pes=2 --end=40 --engine-stats=gvt,rt --pe-data --kp-data';
    const { code, err } = await triscopeHere([...words.split(' '), `--record=${own}`]);
    if (code !== 0) throw new Error(err);
    server = await startServer({ recordings: cases.map(({ path }) => path) });
    ids = (await json<{ id: string }[]>(server.port, '/api/recordings')).map(({ id }) => id);
    if (executable !== undefined) web = await Web.start();
  });
  afterAll(async () => {
    await web?.close();
    await server?.close();
    process.stdout.write(`${listOf(all)}\n`);
  });

  it('rates of samples are over the time since the PEs began, as the run’s own rate', async () => {
    const recording = await openRecording(own);
    const [seen] = await recording.query<{ began: number; first: number; last: number }>(
      'SELECT any_value(began) AS began, min(t) AS first, max(t) AS last FROM ross_pe, recording',
    );
    await recording.close();
    const told = JSON.parse(readFileSync(join(own, 'sim-result.json'), 'utf8'));
    expect(seen.began).toBeGreaterThan(0);
    expect(seen.began).toBe(told.began);
    expect(seen.first).toBeGreaterThan(seen.began);
    // PEs begin one after another, by less than the first needs to its first sample.
    expect(seen.last).toBeLessThanOrEqual(seen.first + told.wallSeconds);
    expect(seen.last - seen.began).toBeGreaterThan(0);
  });

  for (const [k, { path, bytes }] of cases.entries()) {
    it(`${basename(path)}: every outlet says the same`, async () => {
      const place = await placeOf(path, server.port, ids[k]);
      const seen = [...(bytes?.() ?? []), ...(await sqlSays(place))];
      if (bytes !== undefined) {
        const measures = new Set(bytes().map(({ measure }) => measure));
        expect(measures.size).toBeGreaterThanOrEqual(LEAST_FROM_BYTES);
      }
      const outlets = [macrosSay, apiSays, reportSays, infoSays, metricsSays, readSays, diffSays];
      for (const says of outlets) seen.push(...(await says(place)));
      if (web !== null) {
        const page = await (await web.context()).newPage();
        seen.push(...(await pageSays(place, page, server.url)));
        await page.context().close();
      }
      all.push(...seen);
      expect(differences(seen)).toEqual([]);
      // No outlet may be left out: each says something of what it tells at all.
      const said = new Set(seen.map(({ outlet }) => outlet));
      const isOf = (outlet: string, isThere: boolean) => (isThere ? [outlet] : []);
      const least = [
        ...['SQL', 'macros', 'API', '--json', 'HTML', 'text', 'diff'],
        ...isOf('page', web !== null),
        // Frames that a stream has left are no files to be listed.
        ...isOf('info', place.tables.has('ross_pe') && !existsSync(join(path, 'extra.frames'))),
        ...isOf('metrics', has(place, 'ross_pe', 't') && counting(place) === 'ross_pe'),
        ...isOf('metrics', place.tables.has('node_cpu')),
      ];
      expect([...said]).toEqual(expect.arrayContaining(least));
      // What is known from the bytes is told by others, too.
      for (const measure of new Set(bytes?.().map((one) => one.measure))) {
        const tellers = new Set(
          seen.filter((one) => one.measure === measure).map(({ outlet }) => outlet),
        );
        expect([measure, tellers.size > 2]).toEqual([measure, true]);
      }
      expect(await contradictions(place)).toEqual([]);
    });
  }
});
