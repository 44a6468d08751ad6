/** Samples of the engine: whatever the mode and synchroniser, their sums are the totals that the run prints. */
import '../../support/small-machine.ts';
import { fileURLToPath } from 'node:url';
import { loadModel, type Settings, type Synchroniser } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { framesOf, type Recorded, type Row, record } from '../support/recorded.ts';

const COUNTING = fileURLToPath(new URL('../support/counting.ts', import.meta.url));

const sum = (rows: readonly Row[], key: string) =>
  rows.reduce((total, row) => total + Number(row[key]), 0);

const WAYS: readonly (readonly [Synchroniser, number])[] = [
  ['sequential', 1],
  ['conservative', 1],
  ['conservative', 2],
  ['optimistic', 1],
  ['optimistic', 2],
  ['optimistic-realtime', 2],
  ['optimistic-debug', 1],
  ['rollback-check', 1],
];

const ALL: Settings['instrument'] = {
  engine: { gvt: true, rt: true, vt: true },
  levels: { pe: true, kp: true, lp: true },
  rtInterval: 1,
  vtInterval: 7,
  numGvt: 3,
};

async function run(settings: Settings): Promise<Recorded> {
  const model = await loadModel(COUNTING);
  try {
    return await record(model, { end: 100, nkp: 3, batch: 8, gvtInterval: 4, ...settings });
  } finally {
    model.dispose();
  }
}

describe.each(WAYS)('%s on %i PEs', (synch, pes) => {
  it('samples of each mode add up to the totals, at every level', async () => {
    const { result, rows } = await run({ synch, pes, instrument: ALL });
    // One PE runs in this thread, which is there when the last sample is taken.
    if (pes === 1) expect(rows.get('sim_thread')?.at(-1)?.pe_id).toBe(0);
    for (const mode of ['gvt', 'rt', 'vt']) {
      const of = (table: string) => (rows.get(table) ?? []).filter((r) => r.mode === mode);
      const pe = of('ross_pe');
      expect(pe.length).toBeGreaterThan(0);
      expect({
        mode,
        processed: sum(pe, 'events_processed'),
        rolledBack: sum(pe, 'events_rolled_back'),
        rollbacks: sum(pe, 'total_rollbacks'),
        secondary: sum(pe, 'secondary_rollbacks'),
        sends: sum(pe, 'network_sends'),
        receives: sum(pe, 'network_receives'),
        remote: sum(pe, 'remote_events'),
        ties: sum(pe, 'pe_event_ties'),
        fossil: sum(pe, 'fossil_collect_attempts'),
      }).toEqual({
        mode,
        processed: result.eventsProcessed,
        rolledBack: result.eventsRolledBack,
        rollbacks: result.totalRollbacks,
        secondary: result.secondaryRollbacks,
        sends: result.remoteSends,
        receives: result.remoteReceives,
        remote: result.remoteEvents,
        ties: result.eventTies,
        fossil: result.fossilCollects,
      });
      const kp = of('ross_kp');
      const lp = of('ross_lp');
      for (const table of [kp, lp]) {
        for (const key of [
          'events_processed',
          'events_aborted',
          'events_rolled_back',
          'network_sends',
          'network_receives',
        ]) {
          expect([mode, key, sum(table, key)]).toEqual([mode, key, sum(pe, key)]);
        }
      }
      expect(sum(kp, 'total_rollbacks')).toBe(result.totalRollbacks);
      expect(sum(kp, 'secondary_rollbacks')).toBe(result.secondaryRollbacks);
      expect(sum(lp, 'remote_events')).toBe(result.remoteEvents);
      expect(pe.every((r) => Number(r.gvt) <= 100 && Number(r.real_time) >= 0)).toBe(true);
    }
  });
});

describe('files', () => {
  it('hold the same samples as the frames', async () => {
    const { rows, file, result } = await run({ pes: 2, instrument: ALL });
    const bytes = file('gvt');
    const frames = framesOf(bytes);
    const pe = (rows.get('ross_pe') ?? []).filter((r) => r.mode === 'gvt');
    const native = frames.filter((f) => f.kind === 0);
    expect(native.length).toBe(pe.length);
    expect(native.reduce((n, { at }) => n + bytes.readUInt32LE(at + 4), 0)).toBe(
      result.eventsProcessed,
    );
    expect(frames.filter((f) => f.kind === 2).length).toBe(
      (rows.get('ross_lp') ?? []).filter((r) => r.mode === 'gvt').length,
    );
    expect(new Set(frames.map((f) => f.size))).toEqual(new Set([104, 44, 36]));
  });

  it('of real-time samples hold KPs at any granularity', async () => {
    const { file } = await run({
      pes: 2,
      instrument: { engine: { gvt: false, rt: true, vt: false }, rtInterval: 1 },
    });
    const kinds = framesOf(file('rt')).map((f) => f.kind);
    expect(kinds.filter((k) => k === 1).length).toBe(3 * kinds.filter((k) => k === 0).length);
    expect(kinds.includes(2)).toBe(false);
  });

  it('have the LP record of ROSS 8.1 when asked', async () => {
    const { file } = await run({ instrument: { ...ALL, layout: 'ross-8.1' } });
    const sizes = new Set(framesOf(file('gvt')).map((f) => f.size));
    expect(sizes).toEqual(new Set([104, 44, 48]));
  });

  it('are not written when output is disabled, and nothing is lost for it', async () => {
    const { file, result } = await run({
      pes: 2,
      instrument: { ...ALL, disableOutput: true, bufferSize: 4096 },
    });
    expect(file('gvt').length).toBe(0);
    expect(result.streams.every((s) => s.droppedRecords === 0 && s.bytes > 0)).toBe(true);
  });
});

it('all PEs sample the same GVTs, as many as --gvt-interval says and not those that come early', async () => {
  const gvtInterval = 64;
  const { result, rows } = await run({
    ...{ pes: 2, end: 1000, gvtInterval, maxOptLookahead: 0.01 },
    instrument: { ...ALL, engine: { gvt: true, rt: false, vt: false }, numGvt: 1 },
  });
  const samples = rows.get('ross_pe') ?? [];
  const [zero, one] = [0, 1].map((pe) =>
    samples.filter((r) => Number(r.pe_id) === pe).map((r) => Number(r.gvt_index)),
  );
  // What a PE has counted since the last of them is in one more, at the end.
  const common = Math.min(zero.length, one.length) - 1;
  expect(common).toBeGreaterThan(2);
  expect(zero.slice(0, common)).toEqual(one.slice(0, common));
  expect(common).toBeLessThan((2 * result.eventsProcessed) / (gvtInterval - 1));
  expect(result.gvtComputations).toBeGreaterThan(4 * common);
});

describe('buffers', () => {
  it('lose nothing when they are far too small', async () => {
    const { result, rows } = await run({
      pes: 2,
      end: 400,
      instrument: { ...ALL, numGvt: 1, bufferSize: 4096 },
    });
    const pe = (rows.get('ross_pe') ?? []).filter((r) => r.mode === 'gvt');
    expect(sum(pe, 'events_processed')).toBe(result.eventsProcessed);
    expect(result.streams.every((s) => s.droppedRecords === 0)).toBe(true);
  });

  it('count what they drop when told not to wait', async () => {
    const { result, rows } = await run({
      pes: 2,
      end: 2000,
      instrument: {
        ...ALL,
        engine: { gvt: true, rt: false, vt: false },
        numGvt: 1,
        bufferSize: 4096,
        onOverflow: 'drop',
      },
    });
    const dropped = result.streams.reduce((n, s) => n + s.droppedRecords, 0);
    const written = ['ross_pe', 'ross_kp', 'ross_lp'].reduce(
      (n, table) => n + (rows.get(table)?.length ?? 0),
      0,
    );
    expect(result.streams.every((s) => s.waitedMs === 0)).toBe(true);
    expect(written + dropped).toBeGreaterThan(2 + 6 + 16);
    // Whole sampling points of a PE are written, or dropped.
    expect((written + dropped) % (1 + 3 + 8)).toBe(0);
    expect(written % (1 + 3 + 8)).toBe(0);
    const streams = rows.get('sim_stream') ?? [];
    expect(streams.reduce((n, s) => n + Number(s.dropped_records), 0)).toBe(dropped);
  });
});
