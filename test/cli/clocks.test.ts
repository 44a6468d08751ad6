/** Simulator, regions and node on one timeline: against a program that notes the time of day beside what it does. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RECORDING_FILE } from '../../src/model/recording.ts';
import { openRecording } from '../../src/query/index.ts';
import { BIN, temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const NATIVE = fileURLToPath(new URL('../../native', import.meta.url));
const NOTES = fileURLToPath(new URL('support/clock-notes.py', import.meta.url));
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** Nanoseconds. */
const APART = 2_000_000;

interface Notes {
  /** Thread, region, then the time of day before and after the entry, before and after the exit. */
  readonly marks: readonly [number, string, number, number, number, number][];
  /** When a file had become longer. */
  readonly grown: readonly number[];
}

/** Rows, and the nanoseconds since 1970 at which each was. */
async function rowsOf<T extends { readonly t: number }>(path: string, sql: string) {
  const recording = await openRecording(path);
  try {
    const [{ start }] = await recording.query<{ start: string }>(
      'SELECT start_ns::VARCHAR AS start FROM recording',
    );
    const rows = await recording.query<T>(sql);
    return rows.map((row) => ({ ...row, wall: Number(start) + 1e9 * row.t }));
  } finally {
    await recording.close();
  }
}

/** Whether each moment of `wall` was between the two that were noted, to 2 ms. */
function expectBetween(wall: number, from: number, to: number): void {
  expect(wall).toBeGreaterThan(from - APART);
  expect(wall).toBeLessThan(to + APART);
}

const boundOf = (folder: string): number[] =>
  JSON.parse(readFileSync(join(folder, RECORDING_FILE), 'utf8')).sources.map(
    ({ bound }: { bound: number }) => bound,
  );

describe.skipIf(!hasPython || process.platform !== 'linux')('clocks (need python3)', () => {
  it('of regions, their threads, and the node are those of the program, to 2 ms; the bound is told', async () => {
    const cwd = temporaryFolder();
    const launch = [BIN, 'region', 'launch', '--geopm-trace-profile=profile'];
    const program = ['python3', NOTES, 'notes.json', 'run.tri/node/*/*'];
    const record = ['record', '--no-regions', '--every=0.04', '-o', 'run', '--'];
    const run = await triscope([...record, process.execPath, ...launch, '--', ...program], {
      cwd,
      env: { PYTHONPATH: NATIVE },
    });
    expect([run.code, run.err]).toEqual([0, expect.anything()]);
    const notes = JSON.parse(readFileSync(join(cwd, 'notes.json'), 'utf8')) as Notes;
    const events = await rowsOf<{ t: number; thread: number; event: string }>(
      cwd,
      "SELECT t, thread, event FROM geopm_profile_trace WHERE event LIKE 'REGION%' ORDER BY t",
    );
    const told = (thread: number, event: string) =>
      events.filter((one) => one.thread === thread && one.event === event);
    const threads = [...new Set(notes.marks.map(([thread]) => thread))];
    expect(threads).toHaveLength(2);
    for (const thread of threads) {
      const own = notes.marks.filter((mark) => mark[0] === thread);
      const [entries, exits] = [told(thread, 'REGION_ENTRY'), told(thread, 'REGION_EXIT')];
      expect([entries.length, exits.length]).toEqual([own.length, own.length]);
      for (const [k, [, , before, inside, leaving, left]] of own.entries()) {
        expectBetween(entries[k].wall, before, inside);
        expectBetween(exits[k].wall, leaving, left);
      }
    }
    // A record's time is when its collection began; it is written when that is done.
    const folder = join(cwd, 'run.tri');
    const records = await rowsOf(folder, 'SELECT DISTINCT t FROM node_cpu ORDER BY t');
    const after = notes.grown.map((grown) =>
      Math.min(...records.map(({ wall }) => grown - wall).filter((ns) => ns > -APART)),
    );
    expect(Math.min(...after)).toBeLessThan(APART);
    expect(Math.max(...boundOf(folder))).toBeLessThan(APART);
    const { out } = await triscopeHere(['info', folder]);
    expect(out).toMatch(/^ *clocks\s+agree to 0\.\d+ ms$/m);
    const [{ bound }] = await rowsOf<{ t: number; bound: number }>(
      folder,
      "SELECT 0 AS t, bound FROM clocks WHERE table_name = 'node_cpu'",
    );
    expect(bound).toBe(Math.max(...boundOf(folder)) / 1e9);
  });

  it('of the simulator are those of the model’s own notes, to 2 ms', async () => {
    const cwd = temporaryFolder();
    writeFileSync(
      join(cwd, 'notes.mjs'),
      `import { appendFileSync } from 'node:fs';
import { defineModel } from 'triscope/sim';
// Handlers may not ask for the time: results would depend on it.
const { now } = globalThis[['Da', 'te'].join('')];
export default defineModel({
  name: 'notes', lps: () => 1, end: 40, lookahead: 1, state: { seen: 'u8' }, message: { hops: 'u8' },
  init: (lp) => { lp.send(0, 1); },
  forward(lp) {
    appendFileSync('notes', now() + '\\n');
    lp.send(0, 1);
  },
});
`,
    );
    const words = ['sim', 'run', './notes.mjs', '--synch=1', '--event-trace=all', '--record=run'];
    const { code, err } = await triscope(words, { cwd });
    expect([code, err]).toEqual([0, expect.anything()]);
    const noted = readFileSync(join(cwd, 'notes'), 'utf8').trim().split('\n').map(Number);
    const events = await rowsOf(join(cwd, 'run.tri'), 'SELECT t FROM ross_event ORDER BY t');
    expect(events).toHaveLength(noted.length);
    // An event is traced when it has been handled, before the next one is: Date.now() leaves out what is below 1 ms.
    const gaps = noted.slice(1).map((next, k) => {
      expectBetween(events[k].wall, 1e6 * noted[k], 1e6 * (next + 1));
      return next - noted[k];
    });
    expect(Math.min(...gaps)).toBeLessThan(2);
    expect(Math.max(...boundOf(join(cwd, 'run.tri')))).toBeLessThan(APART);
  });
});
