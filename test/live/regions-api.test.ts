/** What the API tells of regions: a run made by hand, and GEOPM's genuine files. */
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HASH_UNMARKED, regionHash } from '../../src/model/region-hash.ts';
import { PROCESS } from '../../src/model/schemas/process.ts';
import type { LanesFacts, RegionFacts } from '../../src/view/facts/regions.ts';
import { batchOf, framesOf, recordingOf, writeFolder } from '../query/support/recording.ts';
import { json, refusal } from './support/ask.ts';
import { regionRun, SOLVE, WRITE } from './support/regions.ts';

/** Seconds of each region in a lane. */
function timesIn(lanes: LanesFacts, name: string): Map<number, number> {
  const times = new Map<number, number>();
  for (const { from, to, hash, share } of lanes.lanes.find((one) => one.name === name)?.spans ??
    []) {
    times.set(hash, (times.get(hash) ?? 0) + (to - from) * share);
  }
  return times;
}

describe('a run with report, trace and profile trace', () => {
  let server: LiveServer;
  beforeAll(async () => {
    server = await startServer({ recording: regionRun() });
  });
  afterAll(() => server.close());
  const get = <T>(path: string) => json<T>(server.port, `/api/${path}`);

  it('tells each host’s regions, and totals apart', async () => {
    const { rows, columns, names, traces, profiles } = await get<RegionFacts>('regions');
    expect(rows.map(({ host, section, region }) => [host, section, region])).toEqual(
      ['n1', 'n2'].flatMap((host) => [
        [host, 'region', SOLVE],
        [host, 'region', WRITE],
        [host, 'unmarked', ''],
        [host, 'epoch', ''],
        [host, 'application', ''],
      ]),
    );
    const value = (row: number, key: string) =>
      rows[row].values[columns.findIndex((column) => column.key === key)];
    expect([value(0, 'runtime'), value(5, 'runtime'), value(0, 'sync_runtime')]).toEqual([
      3.75, 1.25, 3.5,
    ]);
    expect(names).toEqual([
      [regionHash(SOLVE), SOLVE],
      [regionHash(WRITE), WRITE],
    ]);
    expect(traces[0]).toMatchObject({ host: 'n1', rows: 101, lanes: ['host', 'CPU 0', 'CPU 1'] });
    expect(profiles[0].processes.toSorted()).toEqual([11, 12]);
  });

  it('tells processes and the hierarchy of the report', async () => {
    const { processes, processesFrom, places } = await get<RegionFacts>('regions');
    expect(processesFrom).toBe('report');
    expect(processes.map(({ name, region, runtime }) => [name, region, runtime])).toEqual([
      ['rank 0', SOLVE, 5],
      ['rank 0', WRITE, 2],
      ['rank 1', SOLVE, 2.5],
    ]);
    expect(places.map(({ path, runtime, overlapping }) => [path, runtime, overlapping])).toEqual([
      [[SOLVE], 7.5, false],
      [[SOLVE, 'walk'], 5, false],
      [[WRITE], 2, false],
      [['fetch'], 9, true],
    ]);
  });

  it('gives lanes whose times are those of the trace, exact or by bins', async () => {
    for (const bins of [1000, 7, 2]) {
      const lanes = await get<LanesFacts>(`regions/lanes?host=n1&from=0&to=10&bins=${bins}`);
      const times = timesIn(lanes, 'CPU 0');
      if (bins === 2) expect(times.get(regionHash(SOLVE))).toBeCloseTo(5, 9);
      else if (bins > 2) {
        expect(times.get(regionHash(SOLVE))).toBeCloseTo(5, 9);
        expect(times.get(regionHash(WRITE))).toBeCloseTo(2.5, 9);
        expect(times.get(HASH_UNMARKED)).toBeCloseTo(2.5, 9);
      }
      expect([...timesIn(lanes, 'CPU 1').keys()]).toEqual([0]);
    }
    const part = await get<LanesFacts>('regions/lanes?host=n1&from=4&to=5.5&bins=100');
    expect(part.lanes[1].spans).toEqual([
      { from: 4, to: 5, hash: regionHash(SOLVE), share: 1 },
      { from: 5, to: 5.5, hash: regionHash(WRITE), share: 1 },
    ]);
  });

  it('gives lanes of processes, with the one that never left a region doubted', async () => {
    const { lanes } = await get<LanesFacts>('regions/processes?host=n1&from=0&to=10&bins=100');
    expect(lanes.map(({ name }) => name)).toEqual(['process 11', 'process 12']);
    expect(lanes[0].spans.map(({ from, to }) => [from, to])).toEqual([
      [0, 5],
      [5, 7],
    ]);
    expect(lanes[0].suspect).toBeUndefined();
    expect(lanes[1].suspect).toMatchObject({
      from: 8,
      what: expect.stringContaining('never told'),
    });
  });

  it.each([
    ['regions/lanes?host=n2&from=0&to=1', 'no trace of host n2'],
    ['regions/processes?host=x&from=0&to=1', 'no profile trace of host x'],
    ['regions/signal?signal=none&from=0&to=1', 'no trace has a signal "none"'],
    ['regions/lanes?host=n1&from=1&to=0', 'from before to'],
    ['regions/lanes?host=n1&from=0&to=1&bins=0', 'bins=…'],
  ])('refuses %s', async (path, words) => {
    const { status, error } = await refusal(server.port, `/api/${path}`);
    expect([status, error]).toEqual([400, expect.stringContaining(words)]);
  });
});

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const ROOT = join(GOLDEN ?? '', 'geopm');

describe.skipIf(GOLDEN === undefined)('GEOPM’s genuine files (needs TRISCOPE_GOLDEN)', () => {
  const reports =
    GOLDEN === undefined
      ? ['needs TRISCOPE_GOLDEN']
      : [
          ...readdirSync(join(ROOT, 'real-run'))
            .filter((name) => /report/.test(name))
            .map((name) => join('real-run', name)),
          'repo/test_io_experiment.report',
          'repo/test_sleep_region_map_report.yaml',
        ];

  let server: LiveServer;
  let ids: readonly string[];
  beforeAll(async () => {
    server = await startServer({ recordings: reports.map((name) => join(ROOT, name)) });
    ids = (await json<{ id: string }[]>(server.port, '/api/recordings')).map(({ id }) => id);
  });
  afterAll(() => server.close());

  it.each(reports)('%s opens, each number as the YAML has it', async (name) => {
    const text = readFileSync(join(ROOT, name), 'utf8');
    const of = new URLSearchParams({ recording: ids[reports.indexOf(name)] });
    const { rows, columns } = await json<RegionFacts>(server.port, `/api/regions?${of}`);
    expect(rows.length).toBeGreaterThan(0);
    const asWritten = {
      runtime: 'runtime (s)',
      count: 'count',
      sync_runtime: 'sync-runtime (s)',
      power: 'power (W)',
    };
    for (const [column, key] of Object.entries(asWritten)) {
      const at = columns.findIndex((one) => one.key === column);
      const line = new RegExp(`^ +${key.replace(/[()]/g, '\\$&')}: (\\S+)$`, 'gm');
      const written = [...text.matchAll(line)].map(([, value]) => Number(value));
      const read = rows.map(({ values }) => values[at]).filter((value) => value !== null);
      expect([key, read]).toEqual([key, written.filter((value) => !Number.isNaN(value))]);
    }
  });

  it('lanes add up to the report’s sync-runtime, processes to their known times', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triscope-golden-'));
    for (const what of ['report', 'trace', 'profile-trace']) {
      copyFileSync(
        join(ROOT, 'real-run', `one-rank.${what}-vm`),
        join(folder, `one-rank.${what}-vm`),
      );
    }
    const server = await startServer({ recording: folder });
    try {
      const lanes = await json<LanesFacts>(
        server.port,
        '/api/regions/lanes?host=vm&from=0&to=4&bins=4000',
      );
      const times = timesIn(lanes, 'host');
      expect(times.get(0xcce45a1e)).toBeCloseTo(1.000111, 6);
      expect(times.get(0xe4f71c04)).toBeCloseTo(0.804005, 6);
      expect(times.get(0x67adafb6)).toBeCloseTo(0.696509, 6);
      const { processes, processesFrom } = await json<RegionFacts>(server.port, '/api/regions');
      expect(processesFrom).toBe('profile trace');
      expect(processes.find(({ region }) => region === 'compute_A')?.runtime).toBeCloseTo(
        1.000051,
        6,
      );
    } finally {
      await server.close();
    }
  });
});

it('processes of a recorded command have their ranks and names; signals that no machine told are left out', async () => {
  const who = { real_time: 0, host: 'h1' };
  const head = '# start_time: 2026-03-01T12:00:00.000000000+0000\n# node_name: h1\n';
  const visits = [7, 8].flatMap((id) => [
    `0.1|${id}|REGION_ENTRY|0x00000001|${id}`,
    `0.4|${id}|REGION_EXIT|0x00000001|${id}`,
  ]);
  const recording = writeFolder(join(mkdtempSync(join(tmpdir(), 'regions-')), 'run.tri'), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(
      batchOf(PROCESS, [
        { ...who, process_id: 7, rank: 1, name: 'app' },
        { ...who, process_id: 8, name: 'tool' },
      ]),
    ),
    'geopm.profile-h1': `${head}TIME|PROCESS|EVENT|SIGNAL|THREAD\n${visits.join('\n')}\n`,
    'geopm.trace-h1': `${head}TIME|REGION_HASH|CPU_POWER|TIME_HINT_NETWORK\n0|0x00000001|nan|0\n1|0x00000001|nan|0.5\n`,
  });
  const server = await startServer({ recording });
  try {
    const path = '/api/regions/processes?host=h1&from=0&to=1&bins=10';
    const { lanes } = await json<LanesFacts>(server.port, path);
    expect(lanes.map(({ name }) => name)).toEqual(['rank 1 (process 7)', 'process 8 (tool)']);
    const { traces } = await json<RegionFacts>(server.port, '/api/regions');
    expect(traces[0].signals.map(({ key }) => key)).toEqual(['time_hint_network']);
  } finally {
    await server.close();
    rmSync(dirname(recording), { recursive: true });
  }
});
