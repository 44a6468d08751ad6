/**
 * Turns a register narrower than 64 bits into a 64-bit total, for a process that reads it often enough to see each
 * rollover. The total begins at 0. If the register may have rolled over unseen, the total begins again, as after a reset.
 */
import { type CounterRule, mayHaveRolled } from '../../model/counter.ts';
import { counterRule } from '../../model/counter-rules.ts';
import type { Metric } from '../../model/metric.ts';

const WORD = 2 ** 32;
/** Counters of 48 bits and more do not roll over between samples. */
const NARROW = 48;

export const isNarrow = ({ kind, bits = 64 }: Metric): boolean => kind === 'event' && bits < NARROW;

/** The schema of totals: the same keys, without widths. */
export const widened = (metrics: readonly Metric[]): readonly Metric[] =>
  metrics.map((metric) => {
    if (!isNarrow(metric)) return metric;
    const { bits: _, ...wide } = metric;
    return wide;
  });

let epoch = '';
const beginEpoch = () => {
  epoch = `${process.pid}-${process.hrtime.bigint()}`;
};

/** Names this process's totals. When a total begins again the name changes: such totals do not continue those before. */
export const totalsEpoch = (): string => {
  if (epoch === '') beginEpoch();
  return epoch;
};

export class WideCounter {
  /** Counted since the first reading. */
  total = 0n;
  private readonly rule: CounterRule;
  private readonly range: number;
  private last = Number.NaN;
  private since = 0;

  /** `range`: the largest value plus 1, if that is not a power of two. */
  constructor(type: string, { key, kind, unit, bits = 64 }: Metric, range = 2 ** bits) {
    this.rule = {
      ...counterRule(type, { name: key, kind, unit, bits }),
      ranges: [BigInt(range)],
      narrowest: range,
    };
    this.range = range;
  }

  /** Takes a reading: low and high word, at `seconds` of a steady clock. */
  step(words: Uint32Array, seconds: number): void {
    this.take((words[1] * WORD + words[0]) % this.range, seconds);
  }

  /** The same for a number below 2^53. */
  take(value: number, seconds: number): void {
    if (Number.isNaN(this.last)) this.total = 0n;
    else if (mayHaveRolled(0, seconds - this.since, this.rule)) {
      this.total = 0n;
      beginEpoch();
    } else {
      this.total += BigInt((value - this.last + this.range) % this.range);
    }
    this.last = value;
    this.since = seconds;
  }
}

const KEPT = new Map<string, WideCounter>();

/** This process's counter for `device`: totals continue when types are opened again, as at rotation. */
export function wideCounter(
  root: string,
  type: string,
  device: string,
  metric: Metric,
  range?: number,
): WideCounter {
  const name = [root, type, device, metric.key].join('\n');
  const counter = KEPT.get(name) ?? new WideCounter(type, metric, range);
  KEPT.set(name, counter);
  return counter;
}
