/**
 * A model that does a bit of everything, at random: all kinds of state fields, all distributions, zero
 * offsets, ties, priorities, several sends an event, output. Whatever an LP does depends on all that it
 * has done before, so an event lost, doubled or out of order shows in every digest.
 */
import {
  array,
  type CustomMapping,
  defineModel,
  float,
  histogram,
  int,
  type Lp,
  type LpType,
  type LpView,
  type Model,
  quantiles,
  type ReadonlyStructOf,
  type Results,
  ring,
  type StructOf,
  tally,
  timeAverage,
  timer,
  timers,
} from 'triscope/sim';

export const OPTIONS = {
  lps: int(12, 'LPs of the whole run', { min: 1 }),
  start: int(2, 'events per LP at the start', { min: 0 }),
  mean: float(1, 'mean offset beyond the lookahead'),
  grid: float(0, 'offsets are multiples of this (a power of two); 0: any'),
  extra: float(0.3, 'probability that an event sends more than one'),
  fan: int(3, 'most of these', { min: 1, max: 20 }),
  depth: int(3, 'generations of them', { min: 0, max: 200 }),
  zero: float(0.5, 'probability that one of them has no offset'),
  remote: float(0.5, 'probability that an event goes to another LP'),
  urgent: float(0.2, 'probability of an unusual priority'),
  print: float(0, 'probability that an event prints a line'),
  stop: float(0, 'probability that an event stops the run'),
  timer: float(0, 'probability that an event arms or cancels a timer'),
  mix: int(2, 'LP types: 0 automatic undo, 1 hand-written reverse, 2 both'),
};

export interface Params {
  readonly mean: number;
  readonly grid: number;
  readonly extra: number;
  readonly fan: number;
  readonly depth: number;
  readonly zero: number;
  readonly remote: number;
  readonly urgent: number;
  readonly print: number;
  readonly stop: number;
  readonly timer: number;
  readonly mix: number;
  readonly start: number;
}

const SCALARS = {
  hash: 'u32',
  count: 'u16',
  small: 'i8',
  byte: 'u8',
  short: 'i16',
  odd: 'bool',
  int: 'i32',
  sum: 'f32',
  big: 'i64',
  bits: 'u64',
  load: 'f64',
} as const;

const STATE = {
  ...SCALARS,
  bytes: array('u8', 5),
  loads: array('f64', 3),
  words: array('i64', 2),
  // The engine undoes these, with `reverse`, too.
  offsets: tally({ slices: 64 }),
  level: timeAverage({ slices: 64 }),
  spread: histogram({ from: 0, to: 3, bins: 6 }),
  sizes: quantiles({ from: 0.01, to: 10, error: 0.1 }),
  alarm: timer(),
  alarms: timers(3),
} as const;

/** Rings have no inverse operations, so only the type with automatic undo has them. */
const RINGS = { recent: ring('u16', 3), waits: ring('f64', 4), flags: ring('bool', 5) } as const;

const MESSAGE = {
  /** Generations still to come; 0 for the main line, which goes on until the end; TIMED for a timer's. */
  ttl: 'u8',
  value: 'u32',
  load: 'f64',
  tag: array('u8', 3),
  path: ring('u16', 2),
  // What hand-written reverse needs: the state before.
  was: array('f64', 9),
  wasBig: 'i64',
  wasBits: 'u64',
  wasByte: 'u8',
  wasWord: 'i64',
  wasLoad: 'f64',
} as const;

const TIMED = 255;

type State = typeof STATE;
type Message = StructOf<typeof MESSAGE>;
type AnyLp = Lp<State, typeof MESSAGE, Params>;

const F64 = new Float64Array(1);
const U32 = new Uint32Array(F64.buffer);

function mix(hash: number, x: number): number {
  let a = Math.imul(hash ^ x, 0x9e3779b1);
  a = Math.imul(a ^ (a >>> 15), 0x85ebca6b);
  return (a ^ (a >>> 13)) >>> 0;
}

function mixDouble(hash: number, x: number): number {
  F64[0] = x;
  return mix(mix(hash, U32[0] as number), U32[1] as number);
}

/** One number from the distribution that `which` names; finite. */
function variate(lp: AnyLp, which: number): number {
  switch (which % 14) {
    case 0:
      return lp.uniform();
    case 1:
      return lp.integer(-5, 5);
    case 2:
      return Number(lp.ulong(3n, 2n ** 40n));
    case 3:
      return lp.exponential(2);
    case 4:
      return lp.binomial(6, 0.3);
    case 5:
      return lp.geometric(0.4);
    case 6:
      return lp.poisson(2.5);
    case 7:
      return lp.gamma(1.5, 2);
    case 8:
      return lp.gamma(0.5, 1);
    case 9:
      return lp.pareto(1, 3);
    case 10:
      return lp.weibull(1, 2);
    case 11:
      return lp.normal01();
    case 12:
      return lp.normalSd(1, 2);
    default:
      return lp.lognormal(0, 0.5);
  }
}

/** The offset of an event to LP `dest`: at least the lookahead unless it goes to the LP itself. */
function offset(lp: AnyLp, dest: number, mayBeZero: boolean): number {
  const { grid, mean, zero } = lp.params;
  const least = dest === lp.id ? 0 : lp.lookahead;
  if (mayBeZero && lp.uniform() < zero) return least;
  const drawn = lp.exponential(mean) + lp.lookahead;
  if (grid === 0) return drawn;
  const steps = Math.round(drawn / grid) * grid;
  // The main line always gets on.
  return Math.max(least, mayBeZero ? steps : Math.max(steps, grid));
}

function send(lp: AnyLp, hash: number, ttl: number): void {
  const { remote, urgent } = lp.params;
  const dest = lp.uniform() < remote ? lp.integer(0, lp.lps - 1) : lp.id;
  const delay = offset(lp, dest, ttl > 0);
  const priority = lp.uniform() < urgent ? lp.integer(0, 4) / 2 : 1;
  const m = lp.send(dest, delay, priority);
  m.ttl = ttl;
  m.value = hash;
  m.load = delay;
  m.tag.set(hash % 3, ttl);
  m.path.push(lp.id % 65536);
}

/** Arms a timer or cancels it, or both, as the hash says. */
function setTimers(lp: AnyLp, hash: number): void {
  const { alarm, alarms } = lp.state;
  const one = hash & 256 ? alarm : alarms.get(hash % 3);
  if (hash & 512) lp.cancel(one);
  if (hash & 1024 && hash & 2048) return;
  const delay = offset(lp, lp.id, (hash & 4096) !== 0);
  const m = lp.arm(one, delay, hash & 8192 ? 1 : lp.integer(0, 4) / 2);
  m.ttl = TIMED;
  m.value = hash;
  m.load = delay;
  if (hash & 16384) lp.cancel(one);
}

/** What every LP does with an event; returns its new hash. */
function handle(lp: AnyLp, m: Readonly<Message>): number {
  const s = lp.state;
  const p = lp.params;
  let hash = mix(s.hash, lp.event.source);
  hash = mix(hash, m.value + m.ttl);
  hash = mixDouble(mixDouble(hash, lp.now), lp.event.sendTime + m.load);
  hash = mix(hash, m.tag.get(m.value % 3) + m.path.length);
  hash = mixDouble(hash, lp.event.priority);
  hash = mixDouble(hash, variate(lp, hash >>> 8));
  if (p.timer > 0) {
    const { alarm, alarms } = lp.state;
    hash = mix(hash, (alarm.pending ? 2 : 1) + (alarms.get(1).time > lp.now + 1 ? 4 : 0));
    if (lp.uniform() < p.timer) setTimers(lp, mix(hash, 77));
  }
  if (p.stop > 0 && lp.uniform() < p.stop) lp.stop(hash & 1 ? lp.lookahead : lp.lookahead + 0.3);
  if (lp.uniform() < p.print) lp.output(`${lp.id} ${lp.now} ${hash}`);
  if (m.ttl === 0) send(lp, hash, 0);
  if (m.ttl === TIMED) return mix(hash, TIMED);
  const generations = m.ttl === 0 ? p.depth : m.ttl - 1;
  if (generations > 0 && lp.uniform() < p.extra) {
    for (let n = lp.integer(1, p.fan); n > 0; n--) send(lp, mix(hash, n), generations);
  }
  return hash;
}

/** Writes to some of the state, as the hash says. */
function change(lp: AnyLp, m: Readonly<Message>, hash: number): void {
  const s = lp.state;
  s.hash = hash;
  s.count = (s.count + 1) % 65536;
  if (hash & 1) s.small = (hash >> 3) % 128;
  if (hash & 2) s.byte = hash % 256;
  if (hash & 4) s.short = (hash >> 4) % 32768;
  if (hash & 8) s.odd = !s.odd;
  if (hash & 16) s.int = hash | 0;
  if (hash & 32) s.sum = (s.sum + m.load) / 2;
  if (hash & 64) s.big = s.big * 3n - BigInt(hash) > 1n << 62n ? 0n : BigInt(hash) - s.big / 2n;
  if (hash & 128) s.bits = BigInt(hash) << 20n;
  if (hash & 256) s.load = s.load / 2 + lp.now;
  if (hash & 512) s.bytes.set(hash % 5, hash % 256);
  if (hash & 1024) s.loads.set(hash % 3, lp.now);
  if (hash & 4) s.offsets.add(m.load);
  if (hash & 8) s.level.set(hash % 7);
  else if (hash & 16) s.level.add(0.25);
  if (hash & 32) s.spread.add(m.load);
  if (hash & 64) s.sizes.add(m.load);
  if (hash & 2048) s.words.set(hash % 2, BigInt(hash) - 2n ** 31n);
}

/** Order of commits per LP, in this thread. */
const commits = new Map<number, number>();

const common = {
  init(lp: AnyLp): void {
    commits.set(lp.id, 0);
    lp.state.hash = lp.id;
    lp.state.load = lp.normal01();
    for (let k = 0; k < lp.params.start; k++) send(lp, mix(lp.id, k), 0);
  },
  commit(lp: LpView<State, Params>, m: ReadonlyStructOf<typeof MESSAGE>): void {
    const { source, sendTime, priority } = lp.event;
    let hash = mix(commits.get(lp.id) ?? 0, source);
    hash = mixDouble(mixDouble(hash, lp.now), sendTime);
    commits.set(lp.id, mix(mixDouble(hash, priority), m.value));
  },
  final(lp: LpView<State, Params>, results: Results): void {
    const { hash, count } = lp.state;
    results.add('events', count);
    results.max('most', count);
    results.count('by parity', hash % 2);
    results.row('LPs', { hash, count, commits: commits.get(lp.id) ?? 0, now: lp.now });
  },
};

const automatic: LpType<State & typeof RINGS, typeof MESSAGE, Params> = {
  ...common,
  state: { ...STATE, ...RINGS },
  init(lp) {
    common.init(lp as unknown as AnyLp);
    lp.state.recent.push(lp.id % 65536);
  },
  forward(lp, m) {
    const hash = handle(lp as unknown as AnyLp, m);
    change(lp as unknown as AnyLp, m, hash);
    const { recent, waits, flags } = lp.state;
    if (hash & 4096) {
      if (recent.length === recent.capacity) recent.shift();
      recent.push(hash % 65536);
    }
    if (hash & 8192 && waits.length > 0) waits.shift();
    if (hash & 16384 && waits.length < waits.capacity) waits.push(lp.now);
    if (hash & 32768) flags.clear();
    else if (flags.length < flags.capacity) flags.push((hash & 65536) !== 0);
  },
  commit: (lp, m) => common.commit(lp as unknown as LpView<State, Params>, m),
  final: (lp, results) => common.final(lp as unknown as LpView<State, Params>, results),
};

const SAVED = ['hash', 'count', 'small', 'byte', 'short', 'int', 'sum', 'load'] as const;

const byHand: LpType<State, typeof MESSAGE, Params> = {
  ...common,
  state: STATE,
  forward(lp, m) {
    const hash = handle(lp, m);
    const s = lp.state;
    for (let k = 0; k < SAVED.length; k++) {
      m.was.set(k, s[SAVED[k] as (typeof SAVED)[number]]);
    }
    m.was.set(8, s.odd ? 1 : 0);
    m.wasBig = s.big;
    m.wasBits = s.bits;
    m.wasByte = s.bytes.get(hash % 5);
    m.wasLoad = s.loads.get(hash % 3);
    m.wasWord = s.words.get(hash % 2);
    lp.event.bits = (hash % 5) + 8 * (hash % 3) + 32 * (hash % 2);
    change(lp, m, hash);
  },
  reverse(lp, m) {
    const s = lp.state;
    const { bits } = lp.event;
    for (let k = 0; k < SAVED.length; k++) {
      s[SAVED[k] as (typeof SAVED)[number]] = m.was.get(k);
    }
    s.odd = m.was.get(8) === 1;
    s.big = m.wasBig;
    s.bits = m.wasBits;
    s.bytes.set(bits & 7, m.wasByte);
    s.loads.set((bits >> 3) & 3, m.wasLoad);
    s.words.set(bits >> 5, m.wasWord);
    m.was.fill(0);
    m.wasBig = 0n;
    m.wasBits = 0n;
    m.wasByte = 0;
    m.wasLoad = 0;
    m.wasWord = 0n;
  },
};

const declared = {
  options: OPTIONS,
  message: MESSAGE,
  lps: (o: { readonly lps: number }) => o.lps,
  prepare: (o: Params): Params => o,
  end: 20,
} as const;

/** With one type of LP. */
export function singleType(name: string, how: 'automatic' | 'by hand'): Model {
  return how === 'automatic'
    ? defineModel({ ...declared, ...automatic, name })
    : defineModel({ ...declared, ...byHand, name });
}

/** With both types, and LPs placed as `map` says. */
export function mixedTypes(
  name: string,
  map: 'linear' | 'round-robin' | CustomMapping = 'linear',
): Model {
  return defineModel({
    ...declared,
    name,
    map,
    types: { automatic, byHand },
    typeOf: (lp, p) => (p.mix === 0 || (p.mix === 2 && lp % 3 === 0) ? 'automatic' : 'byHand'),
  });
}
