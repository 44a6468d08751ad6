/** Event traces, rollbacks and what models record: against what the run counted, and against each other. */
import '../../support/small-machine.ts';
import { fileURLToPath } from 'node:url';
import { loadModel, type Settings, type Synchroniser } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { framesOf, type Recorded, record } from '../support/recorded.ts';

const COUNTING = fileURLToPath(new URL('../support/counting.ts', import.meta.url));

async function run(model: string, settings: Settings): Promise<Recorded> {
  const loaded = await loadModel(model);
  try {
    return await record(loaded, { end: 100, nkp: 3, batch: 8, gvtInterval: 4, ...settings });
  } finally {
    loaded.dispose();
  }
}

interface Traced {
  readonly source: number;
  readonly destination: number;
  readonly send: number;
  readonly recv: number;
  readonly data: Buffer;
}

function eventsOf(bytes: Buffer): Traced[] {
  const events: Traced[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = bytes.readUInt32LE(at + 20);
    events.push({
      source: bytes.readUInt32LE(at),
      destination: bytes.readUInt32LE(at + 4),
      send: bytes.readFloatLE(at + 8),
      recv: bytes.readFloatLE(at + 12),
      data: bytes.subarray(at + 24, at + 24 + size),
    });
    at += 24 + size;
  }
  return events;
}

const PLAIN: Settings = { options: { 'total-lps': 16, remote: 0.4 }, lookahead: 0.1 };
const key = (e: Traced) => `${e.source} ${e.destination} ${e.send} ${e.recv}`;

describe('the trace', () => {
  it.each<readonly [Synchroniser, number]>([
    ['sequential', 1],
    ['conservative', 2],
    ['optimistic', 2],
    ['rollback-check', 1],
  ])('of all events holds each that is handled: %s on %i PEs', async (synch, pes) => {
    const { result, file } = await run('phold', {
      ...PLAIN,
      synch,
      pes,
      instrument: { trace: 'all' },
    });
    const expected = synch === 'rollback-check' ? result.netEvents : result.eventsProcessed;
    expect(eventsOf(file('evtrace')).length).toBe(expected);
  });

  it('of committed events is the same in all runs', async () => {
    const instrument: Settings['instrument'] = { trace: 'committed' };
    const sequential = await run('phold', { ...PLAIN, instrument });
    const expected = eventsOf(sequential.file('evtrace')).map(key).sort();
    expect(expected.length).toBe(sequential.result.netEvents);
    for (const settings of [
      { synch: 'conservative', pes: 2 },
      { synch: 'optimistic', pes: 2 },
      { synch: 'optimistic', pes: 1 },
      { synch: 'optimistic-debug', pes: 1 },
    ] as const) {
      const traced = await run('phold', { ...PLAIN, ...settings, instrument });
      expect(eventsOf(traced.file('evtrace')).map(key).sort()).toEqual(expected);
    }
  });

  it('of rollbacks has one event for each primary rollback', async () => {
    const { result, file } = await run('phold', {
      ...PLAIN,
      pes: 2,
      end: 400,
      instrument: { trace: 'rollbacks' },
    });
    expect(eventsOf(file('evtrace')).length).toBe(result.primaryRollbacks);
  });

  it('of 2017 has 48 bytes an event, doubles, a time of its own and how long its handler took', async () => {
    const { result, file } = await run('torus', {
      end: 20,
      instrument: { trace: 'all', layout: 'ross-2017' },
    });
    const bytes = file('evtrace');
    expect(bytes.length).toBe(48 * result.netEvents);
    for (let at = 48; at < bytes.length; at += 48) {
      expect(bytes.readDoubleLE(at + 16)).toBeGreaterThanOrEqual(bytes.readDoubleLE(at - 32));
      const since = bytes.readDoubleLE(at + 32) - bytes.readDoubleLE(at - 16);
      const duration = bytes.readDoubleLE(at + 40);
      expect(duration).toBeGreaterThan(0);
      expect(duration).toBeLessThanOrEqual(since);
    }
  });

  it('of 2017 says of no event how long it took, where the clock is read once a batch', async () => {
    const { file } = await run('torus', {
      end: 20,
      instrument: { trace: 'all', layout: 'ross-2017', traceClock: 'batch' },
    });
    const bytes = file('evtrace');
    expect(bytes.length).toBeGreaterThan(0);
    for (let at = 40; at < bytes.length; at += 48) expect(bytes.readDoubleLE(at)).toBeNaN();
  });

  it('carries what the model adds, and leaves out what it does not collect', async () => {
    const { result, file } = await run(COUNTING, {
      pes: 2,
      options: { skip: 4 },
      instrument: { trace: 'committed' },
    });
    const events = eventsOf(file('evtrace'));
    expect(events.length).toBeGreaterThan(0);
    expect(events.length).toBeLessThan(result.netEvents);
    expect(events.every((e) => e.destination % 4 !== 3)).toBe(true);
    expect(events.every((e) => e.data.length === 8 && e.data[4] === 7)).toBe(true);
  });

  it('follows only LPs with an instrument where some have one', async () => {
    const { file } = await run(COUNTING, {
      pes: 2,
      options: { only: 5 },
      instrument: { trace: 'committed' },
    });
    const events = eventsOf(file('evtrace'));
    expect(new Set(events.map((e) => e.destination))).toEqual(new Set([0, 1, 2, 3, 4]));
  });
});

describe('what models sample', () => {
  it.each<readonly [Synchroniser, number]>([
    ['sequential', 1],
    ['conservative', 2],
    ['optimistic', 1],
    ['optimistic', 2],
  ])('in virtual time is exact: %s on %i PEs', async (synch, pes) => {
    const { rows, file } = await run(COUNTING, {
      synch,
      pes,
      instrument: {
        model: { gvt: false, rt: false, vt: true },
        vtInterval: 7,
        trace: 'committed',
      },
    });
    const samples = rows.get('ross_model') ?? [];
    expect(samples.length).toBe(16 * Math.floor(100 / 7));
    const events = eventsOf(file('evtrace'));
    for (const { lp_id, virtual_time, count, speculative } of samples) {
      const before = events.filter(
        (e) => e.destination === lp_id && e.recv <= Number(virtual_time),
      );
      expect([lp_id, virtual_time, count, speculative]).toEqual([
        lp_id,
        virtual_time,
        before.length,
        0,
      ]);
    }
    expect(file('analysis-lps').length).toBe(samples.length * (48 + 16));
  });

  it('at GVT is marked as speculative where it is', async () => {
    const instrument = { model: { gvt: true, rt: false, vt: false } };
    const optimistic = await run(COUNTING, { pes: 2, instrument });
    const rows = optimistic.rows.get('ross_model') ?? [];
    expect(rows.some((r) => r.speculative === 1)).toBe(true);
    expect(optimistic.rows.has('ross_pe')).toBe(false);
    const bytes = optimistic.file('model');
    const frames = framesOf(bytes);
    expect(frames.length).toBe(rows.length);
    expect(frames.every((f) => bytes.readInt32LE(f.at + 16) === 1)).toBe(true);
    expect(
      frames.every((f) => bytes.readUInt32LE(f.at + 8) === bytes.readUInt32LE(f.at + 24)),
    ).toBe(true);
    const sequential = await run(COUNTING, { instrument });
    const exact = sequential.rows.get('ross_model') ?? [];
    expect(exact.length).toBeGreaterThan(0);
    expect(exact.every((r) => r.speculative === 0)).toBe(true);
  });
});

describe('the log of rollbacks', () => {
  it('accounts for every event undone and every rollback', async () => {
    const { result, rows } = await run('phold', {
      ...PLAIN,
      pes: 2,
      end: 600,
      instrument: { rollbacks: true },
    });
    const log = rows.get('ross_rollback') ?? [];
    expect(result.totalRollbacks).toBeGreaterThan(0);
    const undone = log.reduce((n, r) => n + Number(r.events_undone), 0);
    expect(undone).toBe(result.eventsRolledBack);
    const by = (cause: string) => log.filter((r) => r.cause === cause);
    expect(by('straggler').length).toBe(result.primaryRollbacks);
    expect(by('cancellation').length).toBe(result.secondaryRollbacks);
    const known = new Set(log.map((r) => `${r.pe_id} ${r.rollback_id}`));
    for (const r of by('cancellation')) {
      expect(known.has(`${r.parent_pe} ${r.parent_id}`)).toBe(true);
    }
    expect(by('straggler').every((r) => r.parent_id === 0)).toBe(true);
    expect(log.every((r) => Number(r.depth) >= 0)).toBe(true);
  });
});
