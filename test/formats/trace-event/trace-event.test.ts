/** Trace events as written: numbers, order, arrows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type EventColumns,
  EventStream,
  laneOf,
  mergeInto,
  type TraceStream,
  TraceWriter,
} from '../../../src/formats/trace-event/index.ts';
import { JsonBytes, piece } from '../../../src/formats/trace-event/json-bytes.ts';
import { ascending } from '../../../src/formats/trace-event/order.ts';
import { faults, type Trace, type TraceEvent } from './rules.ts';

const textOf = (write: (out: JsonBytes) => void): string => {
  const out = new JsonBytes();
  write(out);
  return Buffer.from(out.take()).toString();
};

/** [source, destination, send, receive, real seconds] */
type Event = readonly [number, number, number, number, number];

const columnsOf = (events: readonly Event[]): EventColumns => ({
  length: events.length,
  source: Uint32Array.from(events, ([source]) => source),
  destination: Uint32Array.from(events, ([, destination]) => destination),
  send: Float64Array.from(events, ([, , send]) => send),
  receive: Float64Array.from(events, ([, , , receive]) => receive),
  real: Float64Array.from(events, ([, , , , real]) => real),
});

/** LP n on PE n % 2, KP 0; an event takes 200 ns. */
const LANES = [laneOf(0, 0), laneOf(1, 0)];
const PLACES = { laneOf: (lp: number) => LANES[lp % 2], longest: () => 200 };

function traceOf(...streams: readonly TraceStream[]): Trace {
  const out = new TraceWriter({ exporter: 'test' });
  for (const pid of [0, 1]) {
    out.process(pid, `PE ${pid}`, pid);
    out.thread(pid, 0, 'KP 0');
  }
  const parts: Uint8Array[] = [];
  while (!mergeInto(out, streams)) parts.push(out.take().slice());
  parts.push(out.end());
  return JSON.parse(Buffer.concat(parts).toString()) as Trace;
}

const traced = (events: readonly Event[], flows = true) =>
  traceOf(new EventStream(columnsOf(events), PLACES, flows));
const of = (trace: Trace, ph: string): TraceEvent[] =>
  trace.traceEvents.filter((event) => event.ph === ph);

describe('numbers', () => {
  it('are those of JavaScript, for integers', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (n) => {
        expect(textOf((out) => out.integer(n))).toBe(String(n));
      }),
    );
    for (const n of [0, 9, 10, 99, 100, 9999, 10000, 99999999, 1e8, 2 ** 32, 2 ** 53 - 1]) {
      expect(textOf((out) => out.integer(n))).toBe(String(n));
    }
  });

  it('have nine decimals at least, where they are fractions', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        const read = Number(textOf((out) => out.decimal(x)));
        expect(Math.abs(read - x)).toBeLessThanOrEqual(5.1e-10);
      }),
    );
    expect(textOf((out) => out.decimal(0.1))).toBe('0.1');
    expect(textOf((out) => out.decimal(-2.25))).toBe('-2.25');
    expect(textOf((out) => out.decimal(0.9999999999))).toBe('1');
  });

  it('are microseconds with the nanoseconds behind the point', () => {
    expect(textOf((out) => out.micros(1_580_090_123))).toBe('1580090.123');
    expect(textOf((out) => out.micros(5))).toBe('0.005');
    expect(textOf((out) => out.micros(7000))).toBe('7');
    const twice = textOf((out) => {
      out.micros(1234);
      out.put(piece(' '));
      out.micros(1234);
    });
    expect(twice).toBe('1.234 1.234');
  });

  it('are integers of any length, and fixed texts of any length', () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(99_999), fc.maxSafeNat()), (value) => {
        expect(textOf((out) => out.integer(value))).toBe(String(value));
      }),
    );
    for (let length = 0; length < 40; length++) {
      const text = '{"ph":"X","cat":"event","name":"LP 12345"}'.slice(0, length);
      expect(textOf((out) => out.put(piece(text)))).toBe(text);
    }
  });

  it('lie in blocks that stay as they are while the next one is written', () => {
    const out = new JsonBytes();
    out.put(piece('first},\n'));
    const first = out.takeHolding();
    out.put(piece('second},\n'));
    expect(Buffer.from(first).toString()).toBe('first}');
    out.back(2);
    expect(Buffer.from(out.take()).toString()).toBe(',\nsecond}');
    expect(Buffer.from(first).toString()).toBe('first}');
  });

  it('come in order out of the sort, equal ones as they were', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.nat(5), fc.nat(2 ** 31), fc.maxSafeNat())), (values) => {
        const expected = values.map((_, k) => k).sort((a, b) => values[a] - values[b] || a - b);
        expect([...ascending(Float64Array.from(values))]).toEqual(expected);
      }),
    );
  });
});

describe('traced events', () => {
  // LP 0 on PE 0 handles an event at 1.0 and sends one to LP 1 on PE 1, which handles it 1 µs later.
  const PAIR: readonly Event[] = [
    [9, 0, 0, 1, 5e-6],
    [0, 1, 1, 1.5, 6e-6],
  ];

  it('are slices, with an arrow from the event that sent to the one that was sent', () => {
    const trace = traced(PAIR);
    expect(of(trace, 'X')).toEqual([
      {
        ...{ ph: 'X', cat: 'event', pid: 0, tid: 0, ts: 5, dur: 0.2, name: 'LP 0' },
        args: { from: 9, send: 0, recv: 1 },
      },
      {
        ...{ ph: 'X', cat: 'event', pid: 1, tid: 0, ts: 6, dur: 0.2, name: 'LP 1' },
        args: { from: 0, send: 1, recv: 1.5 },
      },
    ]);
    expect(of(trace, 's').map(({ pid, ts, id }) => [pid, ts, id])).toEqual([[0, 5, 1]]);
    expect(of(trace, 'f').map(({ pid, ts, id }) => [pid, ts, id])).toEqual([[1, 6, 1]]);
    expect(faults(trace)).toEqual([]);
  });

  it('have no arrows where none are wanted, and none that go back in time', () => {
    expect(of(traced(PAIR, false), 's')).toEqual([]);
    const late = traced([
      [9, 0, 0, 1, 7e-6],
      [0, 1, 1, 1.5, 6e-6],
    ]);
    expect([...of(late, 's'), ...of(late, 'f')]).toEqual([]);
    expect(faults(late)).toEqual([]);
  });

  it('of one clock reading lie one behind the other', () => {
    const at = (receive: number, real: number): Event => [9, 0, 0, receive, real];
    // Three at 1 µs: 200 ns each. Three at 2 µs, 300 ns before the next: 100 ns each.
    const trace = traced([
      ...[at(3, 1e-6), at(1, 1e-6), at(2, 1e-6)],
      ...[at(4, 2e-6), at(5, 2e-6), at(6, 2e-6), at(7, 2.3e-6)],
    ]);
    expect(of(trace, 'X').map(({ ts, dur, args }) => [ts, dur, args?.recv])).toEqual([
      ...[
        [1, 0.2, 1],
        [1.2, 0.2, 2],
        [1.4, 0.2, 3],
      ],
      ...[
        [2, 0.1, 4],
        [2.1, 0.1, 5],
        [2.2, 0.1, 6],
        [2.3, 0.2, 7],
      ],
    ]);
  });

  it('of one that sent more than a block of bytes holds all have their arrows', () => {
    const many = Array.from({ length: 20_000 }, (_, k): Event => [0, 1, 1, 2 + k, 1e-5 + k * 1e-6]);
    const trace = traced([[9, 0, 0, 1, 5e-6], ...many]);
    expect(of(trace, 's')).toHaveLength(20_000);
    expect(faults(trace)).toEqual([]);
  });

  it('follow the format’s rules, whatever their order and times', () => {
    const lp = fc.nat(3);
    const time = fc.nat(6);
    const event = fc.tuple(
      lp,
      lp,
      time,
      time,
      fc.nat(8).map((n) => n * 1e-6),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const trace = traced(events);
        expect(faults(trace)).toEqual([]);
        expect(of(trace, 'X')).toHaveLength(events.length);
      }),
    );
  });

  it('may be none', () => {
    expect(traced([]).traceEvents.every(({ ph }) => ph === 'M')).toBe(true);
    const empty = new TraceWriter({}).end();
    expect(JSON.parse(Buffer.from(empty).toString()).traceEvents).toEqual([]);
  });
});

describe('the writer', () => {
  it('escapes texts and leaves out what is no number', () => {
    const out = new TraceWriter({ 'a"b': '\u2028 \\ é' });
    out.process(0, 'tab\t"quoted"', 0);
    out.counter(0, 'c', 1500, { a: 1.5, b: Number.NaN, c: null, d: Infinity });
    out.counter(0, 'c', 1500, { b: Number.NaN });
    const trace = JSON.parse(Buffer.from(out.end()).toString()) as Trace;
    expect(trace.otherData).toEqual({ 'a"b': '\u2028 \\ é' });
    expect(trace.traceEvents[0].args).toEqual({ name: 'tab\t"quoted"' });
    expect(trace.traceEvents[2]).toEqual({
      ...{ ph: 'C', cat: 'counter', name: 'c', pid: 0, tid: 0, ts: 1.5 },
      args: { a: 1.5 },
    });
  });
});

describe('the rules themselves', () => {
  const named = [
    { ph: 'M', name: 'process_name', pid: 0, tid: 0, args: { name: 'p' } },
    { ph: 'M', name: 'thread_name', pid: 0, tid: 0, args: { name: 't' } },
  ];
  const lane = { pid: 0, tid: 0, name: 'x' };
  it.each<[string, object[]]>([
    [
      'sorted by ts',
      [
        { ...lane, ph: 'X', ts: 2, dur: 0 },
        { ...lane, ph: 'X', ts: 1, dur: 0 },
      ],
    ],
    [
      'slices of a thread do not overlap',
      [
        { ...lane, ph: 'X', ts: 1, dur: 5 },
        { ...lane, ph: 'X', ts: 2, dur: 1 },
      ],
    ],
    [
      'a flow that begins ends',
      [
        { ...lane, ph: 'X', ts: 1, dur: 1 },
        { ...lane, ph: 's', ts: 1, id: 1 },
      ],
    ],
    ['a flow lies in a slice of its thread', [{ ...lane, ph: 's', ts: 1, id: 1 }]],
    ['left open', [{ ...lane, ph: 'B', ts: 1 }]],
    ['closes what is open', [{ ...lane, ph: 'E', ts: 1 }]],
    ['a counter has numbers', [{ ...lane, ph: 'C', ts: 1, args: {} }]],
    ['a known ph', [{ ...lane, ph: 'Q', ts: 1 }]],
    ['its process is named before', [{ ...lane, pid: 7, ph: 'i', ts: 1, s: 't' }]],
  ])('find: %s', (what, events) => {
    const traceEvents = [...named, ...events] as TraceEvent[];
    expect(faults({ displayTimeUnit: 'ns', otherData: {}, traceEvents }).join()).toContain(what);
  });
});
