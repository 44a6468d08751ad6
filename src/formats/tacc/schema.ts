/**
 * Schema lines of raw stats files: `!cpu user,E,U=cs nice,E,U=cs …`.
 *
 * A type is a `!`, its name, and its keys, separated by blanks; a key is its name and options, separated by commas:
 * `E` event counter, `C` control register, `W=48` width in bits (64 by default), `U=cs` unit.
 */
import { label, type Metric, type Schema } from '../../model/metric.ts';

/** A key of a type: whether it counts, how wide it is (bits), and its unit ('' for a bare number). */
export interface RawKey {
  /** Name of the key. */
  readonly name: string;
  /** `event` counts since the machine's start; `control` and `gauge` do not count. */
  readonly kind: Metric['kind'];
  /** Bits of the counter; it rolls over at 2^bits. */
  readonly bits: number;
  /** As in the file: `B`, `KB`, `512B`, `cs`, `mJ`; '' if there is none. */
  readonly unit: string;
}

/** A type with its keys, in the order of a record's values. */
export interface RawSchema {
  /** Name of the type. */
  readonly type: string;
  /** Its keys, in the order of a record's values. */
  readonly keys: readonly RawKey[];
}

const WIDEST = 64;

/** Options are known by their first letter, in either case; unknown ones mean nothing, as in tacc_stats. */
function keyFrom(element: string): RawKey | string {
  const [name, ...options] = element.split(',');
  if (name === '') return `'${element}' has no key name`;
  let kind: RawKey['kind'] = 'gauge';
  let bits = WIDEST;
  let unit = '';
  for (const option of options) {
    const letter = option.charAt(0).toUpperCase();
    const value = option.charAt(1) === '=' ? option.slice(2) : '';
    if (letter === 'E') kind = 'event';
    else if (letter === 'C') kind = 'control';
    else if (letter === 'U') unit = value;
    else if (letter === 'W') {
      bits = Number(value);
      if (!Number.isInteger(bits) || bits < 1 || bits > WIDEST) {
        return `'${element}': a width is 1 to ${WIDEST} bits`;
      }
    }
  }
  return { name, kind, bits, unit };
}

/** Options of a schema line that are empty or have an unknown letter. */
export function oddOptions(text: string): string[] {
  return text
    .split(/\s+/)
    .flatMap((element) => element.split(',').slice(1))
    .filter((option) => !/^([EC]$|[UW]=)/i.test(option));
}

/**
 * Parses a schema line without its `!`. If it is wrong, returns a text that says why.
 * @example
 * ```ts
 * import { parseSchema } from 'triscope/formats/tacc';
 *
 * const schema = parseSchema('cpu user,E,U=cs nice,E,U=cs');
 * if (typeof schema !== 'string') console.log(schema.type, schema.keys[0]?.unit); // cpu cs
 * ```
 */
export function parseSchema(text: string): RawSchema | string {
  const [type, ...elements] = text.split(/\s+/).filter(Boolean);
  if (type === undefined) return 'a schema without a type';
  const keys: RawKey[] = [];
  for (const element of elements) {
    const key = keyFrom(element);
    if (typeof key === 'string') return key;
    keys.push(key);
  }
  return { type, keys };
}

/**
 * The schema line, without its newline; options in the order in which tacc_stats prints them.
 * @example
 * ```ts
 * import { formatSchema } from 'triscope/formats/tacc';
 *
 * const user = { name: 'user', kind: 'event', bits: 64, unit: 'cs' } as const;
 * formatSchema({ type: 'cpu', keys: [user] }); // '!cpu user,E,U=cs'
 * ```
 */
export function formatSchema({ type, keys }: RawSchema): string {
  const elements = keys.map(({ name, kind, bits, unit }) =>
    [
      name,
      kind === 'control' ? ',C' : kind === 'event' ? ',E' : '',
      unit === '' ? '' : `,U=${unit}`,
      bits === WIDEST ? '' : `,W=${bits}`,
    ].join(''),
  );
  return [`!${type}`, ...elements].join(' ');
}

/**
 * The schema of metrics that are declared: see `Metric`.
 * @example
 * ```ts
 * import { NODE_TYPES } from 'triscope/node';
 * import { formatSchema, rawSchemaOf } from 'triscope/formats/tacc';
 *
 * for (const { name, metrics } of NODE_TYPES) console.log(formatSchema(rawSchemaOf(name, metrics)));
 * ```
 */
export function rawSchemaOf(type: string, metrics: readonly Metric[]): RawSchema {
  return {
    type,
    keys: metrics.map(({ key, kind, bits, unit }) => ({
      name: key,
      kind,
      bits: bits ?? WIDEST,
      unit,
    })),
  };
}

function metricOf({ kind, bits, unit }: RawKey, key: string): Metric {
  return {
    key,
    cell: 'u64',
    kind,
    behaviour: kind === 'event' ? 'monotone' : 'variable',
    form: 'total',
    ...(bits !== WIDEST && { bits }),
    unit,
    over: kind === 'control' ? 'same' : 'sum',
    help: '',
  };
}

/** Columns of a type's table before those of its keys. */
export const RECORD_COLUMNS: readonly Metric[] = [
  {
    key: 'time',
    cell: 'f64',
    kind: 'gauge',
    behaviour: 'variable',
    form: 'total',
    unit: 's',
    over: 'last',
    help: 'wall-clock time of the record, s since 1970',
  },
  label('host', 'host that the record is about'),
  label('jobids', 'jobs that ran on it, separated by commas; - where there was none'),
  label('device', 'what the record is about; - where the type has no devices'),
];

/** Names of a schema's keys, each once: a name that is repeated, or is in `taken`, gets a number. */
export function columnNames({ keys }: RawSchema, taken: readonly string[] = []): string[] {
  const names = new Set(taken);
  return keys.map(({ name }) => {
    let unique = name;
    for (let k = 2; names.has(unique); k++) unique = `${name}_${k}`;
    names.add(unique);
    return unique;
  });
}

/**
 * The table `node_TYPE`: `RECORD_COLUMNS`, then the type's keys.
 * @example
 * ```ts
 * import { parseSchema, tableSchema } from 'triscope/formats/tacc';
 *
 * const schema = parseSchema('cpu user,E,U=cs');
 * if (typeof schema !== 'string') console.log(tableSchema(schema).name); // node_cpu
 * ```
 */
export function tableSchema(raw: RawSchema): Schema {
  const names = columnNames(
    raw,
    RECORD_COLUMNS.map(({ key }) => key),
  );
  return {
    name: `node_${raw.type}`,
    domain: raw.type.startsWith('cpu') ? 'cpu' : 'device',
    help: `records of type ${raw.type} of raw stats files`,
    metrics: [...RECORD_COLUMNS, ...raw.keys.map((key, k) => metricOf(key, names[k]))],
  };
}

/** The table of marks. */
export const MARK_SCHEMA: Schema = {
  name: 'node_mark',
  domain: 'host',
  help: 'marks of raw stats files, such as begin and end of jobs',
  metrics: [...RECORD_COLUMNS.slice(0, 3), label('mark', 'text of the mark, without its %')],
};

/** The table of record groups, of which each has its line. */
export const GROUP_SCHEMA: Schema = {
  name: 'node_group',
  domain: 'host',
  help: 'record groups of raw stats files',
  metrics: [
    ...RECORD_COLUMNS.slice(0, 3),
    { ...RECORD_COLUMNS[0], key: 'boot', help: 'when the host was started, s since 1970' },
    { ...RECORD_COLUMNS[0], key: 'line', cell: 'u32', unit: '', help: 'line in the file, from 1' },
  ],
};
