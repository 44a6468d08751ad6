/**
 * Quantities that are computed from metrics, each declared once. A measure is one sum of metrics over another, so that it
 * means the same at every level: over times and entities the sums are added, and ratios are never averaged.
 *
 *     measure = factor × Σ of / Σ per          per: metrics, or the seconds in which they were counted; absent for a total
 *
 * All outputs (SQL, page, findings, reports) compute the sums; only this file turns them into a value.
 */

/** Metrics of one table by key, each with its weight: `{ events_processed: 1, events_rolled_back: -1 }`. */
export type Weights = Readonly<Record<string, number>>;

/** One sum over another. */
export interface Quotient {
  readonly of: Weights;
  /** Null: a total, which is divided by nothing. */
  readonly per: Weights | 'seconds' | null;
  /** 100 for percentages. */
  readonly factor: number;
  /** Optional inputs, which not every source records: a sum leaves out missing ones, unless all are missing. */
  readonly optional?: readonly string[];
}

export interface Measure extends Quotient {
  /** Snake case. */
  readonly key: string;
  /** The name shown to users. */
  readonly label: string;
  /** Of the value: `%`, `{event}/s`. */
  readonly unit: string;
  /** Which way is good; null where neither is. */
  readonly good: 'more' | 'less' | null;
  /** The sums are estimates from samples; see the metrics. */
  readonly estimate?: true;
  /** One sentence. */
  readonly help: string;
}

/** The sum of a metric; null where it was not measured. */
export type SumOf = (key: string) => number | null;

/** The metrics of a quotient. */
export function inputsOf({ of, per }: Quotient): readonly string[] {
  const below = per === null || per === 'seconds' ? [] : Object.keys(per);
  return [...new Set([...Object.keys(of), ...below])];
}

function weighed(weights: Weights, sumOf: SumOf, optional: readonly string[]): number | null {
  let all: number | null = null;
  for (const key of Object.keys(weights)) {
    const sum = sumOf(key);
    if (sum !== null && !Number.isNaN(sum)) all = (all ?? 0) + weights[key] * sum;
    else if (!optional.includes(key)) return null;
  }
  return all;
}

/** A sum as text: `a + 2 b − [c]`, optional inputs in brackets; terms of weight 0 are left out. */
export const sumText = (weights: Weights, optional: readonly string[] = []): string =>
  Object.entries(weights)
    .filter(([, weight]) => weight !== 0)
    .map(([key, weight], k) => {
      const sign = weight < 0 ? ' − ' : k === 0 ? '' : ' + ';
      const size = Math.abs(weight) === 1 ? '' : `${Math.abs(weight)} `;
      return `${sign}${size}${optional.includes(key) ? `[${key}]` : key}`;
    })
    .join('');

/**
 * The quotient's value, in its unit; null if an input was not measured, or the divisor is not positive.
 * @param seconds in which the metrics were counted, of all entities together; null where that is not known
 */
export function evaluate(
  { of, per, factor, optional = [] }: Quotient,
  sumOf: SumOf,
  seconds: number | null,
): number | null {
  const above = weighed(of, sumOf, optional);
  if (per === null) return above === null ? null : factor * above;
  const below = per === 'seconds' ? seconds : weighed(per, sumOf, optional);
  return above === null || below === null || !(below > 0) ? null : (factor * above) / below;
}

/** The SQL of an input: by default over the rows of a group. */
interface SqlInputs {
  /** SQL of a metric, by its key. */
  readonly metric?: (key: string) => string;
  /** SQL of the seconds in which the metrics were counted. */
  readonly seconds?: string;
  /** Whether there is a column for a metric; by default all exist. */
  readonly has?: (key: string) => boolean;
}

/** The quotient in SQL: a sum over nothing but NULL is NULL, and so is a quotient with NULL. */
export function sqlOf(
  { of, per, factor, optional = [] }: Measure,
  {
    metric = (key) => `sum("${key}")::DOUBLE`,
    seconds = 'sum(seconds)',
    has = () => true,
  }: SqlInputs = {},
): string {
  const sum = (weights: Weights) => {
    const keys = Object.keys(weights).filter((key) => !optional.includes(key) || has(key));
    if (keys.length === 0 || !keys.every(has)) return 'NULL';
    const one = (key: string) => {
      const value =
        keys.length > 1 && optional.includes(key) ? `coalesce(${metric(key)}, 0)` : metric(key);
      return weights[key] === 1 ? value : `${weights[key]} * ${value}`;
    };
    return keys.map(one).join(' + ');
  };
  if (per === null) return factor === 1 ? `(${sum(of)})` : `(${factor} * (${sum(of)}))`;
  const below = per === 'seconds' ? seconds : sum(per);
  return `(${factor} * (${sum(of)}) / CASE WHEN ${below} > 0 THEN ${below} END)`;
}

/** Arguments of a measure's macro, in order: the required inputs, then the optional ones, which may be left out. */
export function argumentsOf(
  measure: Measure,
): { readonly key: string; readonly isOptional: boolean }[] {
  const { per, optional = [] } = measure;
  const keys = [...inputsOf(measure), ...(per === 'seconds' ? ['seconds'] : [])];
  return keys
    .map((key) => ({ key, isOptional: optional.includes(key) }))
    .sort((a, b) => Number(a.isOptional) - Number(b.isOptional));
}

/** The measure as a macro of SQL over a group of rows. @param schema quoted, if it has to be */
export function macroOf(schema: string, measure: Measure): string {
  const parameters = argumentsOf(measure).map(({ key, isOptional }) =>
    isOptional ? `"${key}" := NULL` : `"${key}"`,
  );
  const formula = sqlOf(measure, { seconds: 'sum("seconds")' });
  return `CREATE MACRO ${schema}."${measure.key}"(${parameters.join(', ')}) AS ${formula}`;
}

/**
 * The mean of a column over rows that each cover `seconds`, as SQL over a group: weighted by the time in which it was measured, NULL
 * if it never was.
 */
export const meanOver = (column: string): string =>
  `(sum(${column} * seconds) / sum(CASE WHEN ${column} IS NOT NULL THEN seconds END))`;
