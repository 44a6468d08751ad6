/** Recordings that are empty, unfinished, damaged, of several hosts, or whose clocks contradict each other. */
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenRecording, openRecording } from 'triscope/query';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { Recording } from '../../src/model/recording.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import {
  batchOf,
  framesOf,
  NOON,
  nanoseconds,
  placeOf,
  rawStats,
  recordingOf,
  writeFolder,
} from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-bad-'));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: OpenRecording[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});
let made = 0;
const fresh = (name = 'run.tri') => join(folder, `${++made}`, name);
async function open(paths: string | string[]): Promise<OpenRecording> {
  const recording = await openRecording(paths, {});
  opened.push(recording);
  return recording;
}

const samples = (seconds: number, pe = 0) =>
  Array.from({ length: seconds }, (_, k) => ({
    ...{ pe_id: pe, real_time: k + 1, mode: 'gvt', gvt: 10 * (k + 1), events_processed: 100 },
  }));
const frames = (seconds: number) => framesOf(batchOf(ROSS_PE, samples(seconds)));
const cpuFile = (host: string, from: number, seconds: number) =>
  rawStats(
    host,
    Array.from({ length: seconds + 1 }, (_, k) => ({
      time: from + k,
      cpus: [{ user: 100 * k }, {}],
    })),
  );
const source = (name: string, path: string, zero: number, format = 'frames') => ({
  ...{ name, files: [{ path, format }], zero: nanoseconds(zero), droppedBytes: 0 },
});
const whats = (recording: OpenRecording) =>
  recording.suspects.map(({ file, what }) => `${file}: ${what}`);

describe('an empty recording', () => {
  it('has the tables about itself, and no others', async () => {
    const path = writeFolder(fresh(), { 'recording.json': recordingOf({ sources: [], pes: [] }) });
    const recording = await open(path);
    expect(await recording.query('SELECT state FROM recording')).toEqual([{ state: 'finished' }]);
    expect(await recording.query('SELECT * FROM metrics WHERE kind IS NOT NULL')).toEqual([]);
    await expect(recording.query('SELECT * FROM ross_pe')).rejects.toThrow(
      'there is no table ross_pe at line 1, column 15; tables: clocks, entities, metrics, pes, recording, runs, suspect',
    );
  });

  it('of empty files opens, too', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': '',
      'node/h1/1': '',
    });
    const recording = await open(path);
    expect(await recording.query('SELECT count(*) AS n FROM clocks')).toEqual([{ n: 0 }]);
    expect(whats(recording)).toContain(
      'extra.frames: it is empty: nothing was written into it yet, or ever',
    );
  });

  it('of schemas without rows has their tables', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': framesOf(batchOf(ROSS_PE, [])),
      'node/h1/1': rawStats('h1', []),
    });
    const recording = await open(path);
    const count = recording.query('SELECT count(*) AS n FROM ross_pe');
    expect(await count.catch((error: Error) => error.message.slice(0, 26))).toEqual([{ n: 0 }]);
  });
});

describe('a recording that is being written', () => {
  it('is what was whole when it was opened, for all queries', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({ state: 'running', ended: undefined } as Partial<Recording>),
      'extra.frames': Buffer.concat([frames(2), frames(3).subarray(0, -9)]),
      'node/h1/1': `${cpuFile('h1', NOON, 2)}\n${NOON + 3}.000000 - h1\ncpu 0 1 2`,
    });
    const recording = await open(path);
    const counts =
      'SELECT (SELECT count(*) FROM ross_pe) AS a, (SELECT count(*) FROM node_cpu) AS b';
    expect(await recording.query(counts)).toEqual([{ a: 2, b: 6 }]);
    appendFileSync(join(path, 'extra.frames'), frames(3).subarray(-9));
    appendFileSync(join(path, 'node/h1/1'), ' 3 4 5 6 7\n');
    expect(await recording.query(counts)).toEqual([{ a: 2, b: 6 }]);
    expect(await recording.query('SELECT state, ended FROM recording')).toEqual([
      { state: 'running', ended: null },
    ]);
    expect(whats(recording).join('\n')).toMatch(
      /extra\.frames: byte \d+: its last \d+ bytes are not a whole/,
    );
    expect(whats(recording).join('\n')).toMatch(/node\/h1\/1: line \d+: cut off/);
    const [a] = await (await open(path)).query(counts);
    expect(a).toEqual({ a: 5, b: 7 });
  });
});

describe('a recording of which half of the files are missing', () => {
  it('names them, and gives the rest', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({
        sources: [
          source('sim', 'extra.frames', NOON),
          source('node', 'node/h1/1', NOON, 'tacc'),
          source('node-2', 'node/h2/1', NOON, 'tacc'),
          source('ross', 'stats-output/ross-stats-gvt.bin', NOON, 'ross'),
        ],
      }),
      'extra.frames': frames(2),
      'node/h1/1': cpuFile('h1', NOON, 2),
    });
    const recording = await open(path);
    expect(whats(recording)).toEqual([
      'node/h2/1: recording.json lists it, and it is not there',
      'stats-output/ross-stats-gvt.bin: recording.json lists it, and it is not there',
    ]);
    expect(await recording.query('SELECT count(*) AS n FROM pe_on_node')).toEqual([{ n: 2 }]);
  });

  it('of damaged ones, too', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': Buffer.concat([Buffer.alloc(64, 7), frames(1), Buffer.alloc(40), frames(2)]),
      'node/h1/1': cpuFile('h1', NOON, 1),
    });
    const recording = await open(path);
    expect(whats(recording).join('\n')).toMatch(/extra\.frames: byte 0: /);
    expect(await recording.query('SELECT count(*) AS n FROM node_cpu')).toEqual([{ n: 4 }]);
  });
});

describe('recordings of different hosts', () => {
  const of = (host: string, seconds: number) => ({
    'recording.json': recordingOf({
      hosts: [{ name: host, platform: 'linux', arch: 'x64', cpus: 2, cpuModel: '', memory: 1 }],
      pes: [placeOf({ pe: 0, host, cpu: 0 })],
    }),
    'extra.frames': frames(seconds),
    [`node/${host}/1`]: cpuFile(host, NOON, seconds),
  });

  it('are schemas that do not mix: each PE has its own host’s CPUs', async () => {
    const recording = await open([
      writeFolder(fresh('a.tri'), of('h1', 2)),
      writeFolder(fresh('b.tri'), of('h2', 3)),
    ]);
    const sql = `SELECT 'a' AS run, host, count(*)::INTEGER AS n FROM a.pe_on_node GROUP BY ALL
      UNION ALL SELECT 'b', host, count(*)::INTEGER FROM b.pe_on_node GROUP BY ALL ORDER BY run`;
    expect(await recording.query(sql)).toEqual([
      { run: 'a', host: 'h1', n: 2 },
      { run: 'b', host: 'h2', n: 3 },
    ]);
  });

  it('in one: a PE whose host has no counters has no row beside another’s', async () => {
    const path = writeFolder(fresh(), {
      ...of('h1', 2),
      'recording.json': recordingOf({
        pes: [placeOf({ pe: 0, host: 'h9', cpu: 0 })],
      }),
    });
    const recording = await open(path);
    expect(await recording.query('SELECT * FROM pe_on_node')).toEqual([]);
  });
});

describe('clocks', () => {
  const clocks = 'SELECT file, table_name, placement, shift FROM clocks ORDER BY ALL';

  it('say how each file is placed, and what that is worth', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({
        sources: [
          source('sim', 'extra.frames', NOON + 2),
          source('node', 'node/h1/1', NOON, 'tacc'),
        ],
      }),
      'extra.frames': frames(1),
      'node/h1/1': cpuFile('h1', NOON, 1),
    });
    const recording = await open(path);
    expect(recording.suspects).toEqual([]);
    expect(await recording.query(`${clocks} LIMIT 2`)).toEqual([
      { file: 'extra.frames', table_name: 'ross_pe', placement: 'anchor', shift: 2 },
      { file: 'node/h1/1', table_name: 'node_cpu', placement: 'wall clock', shift: -NOON },
    ]);
    expect(
      await recording.query('SELECT DISTINCT zero_ns::VARCHAR AS zero FROM clocks ORDER BY ALL'),
    ).toEqual([{ zero: nanoseconds(NOON + 2) }, { zero: null }]);
  });

  it('of a loose file that nothing places are assumed, and that is said', async () => {
    const path = join(folder, `${++made}`);
    writeFolder(path, { 'a.frames': frames(1), stats: cpuFile('h1', NOON, 1) });
    const recording = await open(path);
    const [first] = await recording.query("SELECT * FROM clocks WHERE file = 'a.frames'");
    expect(first).toEqual({
      bound: null,
      ...{ file: 'a.frames', table_name: 'ross_pe', placement: 'assumed', zero_ns: null, shift: 0 },
      quality:
        'unknown: nothing says when its time 0 was, so it is taken to be the start of the timeline',
    });
  });

  it('that contradict each other are told: records that are not of the run’s time', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({
        sources: [source('sim', 'extra.frames', NOON), source('node', 'node/h1/1', NOON, 'tacc')],
      }),
      'extra.frames': frames(1),
      'node/h1/1': cpuFile('h1', NOON - 3600, 1),
    });
    const recording = await open(path);
    expect(whats(recording)).toEqual([
      'node/h1/1: clock anchors contradict each other: its records began 2026-03-01T11:00:00.000Z, the recording began 2026-03-01T12:00:00.000Z; placed by its own times: the clocks of the hosts differ, or the file is of another run',
    ]);
    expect(await recording.query('SELECT min(t) AS t FROM node_cpu')).toEqual([{ t: -3600 }]);
  });

  it('that contradict each other are told: a zero that is not of the run’s time', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({ sources: [source('sim', 'extra.frames', NOON + 86_400)] }),
      'extra.frames': frames(1),
    });
    const recording = await open(path);
    expect(whats(recording)).toEqual([
      expect.stringMatching(
        /^recording\.json: clock anchors contradict each other: source sim, by its zero, ended 2026-03-02T12.*the recording ended 2026-03-01T12/,
      ),
    ]);
  });

  it('that contradict each other are told: a file that says another zero than recording.json', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf({
        sources: [source('region', 'app.trace-vm', NOON, 'geopm')],
      }),
      'app.trace-vm': `# geopm_version: 3.1.0\n# start_time: ${new Date(1000 * (NOON + 5)).toISOString().replace('Z', '000000+0000')}\n# node_name: vm\nTIME|CPU_ENERGY\n0.5|10\n`,
    });
    const recording = await open(path);
    expect(whats(recording)).toEqual([
      'app.trace-vm: clock anchors contradict each other: the file says that its time 0 was 2026-03-01T12:00:05.000Z, recording.json 2026-03-01T12:00:00.000Z; placed by the file, 5 s later: correct zero in recording.json',
    ]);
  });
});

describe('GVT', () => {
  it('and real time convert into each other; before the first and after the last there is none', async () => {
    const path = writeFolder(fresh(), {
      'recording.json': recordingOf(),
      'extra.frames': frames(3),
    });
    const recording = await open(path);
    expect(await recording.query('SELECT * FROM gvt')).toEqual([
      { gvt: 10, t: 1 },
      { gvt: 20, t: 2 },
      { gvt: 30, t: 3 },
    ]);
    // Arguments that are called as the columns inside.
    expect(
      await recording.query(
        'SELECT t, gvt_at(t) AS g, t_at_gvt(gvt) AS r FROM (VALUES (0.5, 5), (1, 10), (2.5, 20.5), (9, 31)) x(t, gvt) ORDER BY t',
      ),
    ).toEqual([
      { t: 0.5, g: null, r: 1 },
      { t: 1, g: 10, r: 1 },
      { t: 2.5, g: 20, r: 3 },
      { t: 9, g: 30, r: null },
    ]);
    // Of a few rows as of many: no step for each pair of a row and a GVT.
    const plans = await recording.query<{ explain_value: string }>(
      'EXPLAIN SELECT gvt_at(p.t), t_at_gvt(p.gvt), g.gvt FROM ross_pe p ASOF JOIN gvt g ON p.t >= g.t',
    );
    expect(plans[0].explain_value.match(/\w+_JOIN/g)?.toSorted()).toEqual([
      ...['ASOF_JOIN', 'ASOF_JOIN', 'ASOF_JOIN'],
      ...['HASH_JOIN', 'HASH_JOIN', 'LEFT_DELIM_JOIN', 'LEFT_DELIM_JOIN'],
    ]);
  });
});
