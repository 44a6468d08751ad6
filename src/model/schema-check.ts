/** Schemas that come from anywhere (a file, a connection), checked in one place: what passes may name tables and columns. */
import { CELL_BYTES, DOMAINS, type Metric, type Schema } from './metric.ts';

/** Longest names, units and sentences, in UTF-16 units; beyond, it is no such thing. */
const LONGEST = { name: 200, key: 500, unit: 200, help: 10_000 } as const;
/** Columns of a table, at most. */
const MOST_METRICS = 10_000;
/** Bits of the widest counter. */
const WIDEST = 64;

/** Of a table. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Nothing prints them, and terminals obey them. U+2028 and U+2029 end lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/** The words that a field of a metric may be. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  cell: Object.keys(CELL_BYTES),
  kind: ['event', 'gauge', 'control'],
  behaviour: ['constant', 'monotone', 'variable', 'label'],
  form: ['total', 'change'],
  over: ['sum', 'mean', 'min', 'max', 'last', 'same', 'ratio'],
};

/** A schema that cannot be one. The message goes on after "the schema definition". */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value.length <= longest;

/** What may be shown and named: no control characters, no NUL. */
export const isPlain = (text: string): boolean => !CONTROL.test(text);

/** As UTF-8 keeps it. A byte order mark is a part of a name, not of a file. */
const wellFormed = (text: string): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(text));

/** The same as a name: control characters and lone surrogates, which no column may hold, are underscores. */
export const plainName = (text: string): string =>
  wellFormed(text).replace(GAPS, '_').slice(0, LONGEST.key) || '_';

const wrong = (what: string): never => {
  throw new SchemaError(what);
};

function metricOf(value: unknown): Metric {
  if (!isObject(value)) return wrong('has a metric without a key');
  const { key, unit, help, bits, estimate } = value;
  if (!isText(key, LONGEST.key) || key === '') return wrong('has a metric without a key');
  if (!isPlain(key)) return wrong('has a metric whose key holds a control character');
  for (const [field, words] of Object.entries(WORDS)) {
    if (!words.includes(value[field] as string)) {
      return wrong(`has a metric ${key} whose ${field} is not one of ${words.join(', ')}`);
    }
  }
  if (!isText(unit, LONGEST.unit) || !isText(help, LONGEST.help)) {
    return wrong(`has a metric ${key} without unit or help`);
  }
  if (!isPlain(unit)) return wrong(`has a metric ${key} whose unit holds a control character`);
  const isWidth = Number.isInteger(bits) && (bits as number) >= 1 && (bits as number) <= WIDEST;
  if (bits !== undefined && !isWidth) {
    return wrong(`has a metric ${key} whose bits are no integer of 1 to ${WIDEST}`);
  }
  if (estimate !== undefined && estimate !== true) {
    return wrong(`has a metric ${key} whose estimate is not true`);
  }
  const { cell, kind, behaviour, form, over } = value as unknown as Metric;
  return {
    ...{ key, cell, kind, behaviour, form },
    ...(bits !== undefined && { bits: bits as number }),
    ...{ unit, over },
    ...(estimate === true && { estimate }),
    help: spaced(help),
  };
}

/** A sentence on one line. */
const spaced = (help: string): string => (isPlain(help) ? help : help.replace(GAPS, ' '));
// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what is looked for
const GAPS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/**
 * A schema of its documented fields, all of them checked; fields that are not known are left out.
 * @throws SchemaError
 */
export function schemaFrom(value: unknown): Schema {
  if (!isObject(value)) return wrong('is not an object');
  const { name, domain, help, metrics } = value;
  if (!isText(name, LONGEST.name) || !NAME.test(name)) {
    return wrong('has no name that could be a table’s');
  }
  if (!(DOMAINS as readonly unknown[]).includes(domain)) return wrong('has an unknown domain');
  if (!isText(help, LONGEST.help)) return wrong('has no help');
  if (!Array.isArray(metrics)) return wrong('has no metrics');
  if (metrics.length > MOST_METRICS) return wrong(`has more than ${MOST_METRICS} metrics`);
  const keys = new Set<string>();
  const checked = metrics.map((one: unknown) => {
    const metric = metricOf(one);
    if (keys.has(metric.key)) return wrong(`has metric ${metric.key} twice`);
    keys.add(metric.key);
    return metric;
  });
  return { name, domain: domain as Schema['domain'], help: spaced(help), metrics: checked };
}
