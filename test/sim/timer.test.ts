/** Timers: by hand, without a heap of cancelled events, and the same however a run is made. */
import '../support/small-machine.ts';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  defineModel,
  type Model,
  type Settings,
  simulate,
  tally,
  timer,
  timers,
} from 'triscope/sim';
import { describe, expect, it } from 'vitest';

const WAYS: readonly Settings[] = [
  { synch: 'rollback-check' },
  { synch: 'optimistic-debug' },
  { synch: 'optimistic', pes: 1, nkp: 2, batch: 300 },
  { synch: 'optimistic', pes: 2, batch: 4, gvtInterval: 4 },
  { synch: 'conservative', pes: 2 },
];

/** What one LP does with its timer at times 1, 2, 3…, and when the timer's events came. */
async function played(steps: Readonly<Record<number, readonly (number | 'cancel')[]>>) {
  const seen: string[] = [];
  const model = defineModel({
    name: 'played',
    lps: () => 1,
    end: 20,
    state: { alarm: timer() },
    message: { rings: 'bool' },
    init: (lp) => void lp.send(lp.id, 1),
    forward(lp, { rings }) {
      const { alarm } = lp.state;
      if (rings) lp.output(`rings ${alarm.pending}`);
      else {
        for (const step of steps[lp.now] ?? []) {
          if (step === 'cancel') lp.cancel(alarm);
          else lp.arm(alarm, step).rings = true;
        }
        lp.output(alarm.pending ? `${alarm.time}` : '-');
        lp.send(lp.id, 1);
      }
    },
  });
  const run = await simulate(
    model,
    {},
    {
      onOutput: (lines) => seen.push(...lines.map(({ time, text }) => `${time}: ${text}`)),
    },
  );
  return { run, rings: seen.filter((line) => line.includes('rings')), seen };
}

describe('a timer by hand', () => {
  it('rings once, when it was armed for', async () => {
    const { run, rings, seen } = await played({ 2: [3.5] });
    expect(rings).toEqual(['5.5: rings false']);
    expect(seen.slice(0, 5)).toEqual(['1: -', '2: 5.5', '3: 5.5', '4: 5.5', '5: 5.5']);
    expect(run.netEvents).toBe(19 + 1);
  });

  it('is put off, or brought forward, when it is armed again', async () => {
    expect((await played({ 2: [3.5], 4: [5.25], 8: [0.5] })).rings).toEqual(['8.5: rings false']);
    expect((await played({ 2: [3.5, 0.25] })).rings).toEqual(['2.25: rings false']);
  });

  it('does not ring when it is cancelled, and can be armed again', async () => {
    const { run, rings } = await played({ 2: [3.5], 3: ['cancel', 'cancel'] });
    expect(rings).toEqual([]);
    // Neither handled nor committed, in no digest: as if it had not been sent.
    expect([run.netEvents, run.eventsProcessed]).toEqual([19, 19]);
    expect((await played({ 2: [3.5], 3: ['cancel', 2.5] })).rings).toEqual(['5.5: rings false']);
    expect((await played({ 2: [3.5, 'cancel', 3.5, 'cancel'] })).rings).toEqual([]);
  });

  it('is pending past the end, too', async () => {
    const { seen, rings } = await played({ 15: [100], 17: ['cancel'] });
    expect(rings).toEqual([]);
    expect(seen.slice(14)).toEqual(['15: 115', '16: 115', '17: -', '18: -', '19: -']);
  });
});

/** Packets that are lost now and then, and sent again when no answer came in time. */
const packets = defineModel({
  name: 'packets',
  lps: () => 8,
  end: 60,
  lookahead: 0.5,
  state: { late: timers(3), sent: 'u32', again: 'u32', answered: 'u32', trip: tally() },
  message: { kind: 'u8', slot: 'u8', at: 'f64' },
  init(lp) {
    for (let slot = 0; slot < 3; slot++) lp.send(lp.id, lp.uniform()).slot = slot;
  },
  forward(lp, { kind, slot, at }) {
    const { state } = lp;
    if (kind === 1) {
      // A packet has come: one in five is lost.
      if (lp.uniform() < 0.2) return;
      const answer = lp.send(lp.event.source, 0.5 + lp.exponential(0.5));
      answer.kind = 2;
      answer.slot = slot;
      answer.at = at;
      return;
    }
    if (kind === 2) {
      if (at !== state.late.get(slot).time - 3) return;
      lp.cancel(state.late.get(slot));
      state.answered++;
      state.trip.add(lp.now - at);
      lp.send(lp.id, lp.exponential(1)).slot = slot;
      return;
    }
    if (kind === 3) state.again++;
    else state.sent++;
    const packet = lp.send((lp.id + lp.integer(1, 7)) % 8, 0.5 + lp.exponential(0.5));
    packet.kind = 1;
    packet.slot = slot;
    packet.at = lp.now + 3 - 3;
    const late = lp.arm(state.late.get(slot), 3);
    late.kind = 3;
    late.slot = slot;
  },
  final(lp, results) {
    for (const name of ['sent', 'again', 'answered'] as const) results.add(name, lp.state[name]);
  },
});

describe('runs of a model with timers', () => {
  it('are the same with every synchroniser', async () => {
    const truth = await simulate(packets, { synch: 'sequential' });
    const { sent, again, answered } = truth.results.totals as Record<string, number>;
    expect(sent).toBeGreaterThan(200);
    expect(again).toBeGreaterThan(50);
    expect((sent ?? 0) - (answered ?? 0)).toBeLessThanOrEqual(24);
    for (const way of WAYS.slice(0, 3)) {
      const run = await simulate(packets, way);
      expect([way, run.netEvents, run.eventDigest, run.stateDigest, run.results]).toEqual([
        way,
        truth.netEvents,
        truth.eventDigest,
        truth.stateDigest,
        truth.results,
      ]);
    }
  });

  /** A timer that is put off at each step, as one that watches for silence. */
  const watching = (reverse: boolean): Model =>
    defineModel({
      name: 'watching',
      lps: () => 4,
      end: 4000,
      state: { silence: timer(), heard: 'u32' },
      message: { silent: 'bool' },
      init: (lp) => void lp.send(lp.id, 1),
      forward(lp, { silent }) {
        if (silent) throw new Error('there was no silence');
        lp.state.heard++;
        lp.arm(lp.state.silence, 3000).silent = true;
        lp.send(lp.id, lp.exponential(1));
      },
      ...(reverse && { reverse: (lp: { state: { heard: number } }) => void lp.state.heard-- }),
    });

  it.each([false, true])('keep few cancelled events (reverse: %s)', async (reverse) => {
    const model = watching(reverse);
    const truth = await simulate(model, { synch: 'sequential' });
    expect(truth.netEvents).toBeGreaterThan(14_000);
    expect(truth.peakEvents).toBeLessThan(4000);
    const run = await simulate(model, { synch: 'optimistic', batch: 16 });
    expect(run.peakEvents).toBeLessThan(5000);
    expect([run.eventDigest, run.stateDigest]).toEqual([truth.eventDigest, truth.stateDigest]);
  });
});

describe('the trace of an LP', () => {
  it('tells of what is handled, undone and committed, with changes and sends', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'triscope-trace-'));
    const to = openSync(join(folder, 'trace'), 'a');
    const plain = await simulate(packets, { synch: 'rollback-check', end: 5 });
    const run = await simulate(
      packets,
      { synch: 'rollback-check', end: 5 },
      { trace: { lps: [3], to } },
    );
    closeSync(to);
    const lines = readFileSync(join(folder, 'trace'), 'utf8').trimEnd().split('\n');
    rmSync(folder, { recursive: true });
    expect([run.eventDigest, run.stateDigest]).toEqual([plain.eventDigest, plain.stateDigest]);
    const words = lines.map((text) => text.split(' ')[3]);
    // Each event is handled, undone, handled again and committed.
    const once = ['handled', 'undone', 'handled', 'committed'];
    expect(words).toEqual(Array.from({ length: words.length / 4 }, () => once).flat());
    expect(words.length).toBeGreaterThan(20);
    expect(lines[0]).toMatch(
      /^LP 3 [\d.]+ handled from 3 sent 0 \{"kind":0.*; state: .*sent 0 → 1; sends to \d at [\d.]+, 3 at/,
    );
    await expect(simulate(packets, {}, { trace: { lps: [8], to: 2 } })).rejects.toThrow(
      '--trace-lp=8: no such LP; ids are 0…7',
    );
  });
});

describe('what is no timer', () => {
  const armed = (what: 'tally' | 'number' | 'index' | 'delay') =>
    simulate(
      defineModel({
        name: 'wrong',
        lps: () => 1,
        end: 10,
        state: { waits: tally(), some: timers(2), one: timer() },
        message: {},
        init(lp) {
          const given = { tally: lp.state.waits, number: 3, index: 0, delay: lp.state.one }[what];
          lp.arm((what === 'index' ? lp.state.some.get(2) : given) as never, Number.NaN);
        },
        forward() {},
      }),
    );

  it('is refused in one line', async () => {
    const no = /not a timer of this LP; declare one in the state/;
    await expect(armed('tally')).rejects.toThrow(no);
    await expect(armed('number')).rejects.toThrow(no);
    await expect(armed('index')).rejects.toThrow('wrong.some.get(2): timers are 0…1');
    await expect(armed('delay')).rejects.toThrow('send(0, NaN): the delay is not a number');
    expect(() => timers(0)).toThrow('timers(0): the length must be a positive integer');
  });
});
