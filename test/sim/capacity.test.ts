/** Memory of runs with many LPs: what is pending decides it, not how long the run is or how much it records. */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { FLAG_SCHEMA, HEADER_BYTES } from '../../src/formats/frames/layout.ts';
import { LiveFrames, MOST_UNTAKEN_BYTES } from '../../src/sim/instrument/live-frames.ts';
import { TAKEN } from '../../src/sim/instrument/slab.ts';
import { lpsOfPe, lpsOfPes, placeLps } from '../../src/sim/placement.ts';
import { temporaryFolder, triscope } from '../cli/support/run.ts';

const RUN = fileURLToPath(new URL('../../bench/capacity-run.mjs', import.meta.url));
const FIELDS = fileURLToPath(new URL('../../bench/capacity-model.mjs', import.meta.url));
const MB = 2 ** 20;

interface Result {
  readonly peakRssBytes: number;
  readonly peakEvents: number;
  readonly netEvents: number;
  readonly streams: readonly { readonly bytes: number; readonly droppedRecords: number }[];
}

/** A run to virtual time `until`, with 16 events pending for each of `lps` LPs all the time. */
async function partOf(model: string, lps: number, pes: number, until: number): Promise<Result> {
  const options = { 'total-lps': lps, 'start-events': 16 };
  // How far PEs may be ahead decides what is uncommitted: on a busy machine, else, up to --max-memory.
  const settings = { pes, end: 100, lookahead: 0.1, maxOptLookahead: 0.1, options };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [RUN, JSON.stringify({ model, settings, until })],
    { maxBuffer: 64 * MB },
  );
  return JSON.parse(stdout) as Result;
}

describe('memory of many LPs', () => {
  const MANY = 2 ** 16;
  const FEW = 2 ** 10;

  it.each([
    ['phold', 1, 110],
    [FIELDS, 2, 160],
  ] as const)(
    '%s on %i PEs takes at most %i bytes per pending event, its LP included',
    async (model, pes, most) => {
      const [small, large] = [
        await partOf(model, FEW, pes, 0),
        await partOf(model, MANY, pes, 0.1),
      ];
      expect(large.peakEvents).toBeGreaterThanOrEqual(16 * MANY);
      const grown = large.peakRssBytes - small.peakRssBytes;
      expect(grown / (16 * MANY)).toBeLessThan(most);
    },
  );
});

describe('samples of every LP', () => {
  const folder = temporaryFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const LPS = 2 ** 15;

  async function sampled(pes: number, every: number): Promise<Result> {
    const path = join(folder, 'stats');
    const { code, out, err } = await triscope([
      ...['sim', 'run', 'phold', `--total-lps=${LPS}`, '--lookahead=0.1', '--end=2', '--json'],
      ...['--engine-stats=gvt', '--granularity=1', '--lp-data', `--num-gvt=${every}`],
      ...['--buffer-size=1e6', `--stats-path=${path}`, `--pes=${pes}`, '--gvt-interval=8'],
    ]);
    expect([code, err]).toEqual([0, '']);
    rmSync(path, { recursive: true });
    return JSON.parse(out) as Result;
  }

  it.each([
    ['sequential', 1, 5],
    ['2 PEs', 2, 1],
  ] as const)(
    'are streamed: memory does not grow with their number (%s)',
    async (_, pes, every) => {
      const one = await sampled(pes, 1e6);
      const many = await sampled(pes, every);
      const written = (r: Result) => r.streams.reduce((sum, s) => sum + s.bytes, 0);
      expect(many.streams.map((s) => s.droppedRecords).some((n) => n > 0)).toBe(false);
      expect(written(many) - written(one)).toBeGreaterThan(50 * MB);
      expect(many.peakRssBytes - one.peakRssBytes).toBeLessThan(48 * MB);
      expect(many.netEvents).toBe(one.netEvents);
    },
  );
});

describe('frames that the run’s thread has no time to take', () => {
  const frame = (bytes: number, flags = 0) => {
    const made = new Uint8Array(bytes);
    new DataView(made.buffer).setUint32(20, flags, true);
    return made;
  };

  it('are left out beyond a bound and counted; definitions never are', () => {
    const bell = new Int32Array(new SharedArrayBuffer(64));
    let [given, dropped, definitions] = [0, 0, 0];
    const live = new LiveFrames(bell, (message) => {
      given += message.bytes;
      dropped += message.dropped;
      definitions += message.frames.filter((f) => f.length === HEADER_BYTES).length;
    });
    for (let k = 0; k < 40; k++) live.add([frame(HEADER_BYTES, FLAG_SCHEMA), frame(MB)]);
    live.post();
    expect(definitions).toBe(40);
    expect(given).toBeLessThanOrEqual(MOST_UNTAKEN_BYTES + 40 * HEADER_BYTES);
    expect(dropped).toBe(9);

    // Taken: there is room again, also where the count of bytes has wrapped around.
    Atomics.add(bell, TAKEN, given);
    const one = frame(MB);
    for (let k = 0; k < 5000; k++) {
      const before = given;
      live.add([one]);
      Atomics.add(bell, TAKEN, given - before);
    }
    expect(dropped).toBe(9);
    expect(given).toBeGreaterThan(2 ** 32);
  });
});

describe('placement', () => {
  it('lists the LPs of all PEs in one pass as PE by PE', () => {
    const maps = [
      'linear',
      'round-robin',
      { pe: (lp: number, _: number, n: number) => (lp * 7919) % n },
    ];
    fc.assert(
      fc.property(
        fc.constantFrom(...maps),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 12 }),
        (map, lps, pes) => {
          const placement = placeLps({ name: 'm', map } as never, lps, pes);
          const each = placement.counts.map((_, pe) => [...lpsOfPe(placement, pe)]);
          expect(lpsOfPes(placement).map((ids) => [...ids])).toEqual(each);
        },
      ),
    );
  });
});
