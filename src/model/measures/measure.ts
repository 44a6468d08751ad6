/**
 * Quantities that are worked out from metrics, each declared once. A measure is one sum of metrics over another, so it is
 * the same whatever it is taken of: over times and entities the sums are added up, ratios never averaged.
 *
 *     measure = factor × Σ of / Σ per          per: metrics, or the seconds in which they were counted; nothing of a total
 *
 * Outlets (SQL, page, findings, reports) take the sums; only here they become a value.
 */

/** Metrics of one table by key, each with its weight: `{ events_processed: 1, events_rolled_back: -1 }`. */
export type Weights = Readonly<Record<string, number>>;

/** One sum over another. */
export interface Quotient {
  readonly of: Weights;
  /** Null: a total, which is divided by nothing. */
  readonly per: Weights | 'seconds' | null;
  /** 100 for per cent. */
  readonly factor: number;
  /** Inputs that not everybody records: a sum goes without those that are not there, but not without all. */
  readonly optional?: readonly string[];
}

export interface Measure extends Quotient {
  /** Snake case. */
  readonly key: string;
  /** As people read it. */
  readonly label: string;
  /** Of the value: `%`, `{event}/s`. */
  readonly unit: string;
  /** Which way is good; null where neither is. */
  readonly good: 'more' | 'less' | null;
  /** What the sums are estimates of is sampled; see the metrics. */
  readonly estimate?: true;
  /** One sentence. */
  readonly help: string;
}

/** The sum of a metric; null where it was not measured. */
export type SumOf = (key: string) => number | null;

/** The metrics that a quotient is made of. */
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

/** A sum as text: `a + 2 b − [c]`, in brackets what is optional; terms of weight 0 are left out. */
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
 * The quotient's value, in its unit; null where an input was not measured, or what it is divided by is not positive.
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

/** What an input is in SQL: over the rows of a group, unless told otherwise. */
interface SqlInputs {
  /** SQL of a metric, by its key. */
  readonly metric?: (key: string) => string;
  /** SQL of the seconds in which the metrics were counted. */
  readonly seconds?: string;
  /** Whether there is a column for a metric; all are where this is left out. */
  readonly has?: (key: string) => boolean;
}

/** The same in SQL: a sum over nothing but NULL is NULL, and so is what is divided by nothing. */
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

/** What a measure's macro takes, in order: what it needs, then what not everybody records, which may be left out. */
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
 * The mean of a column over rows that each cover `seconds`, as SQL over a group: over the time in which it was measured, NULL
 * where it never was.
 */
export const meanOver = (column: string): string =>
  `(sum(${column} * seconds) / sum(CASE WHEN ${column} IS NOT NULL THEN seconds END))`;
