/** Recordings kept as DuckDB files. */
import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRecording } from 'triscope/query';
import { afterAll, describe, expect, it } from 'vitest';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { SIM_THREAD } from '../../src/model/schemas/sim.ts';
import { keyHelp } from '../../src/node/types/index.ts';
import { BIN, triscope } from '../cli/support/run.ts';
import { openHere } from './support/open-here.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  writeFolder,
} from './support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'query-cache-'));
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;
const fresh = (name: string) => join(folder, `${++made}`, name);

const seconds = [0, 1, 2, 3];
const recordingAt = (path: string): string =>
  writeFolder(path, {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(
      batchOf(
        ROSS_PE,
        seconds.slice(1).map((real_time) => ({
          ...{ pe_id: 0, real_time, mode: 'gvt', gvt: 10 * real_time, gvt_index: real_time },
          ...{ events_processed: 4_294_967_295, events_rolled_back: 100 },
        })),
      ),
      batchOf(
        SIM_THREAD,
        seconds.map((s) => ({ pe_id: 0, real_time: s, cpu_time: BigInt(s) * 10n ** 9n })),
      ),
    ),
    'node/h1/1': `${rawStats(
      'h1',
      seconds.map((s) => ({ time: NOON + s, cpus: [{ user: 2n ** 63n + BigInt(100 * s) }] })),
    )}cpu 0 cut`,
  });

it.each([false, true])(
  'metrics has every column, of views too, with what it means (cache %s)',
  async (cached) => {
    const path = recordingAt(fresh('run.tri'));
    const options = { cache: cached && join(folder, 'of-metrics'), help: keyHelp() };
    const recording = await openRecording([path], options);
    const missing = `SELECT table_name, column_name FROM information_schema.columns
    WHERE table_catalog = 'memory' AND table_schema = 'main'
    EXCEPT ALL SELECT table_name, column_name FROM metrics WHERE help <> ''`;
    expect(await recording.query(missing)).toEqual([]);
    const few = `SELECT table_name AS t, type, unit, help FROM metrics
    WHERE column_name = 'user' AND table_name <> 'rank_on_node' ORDER BY ALL`;
    const help = 'in user mode';
    expect(await recording.query(few)).toEqual([
      { t: 'node_cpu', type: 'UBIGINT', unit: 'cs', help },
      { t: 'node_cpu_rate', type: 'DOUBLE', unit: 'cs/s', help: `${help}, per second` },
      { t: 'pe_on_node', type: 'DOUBLE', unit: '1', help: 'share of the CPU’s time: user' },
    ]);
    expect(await recording.query('DESCRIBE node_cpu')).toContainEqual(
      expect.objectContaining({ column_name: 'user', comment: `cs: ${help}` }),
    );
    await recording.close();
  },
);

const QUERIES = [
  'SELECT * FROM ross_pe ORDER BY t',
  'SELECT * FROM node_cpu ORDER BY t',
  'SELECT * FROM node_cpu_rate ORDER BY t',
  'SELECT * FROM sim_thread_rate ORDER BY t',
  'SELECT * FROM pe_on_node ORDER BY t',
  'SELECT * FROM gvt',
  'SELECT gvt_at(2.5), t_at_gvt(15)',
  'SELECT * FROM metrics ORDER BY ALL',
  'SELECT * FROM clocks ORDER BY ALL',
  'SELECT * FROM recording',
  'SELECT * FROM suspect',
  'SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_catalog = current_database() ORDER BY ALL',
];

async function answers(path: string, cache?: string) {
  const recording = await openRecording(path, cache === undefined ? {} : { cache });
  try {
    const rows = [];
    for (const sql of QUERIES) rows.push(await recording.query(sql));
    return { rows, suspects: recording.suspects, notes: recording.notes };
  } finally {
    await recording.close();
  }
}

const COUNT = 'SELECT count(*) AS n FROM node_cpu';
const count = async (path: string, cache: string) => {
  const recording = await openHere(path, cache);
  const [row] = await recording.query(COUNT);
  await recording.close();
  return { ...row, notes: recording.notes };
};

/** 2 MB of text. */
function archiveAt(path: string): string {
  const lines = [
    `$tacc_stats 2.3.5\n$hostname c1\n!cpu ${'abcdefghijklmnop'
      .split('')
      .map((k) => `${k},E`)
      .join(' ')}\n`,
  ];
  for (let group = 0; group < 2_500; group++) {
    lines.push(`\n${NOON + group} - c1\n`);
    for (let cpu = 0; cpu < 8; cpu++) lines.push(`cpu ${cpu}${` ${group * 7_919}`.repeat(16)}\n`);
  }
  return writeFolder(path, { 'c1/1': lines.join('') });
}

describe('the cache', () => {
  it('gives what the files give: rows, types, views, facts, suspects', async () => {
    const path = recordingAt(fresh('run.tri'));
    const cache = fresh('cache');
    const expected = await answers(path);
    expect(expected.suspects).toHaveLength(1);
    const made = await answers(path, cache);
    const names = readdirSync(cache);
    expect(names).toEqual([expect.stringMatching(/^run-[0-9a-f]{12}-[0-9a-f]{16}\.duckdb$/)]);
    const { mtimeMs } = statSync(join(cache, names[0]));
    const found = await answers(path, cache);
    expect([made, found]).toEqual([expected, expected]);
    expect(statSync(join(cache, names[0])).mtimeMs).toBe(mtimeMs);
  });

  it('is read instead of the files', async () => {
    const path = recordingAt(fresh('run.tri'));
    const cache = fresh('cache');
    await count(path, cache);
    const [name] = readdirSync(cache);
    // Another recording's tables under this one's name.
    const other = archiveAt(fresh('other'));
    const elsewhere = fresh('cache');
    await count(other, elsewhere);
    execFileSync('cp', [join(elsewhere, readdirSync(elsewhere)[0]), join(cache, name)]);
    expect(await count(path, cache)).toEqual({ n: 20_000, notes: [] });
  });

  it('is built anew when a file grows, changes or goes, and the old one is removed', async () => {
    const path = recordingAt(fresh('run.tri'));
    const cache = fresh('cache');
    const raw = join(path, 'node/h1/1');
    expect(await count(path, cache)).toMatchObject({ n: 4 });
    appendFileSync(raw, `\n\n${NOON + 9} - h1\ncpu 0 1 2 3 4 5 6 7\n`);
    expect(await count(path, cache)).toMatchObject({ n: 5 });
    // The same size, another time.
    utimesSync(raw, NOON, NOON);
    const [before] = readdirSync(cache);
    expect(await count(path, cache)).toMatchObject({ n: 5 });
    expect(readdirSync(cache)).toHaveLength(1);
    expect(readdirSync(cache)).not.toEqual([before]);
    writeFileSync(raw, rawStats('h1', [{ time: NOON, cpus: [{}] }]));
    expect(await count(path, cache)).toMatchObject({ n: 1 });
    rmSync(join(path, 'extra.frames'));
    const recording = await openRecording(path, { cache });
    expect(recording.suspects.map(({ file }) => file)).toEqual(['extra.frames']);
    await recording.close();
    expect(readdirSync(cache)).toHaveLength(1);
  });

  it('serves several recordings at once, each from its own file', async () => {
    const cache = fresh('cache');
    const paths = [recordingAt(fresh('run.tri')), recordingAt(fresh('run.tri'))];
    for (let round = 0; round < 2; round++) {
      const recording = await openRecording(paths, { cache });
      expect(
        await recording.query(
          'SELECT (SELECT count(*) FROM run.ross_pe) AS a, (SELECT count(*) FROM run_2.pe_on_node) AS b, gvt_at(2.5) AS g, run_2.t_at_gvt(15) AS t',
        ),
      ).toEqual([{ a: 3, b: 3, g: 20, t: 2 }]);
      await recording.close();
    }
    expect(readdirSync(cache)).toHaveLength(2);
  });

  it('is built by two processes at once, and one of them is kept', async () => {
    const path = archiveAt(fresh('archive'));
    const cache = fresh('cache');
    const both = await Promise.all(
      [1, 2].map(() => triscope(['query', path, COUNT, '--cache-dir', cache, '--csv'])),
    );
    for (const { code, out, err } of both) expect([code, out, err]).toEqual([0, 'n\n20000\n', '']);
    expect(readdirSync(cache)).toHaveLength(1);
    expect(await count(path, cache)).toEqual({ n: 20_000, notes: [] });
  });

  it('of a builder that was killed is no part; what it left is removed', async () => {
    const path = archiveAt(fresh('archive'));
    const cache = fresh('cache');
    mkdirSync(cache, { recursive: true });
    const child = spawn(process.execPath, [BIN, 'query', path, COUNT, '--cache-dir', cache]);
    const ended = new Promise((resolve) => child.on('exit', resolve));
    const isBuilding = () => readdirSync(cache).some((name) => name.endsWith('.tmp'));
    while (!isBuilding() && child.exitCode === null) await sleep(1);
    child.kill('SIGKILL');
    await ended;
    expect(isBuilding()).toBe(true);
    expect(await count(path, cache)).toEqual({ n: 20_000, notes: [] });
    expect(readdirSync(cache)).toEqual([expect.stringMatching(/\.duckdb$/)]);
  });

  it('that is damaged is built anew', async () => {
    const path = recordingAt(fresh('run.tri'));
    const cache = fresh('cache');
    await count(path, cache);
    const file = join(cache, readdirSync(cache)[0]);
    writeFileSync(file, 'no database');
    expect(await count(path, cache)).toMatchObject({ n: 4 });
    expect(statSync(file).size).toBeGreaterThan(1000);
  });

  it('that cannot be written is done without, and told', async () => {
    const path = archiveAt(fresh('archive'));
    const cache = fresh('cache');
    const words = [process.execPath, BIN, 'query', path, COUNT, '--csv', '--cache-dir', cache];
    const child = spawn('bash', ['-c', 'ulimit -f 256; exec "$@"', 'bash', ...words]);
    let [out, err] = ['', ''];
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stderr.on('data', (data) => {
      err += data;
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect([code, out]).toEqual([0, 'n\n20000\n']);
    expect(err).toBe(`triscope: ${path}: not cached in ${cache}: the file may not grow so large\n`);
    expect(readdirSync(cache)).toEqual([]);
    const noFolder = join(path, 'c1', '1');
    expect((await count(path, noFolder)).notes).toEqual([
      `${path}: not cached in ${noFolder}: is not a folder`,
    ]);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'is done without on a full disk (needs root)',
    async ({ skip }) => {
      const path = archiveAt(fresh('archive'));
      const disk = fresh('disk');
      mkdirSync(disk, { recursive: true });
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'ignore' });
      } catch {
        skip('no right to mount');
      }
      try {
        expect(await count(path, disk)).toEqual({
          n: 20_000,
          notes: [`${path}: not cached in ${disk}: the disk is full`],
        });
        expect(readdirSync(disk)).toEqual([]);
      } finally {
        execFileSync('umount', [disk]);
      }
    },
  );

  it('lies in the user’s cache folder where no other is named', async () => {
    const path = recordingAt(fresh('run.tri'));
    const home = fresh('home');
    const { code } = await triscope(['query', path, COUNT, '--cache'], {
      env: { XDG_CACHE_HOME: home },
    });
    expect(code).toBe(0);
    expect(existsSync(join(home, 'triscope', 'query'))).toBe(true);
    expect(readdirSync(join(home, 'triscope', 'query'))).toHaveLength(1);
  });
});
