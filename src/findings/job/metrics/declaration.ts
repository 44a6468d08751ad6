/**
 * Metrics that are one sum over another, as measures are (model/measures): from the declaration follow the value (quotient.ts), its
 * course in time, and the formula as text (formula.ts). Keys are `type.key`; `seconds` are those of the job, of all its hosts together.
 */
import type { Quotient, Weights } from '../../../model/measures/index.ts';
import { GIB, MIB } from '../../../model/units.ts';
import type { JobView } from '../view.ts';

/** A number of the processors of each type. */
export interface Constant {
  readonly name: string;
  readonly unit: string;
  /** Whose types tell which it is. */
  readonly family: string;
  readonly values: Readonly<Record<string, number>>;
  /** Whether it divides. */
  readonly under?: true;
}

export interface JobQuotient extends Omit<Quotient, 'factor'> {
  /** 1 where left out. */
  readonly factor?: number;
  readonly constant?: Constant;
  /** Only of the first of these that a host has; of all devices where left out. */
  readonly devices?: readonly string[];
}

export interface Declaration extends JobQuotient {
  readonly name: string;
  readonly unit: string;
  readonly note?: string;
  /**
   * Not of the whole job: the highest of its intervals, of a host or of the hosts' sum. Of what is divided by nothing, gauges, the highest
   * of its samples.
   */
  readonly highest?: 'host' | 'sum';
  /** What differs where the job lacks the first input. */
  readonly or?: Partial<JobQuotient>;
  /** What differs for jobs of some queues. */
  readonly inQueue?: readonly [RegExp, Partial<JobQuotient>];
  /** What a job lacks for the number to mean anything. */
  readonly lacks?: (view: JobView) => string | null;
}

/** Keys of a type as a sum. */
export const sum = (type: string, ...keys: readonly string[]): Weights =>
  Object.fromEntries(keys.map((key) => [`${type}.${key}`, 1]));

/** The amount per second and host. */
export const average = (
  name: string,
  unit: string,
  of: Weights,
  more: Partial<Declaration> = {},
): Declaration => ({ name, unit, of, per: 'seconds', ...more });

/** By unit, the divisor of a sum, and its notation in formulas; counters are in B, CPU time and loads in hundredths. */
const SCALES: Readonly<Record<string, readonly [number, string]>> = {
  MiB: [MIB, '2²⁰'],
  'MiB/s': [MIB, '2²⁰'],
  GiB: [GIB, '2³⁰'],
  'GiB/s': [GIB, '2³⁰'],
  cores: [100, '100'],
  processes: [100, '100'],
  GFLOPS: [1e9, '10⁹'],
};
export const scaleOf = (unit: string): readonly [number, string] => SCALES[unit] ?? [1, ''];

export const typeOf = (name: string): string => name.slice(0, name.indexOf('.'));
export const keyOf = (name: string) => name.slice(name.indexOf('.') + 1);

/** `type.key` without the type. */
export const withoutTypes = (weights: Weights): Weights =>
  Object.fromEntries(Object.entries(weights).map(([name, weight]) => [keyOf(name), weight]));
