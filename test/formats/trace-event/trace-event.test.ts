/** Trace events as written: numbers, order, arrows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BYTES,
  piecesOf,
  putDecimal,
  putInteger,
  putMicros,
  putPiece,
} from '../../../src/formats/trace-event/event-bytes.ts';
import {
  blocksOf,
  blockWriter,
  type DrawnEvents,
  drawn,
  type EventColumns,
  joined,
  link,
  type TraceStream,
  TraceWriter,
} from '../../../src/formats/trace-event/index.ts';
import { ascending } from '../../../src/formats/trace-event/order.ts';
import { faults, type Trace, type TraceEvent } from './rules.ts';

const textOf = (put: (at: number) => number): string =>
  Buffer.from(BYTES.subarray(0, put(0))).toString();

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
const LANES = [
  { pid: 0, tid: 0 },
  { pid: 1, tid: 0 },
];
const PLACES = { laneOf: (lp: number) => LANES[lp % 2], longest: () => 200 };

function traceOf(events: DrawnEvents | null, streams: readonly TraceStream[] = []): Trace {
  const out = new TraceWriter({ exporter: 'test' });
  for (const pid of [0, 1]) {
    out.process(pid, `PE ${pid}`, pid);
    out.thread(pid, 0, 'KP 0');
  }
  const write = blockWriter(events);
  const parts: Buffer[] = [];
  for (const block of blocksOf(events, streams, out)) {
    write(block, (bytes) => parts.push(Buffer.from(bytes)));
  }
  parts.push(Buffer.from(out.end()));
  return JSON.parse(Buffer.concat(parts).toString()) as Trace;
}

function eventsOf(events: readonly Event[], flows = true): DrawnEvents {
  const placed = drawn(columnsOf(events), PLACES);
  if (flows) link(placed.columns, placed.order, placed.links);
  return placed;
}

const traced = (events: readonly Event[], flows = true) => traceOf(eventsOf(events, flows));
const of = (trace: Trace, ph: string): TraceEvent[] =>
  trace.traceEvents.filter((event) => event.ph === ph);

describe('numbers', () => {
  it('are those of JavaScript, for integers', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (n) => {
        expect(textOf((at) => putInteger(at, n))).toBe(String(n));
      }),
    );
    for (const n of [0, 9, 10, 99, 100, 9999, 10000, 99999999, 1e8, 2 ** 32, 2 ** 53 - 1]) {
      expect(textOf((at) => putInteger(at, n))).toBe(String(n));
    }
  });

  it('have nine decimals at least, where they are fractions', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (x) => {
        const read = Number(textOf((at) => putDecimal(at, x)));
        expect(Math.abs(read - x)).toBeLessThanOrEqual(5.1e-10);
      }),
    );
    expect(textOf((at) => putDecimal(at, 0.1))).toBe('0.1');
    expect(textOf((at) => putDecimal(at, -2.25))).toBe('-2.25');
    expect(textOf((at) => putDecimal(at, 0.9999999999))).toBe('1');
  });

  it('are microseconds with the nanoseconds behind the point', () => {
    expect(textOf((at) => putMicros(at, 1_580_090_123))).toBe('1580090.123');
    expect(textOf((at) => putMicros(at, 5))).toBe('0.005');
    expect(textOf((at) => putMicros(at, 7000))).toBe('7');
  });

  it('are integers of any length, and fixed texts of any length', () => {
    fc.assert(
      fc.property(fc.oneof(fc.nat(99_999), fc.maxSafeNat()), (value) => {
        expect(textOf((at) => putInteger(at, value))).toBe(String(value));
      }),
    );
    for (let length = 0; length < 40; length++) {
      const text = '{"ph":"X","cat":"event","name":"LP 12345"}'.slice(0, length);
      expect(textOf((at) => putPiece(at, piecesOf(['before', text]), 1))).toBe(text);
    }
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

  it('whose cause is far back, or of an LP with a large number, have their arrow', () => {
    const far = Array.from({ length: 50 }, (_, k): Event => [9, 0, 0, 1 + k, 1e-6 * k]);
    const large: Event = [9, 2 ** 32 - 2, 0, 7, 60e-6];
    const trace = traced([...far, large, [0, 1, 3, 70, 1e-4], [2 ** 32 - 2, 1, 7, 71, 2e-4]]);
    expect(of(trace, 's').map(({ ts, id }) => [ts, id])).toEqual([
      [2, 51],
      [60, 52],
    ]);
    expect(faults(trace)).toEqual([]);
  });

  it('of several recordings have arrows of their own', () => {
    const trace = traceOf(joined([eventsOf(PAIR), eventsOf(PAIR)]));
    expect(of(trace, 'X')).toHaveLength(4);
    expect(of(trace, 'f').map(({ id }) => id)).toEqual([1, 3]);
  });

  it('may be none', () => {
    expect(traced([]).traceEvents.every(({ ph }) => ph === 'M')).toBe(true);
    expect(JSON.parse(new TraceWriter({}).end()).traceEvents).toEqual([]);
  });

  it('are cut into blocks, and what happens meanwhile lies between them', () => {
    const events = eventsOf(
      Array.from({ length: 5000 }, (_, k): Event => [9, k % 2, 0, k, k * 1e-6]),
    );
    /** A counter every 700 ns. */
    const counters = {
      next: 0,
      run(out: TraceWriter, until: number) {
        const last = Math.min(until, 6e6);
        for (; this.next <= last; this.next += 700)
          out.counter(0, 'c', this.next, { a: this.next });
        if (this.next > 6e6) this.next = Infinity;
      },
    };
    const trace = traceOf(events, [counters]);
    expect(faults(trace)).toEqual([]);
    expect(of(trace, 'X')).toHaveLength(5000);
    expect(of(trace, 'C').map(({ args }) => args?.a)).toEqual(
      Array.from({ length: 8572 }, (_, k) => k * 700),
    );
  });
});

describe('the writer', () => {
  it('escapes texts and leaves out what is no number', () => {
    const out = new TraceWriter({ 'a"b': '\u2028 \\ é' });
    out.process(0, 'tab\t"quoted"', 0);
    out.counter(0, 'c', 1500, { a: 1.5, b: Number.NaN, c: null, d: Infinity });
    out.counter(0, 'c', 1500, { b: Number.NaN });
    const trace = JSON.parse(out.end()) as Trace;
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
