/**
 * Why B took longer, or less long, than A: the difference of their times as a sum of differences by what a lane (PE, process)
 * spent it on, those that caused it first, each with the moment at which it began. docs/diff.md explains it.
 */
import { duration } from '../../../model/measures/index.ts';
import { median, sum } from '../../../model/numbers.ts';
import { estimateOf, gapOf } from '../noise.ts';
import { type LaneTimes, meanLane, type TimePart, type Times, valueAt } from './lanes.ts';

/** Seconds that one side spent more than the other on one thing. */
export interface TimeCause {
  /** Such as “event handlers”, or a region. */
  readonly what: string;
  /** Seconds in A and in B. */
  readonly a: number;
  readonly b: number;
  /** B − A, seconds. */
  readonly difference: number;
  /** Seconds of B's timeline from which on it grew; null where it is too small to tell. */
  readonly from: number | null;
}

/** How one lane's time differs. */
export interface LaneDifference {
  readonly lane: string;
  /** B − A in all, seconds. */
  readonly difference: number;
  /** By `Explanation.parts`. */
  readonly parts: readonly number[];
}

/** Why two runs took differently long. */
export interface Explanation {
  /** The main result in one sentence. */
  readonly sentence: string;
  /** Seconds that A and B took; of several runs of a side, that with the median time. */
  readonly a: number;
  readonly b: number;
  /** B − A. The differences of `causes` add up to it. */
  readonly difference: number;
  /** Second of B's timeline at which the time that is told begins. */
  readonly begin: number;
  /** Half the width of its 95 % interval by repeated runs; null where a side has only one. */
  readonly bound: number | null;
  /** The lane whose time is told; null: the mean of all lanes. */
  readonly lane: string | null;
  /** Those that caused the difference first; those that reduced it last. */
  readonly causes: readonly TimeCause[];
  /** What time is spent on. */
  readonly parts: readonly string[];
  /** All lanes that both have, those that differ most from the others first. */
  readonly lanes: readonly LaneDifference[];
}

/** Lanes that are told, at most. */
const MOST_LANES = 64;
/** A lane is named where it does so much of the difference more than the others. */
const LEADS = 0.25;
/** Waits have no lane of their own more easily: all wait for the one that is late. */
const WAITS_LEAD = 0.5;
/** Parts of at least this share of the difference are told with their begin, and in the sentence from the second on. */
const TOLD = 0.1;
/** A difference that begins within this share of B has been there from the start. */
const START = 0.05;
/** Runs whose times differ by less than this share took equally long. */
const EQUAL = 0.005;

const last = (values: readonly number[]): number => values.at(-1) as number;

/** Of several runs the one with the median time; of an even number the shorter of the two in the middle. */
function typical(runs: readonly Times[]): Times {
  const sorted = [...runs].sort((x, y) => x.wall - y.wall);
  return sorted[(sorted.length - 1) >> 1];
}

/** The lane with its sums in the order of `parts`; 0 for those that it never met. */
function inOrder(lane: LaneTimes, own: readonly TimePart[], parts: readonly TimePart[]): LaneTimes {
  const none = lane.course.times.map(() => 0);
  const spent = parts.map((part) => {
    const at = own.findIndex(({ key }) => key === part.key);
    return at < 0 ? none : lane.course.spent[at];
  });
  // Without progress, moments are matched by the seconds since the lane's begin.
  const { times, progress } = lane.course;
  const begin = last(times) - lane.seconds;
  const along = last(progress) > 0 ? progress : times.map((time) => time - begin);
  return { ...lane, course: { times, progress: along, spent } };
}

/** A pair of lanes, and how they differ by part. */
interface Pair {
  readonly a: LaneTimes;
  readonly b: LaneTimes;
  readonly parts: readonly number[];
}

/** Share of a lane's time below which a difference is due to rounding. */
const ROUNDING = 1e-12;

function pairOf(a: LaneTimes, b: LaneTimes): Pair {
  const least = ROUNDING * Math.max(a.seconds, b.seconds);
  const parts = b.course.spent.map((spent, k) => {
    const difference = last(spent) - last(a.course.spent[k]);
    return Math.abs(difference) <= least ? 0 : difference;
  });
  return { a, b, parts };
}

/** Lanes of one name; where the numbers of lanes differ, only their means. */
function pairsOf(a: readonly LaneTimes[], b: readonly LaneTimes[]): Pair[] {
  if (a.length !== b.length) return [];
  const inB = new Map(b.map((lane) => [lane.name, lane]));
  const pairs = a.flatMap((lane) => {
    const other = inB.get(lane.name);
    return other === undefined ? [] : [pairOf(lane, other)];
  });
  return pairs.length === a.length ? pairs : [];
}

/** Place of the lane that alone has so much more than any other; −1: none has. */
function outstanding(values: readonly number[], least: number): number {
  const [most, second] = [...values].sort((x, y) => y - x);
  return most >= least && most - second >= least ? values.indexOf(most) : -1;
}

/** The lane that the others had to wait for: it worked longer, or else waited longer. −1: all alike. */
function leading(pairs: readonly Pair[], parts: readonly TimePart[], difference: number): number {
  const [sign, size] = [Math.sign(difference), Math.abs(difference)];
  const work = pairs.map((pair) =>
    sum(pair.parts.map((value, k) => (parts[k].isWait ? 0 : sign * value))),
  );
  const busy = outstanding(work, LEADS * size);
  if (busy >= 0) return busy;
  for (const [k, { isWait }] of parts.entries()) {
    if (!isWait) continue;
    const found = outstanding(
      pairs.map((pair) => sign * pair.parts[k]),
      WAITS_LEAD * size,
    );
    if (found >= 0) return found;
  }
  return -1;
}

/** Moments at which two courses are compared. */
const MOMENTS = 400;

/**
 * Seconds of B's timeline from which on a part's difference grew: where a line through 10 % and 50 % of it begins. Before
 * it, A and B spent the same on the same work.
 */
function beginOf(
  { course: a }: LaneTimes,
  { course: b, seconds }: LaneTimes,
  part: number,
): number {
  const [inA, inB] = [a.spent[part], b.spent[part]];
  const end = Math.max(last(a.progress), last(b.progress));
  const all = last(inB) - last(inA);
  const reached = (share: number): number => {
    for (let k = MOMENTS; k > 0; k--) {
      const x = (end * (k - 1)) / MOMENTS;
      const now = valueAt(b.progress, inB, x) - valueAt(a.progress, inA, x);
      // The last moment at which there was less.
      if (now / all < share) return x;
    }
    return 0;
  };
  const [tenth, half] = [reached(0.1), reached(0.5)];
  const x = Math.max(0, tenth - (half - tenth) / 4);
  const found = valueAt(b.progress, b.times, x, last(b.times) - seconds);
  // As exact as the moments that are kept.
  const step = 10 ** Math.floor(Math.log10(seconds / 50));
  return Number((Math.round(found / step) * step).toPrecision(6));
}

/** Causes of a pair, with what is left of the difference: lanes need not begin and end with their run. */
function causesOf(
  { a, b, parts }: Pair,
  named: readonly TimePart[],
  difference: number,
): TimeCause[] {
  const isTold = (value: number) => Math.abs(value) >= TOLD * Math.abs(difference);
  const causes = parts.map((value, k): TimeCause => {
    const from = value !== 0 && isTold(value) ? beginOf(a, b, k) : null;
    const seconds = { a: last(a.course.spent[k]), b: last(b.course.spent[k]) };
    return { what: named[k].label, ...seconds, difference: value, from };
  });
  const sign = Math.sign(difference) || 1;
  const order = causes.map((_, k) => k);
  order.sort((x, y) => sign * (causes[y].difference - causes[x].difference));
  return order.map((k) => causes[k]).filter((one) => one.a !== 0 || one.b !== 0);
}

/** “1.1 s of it in event handlers of PE 3, from 2.1 s on”. */
function causeText(cause: TimeCause, lane: string | null, begin: number, b: number): string {
  const where = lane === null ? '' : ` of ${lane}`;
  const since =
    cause.from === null
      ? ''
      : cause.from - begin < START * b
        ? ', from the start'
        : `, from ${duration(cause.from)} on`;
  return `in ${cause.what}${where}${since}`;
}

function sentenceOf(one: Omit<Explanation, 'sentence'>, kind: Times['kind']): string {
  const { a, b, difference, begin, bound, lane, causes } = one;
  const size = Math.abs(difference);
  const took = `${duration(b)} instead of ${duration(a)}`;
  if (size <= EQUAL * a) return `B and A took equally long: ${took}.`;
  const way = difference > 0 ? 'slower' : 'faster';
  const noise =
    bound !== null && size < bound
      ? ` Repeated runs differ as much by chance (± ${duration(bound)}).`
      : '';
  const along = causes.filter((cause) => cause.difference * difference > 0);
  const [first, second] = along;
  if (first === undefined) return `B is ${duration(size)} ${way} than A (${took}).${noise}`;
  const amount = (cause: TimeCause) => duration(Math.abs(cause.difference));
  const [more, less] = difference > 0 ? ['more', 'less'] : ['less', 'more'];
  // What others made up for again is no part of the difference.
  const share = Math.abs(first.difference) <= (1 + EQUAL) * size ? 'of it' : more;
  const texts = [`${amount(first)} ${share} ${causeText(first, lane, begin, b)}`];
  if (second !== undefined && Math.abs(second.difference) >= TOLD * size) {
    texts.push(`${amount(second)} ${causeText(second, null, begin, b)}`);
  }
  const [against] = [...causes].sort((x, y) => (x.difference - y.difference) * difference);
  if (-against.difference * Math.sign(difference) >= TOLD * size) {
    texts.push(`${amount(against)} ${less} in ${against.what}`);
  }
  const each = lane === null ? ` (the mean of all ${kind === 'PE' ? 'PEs' : 'processes'})` : '';
  return `B is ${duration(size)} ${way} than A (${took}): ${texts.join('; ')}${each}.${noise}`;
}

/**
 * Explains the difference of two sides' times by the runs of each with the median time. Null where they did not measure
 * the same kind of lanes.
 */
export function explain(sideA: readonly Times[], sideB: readonly Times[]): Explanation | null {
  if (sideA.length === 0 || sideB.length === 0) return null;
  const [a, b] = [typical(sideA), typical(sideB)];
  if (a.kind !== b.kind || a.lanes.length === 0 || b.lanes.length === 0) return null;
  const keys = new Set(a.parts.map(({ key }) => key));
  const parts = [...a.parts, ...b.parts.filter(({ key }) => !keys.has(key))];
  const [lanesA, lanesB] = [a, b].map((run) =>
    run.lanes.map((lane) => inOrder(lane, run.parts, parts)),
  );
  const pairs = pairsOf(lanesA, lanesB);
  const difference = b.wall - a.wall;
  const lead = leading(pairs, parts, difference);
  const told =
    lead >= 0
      ? pairs[lead]
      : pairs.length === 1
        ? pairs[0]
        : pairOf(meanLane('', lanesA, parts.length), meanLane('', lanesB, parts.length));
  const causes = causesOf(told, parts, difference);
  const [outA, outB] = [a.wall - told.a.seconds, b.wall - told.b.seconds];
  const isWhole = Math.max(outA, outB) <= 1e-6 * Math.max(a.wall, b.wall);
  if (!isWhole) {
    const what = 'time before its first sample or after its last';
    causes.push({ what, a: outA, b: outB, difference: outB - outA, from: null });
  }
  const { bound } = gapOf(wallOf(sideA), wallOf(sideB));
  const found = {
    ...{ a: a.wall, b: b.wall, difference, bound },
    begin: last(told.b.course.times) - told.b.seconds,
    lane: lead >= 0 || pairs.length === 1 ? told.a.name : null,
    causes,
    parts: parts.map(({ label }) => label),
    lanes: lanesOf(pairs),
  };
  return { sentence: sentenceOf(found, a.kind), ...found };
}

const wallOf = (runs: readonly Times[]) =>
  estimateOf(runs.map(({ wall }) => ({ value: wall, error: null })));

/** Those that differ most from the lanes' median in one part first. */
function lanesOf(pairs: readonly Pair[]): LaneDifference[] {
  const usual = (pairs[0]?.parts ?? []).map((_, k) => median(pairs.map(({ parts }) => parts[k])));
  const off = ({ parts }: Pair) => Math.max(...parts.map((value, k) => Math.abs(value - usual[k])));
  return [...pairs]
    .sort((x, y) => off(y) - off(x))
    .slice(0, MOST_LANES)
    .map(({ a, b, parts }) => ({ lane: a.name, difference: b.seconds - a.seconds, parts }));
}
