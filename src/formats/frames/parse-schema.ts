/** The schema in a definition frame, checked: it may come from anywhere. */
import { CELL_BYTES, DOMAINS, type Metric, type Schema } from '../../model/metric.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const isKey = (key: unknown): boolean => typeof key === 'string' && key !== '';

/** The words that a field of a metric may be. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  cell: Object.keys(CELL_BYTES),
  kind: ['event', 'gauge', 'control'],
  behaviour: ['constant', 'monotone', 'variable', 'label'],
  form: ['total', 'change'],
  over: ['sum', 'mean', 'min', 'max', 'last', 'same', 'ratio'],
};

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns what is wrong with it; null where nothing is */
function faultOf(value: unknown): string | null {
  if (!isObject(value)) return 'is not an object';
  const { name, domain, help, metrics } = value;
  if (typeof name !== 'string' || !NAME.test(name)) return 'has no name that could be a table’s';
  if (!(DOMAINS as readonly unknown[]).includes(domain)) return 'has an unknown domain';
  if (typeof help !== 'string') return 'has no help';
  if (!Array.isArray(metrics)) return 'has no metrics';
  const keys = new Set<unknown>();
  for (const metric of metrics as unknown[]) {
    if (!isObject(metric) || !isKey(metric.key)) {
      return 'has a metric without a key';
    }
    if (keys.has(metric.key)) return `has metric ${metric.key} twice`;
    keys.add(metric.key);
    for (const [field, words] of Object.entries(WORDS)) {
      if (!words.includes(metric[field] as string)) {
        return `has a metric ${metric.key} whose ${field} is not one of ${words.join(', ')}`;
      }
    }
    if (typeof metric.unit !== 'string' || typeof metric.help !== 'string') {
      return `has a metric ${metric.key} without unit or help`;
    }
  }
  return null;
}

/** @throws Error that says what is wrong with the text */
export function parseSchema(text: string): Schema {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the schema definition is not JSON');
  }
  const fault = faultOf(value);
  if (fault !== null) throw new Error(`the schema definition ${fault}`);
  const { name, domain, help, metrics } = value as Schema;
  return { name, domain, help, metrics: metrics as readonly Metric[] };
}
