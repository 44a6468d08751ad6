/** Which records a command wants: by kind, entity and time. */
import type { CellValue, RecordBlock, RecordKind } from '../formats/format.ts';
import { text } from '../model/option.ts';
import type { Given } from './command.ts';
import { UsageError } from './errors.ts';

const numbers = (what: string) =>
  text('', `only these ${what}: a list such as 0,2,5-7`, { placeholder: 'LIST' });
const texts = (what: string, placeholder = 'LIST') =>
  text('', `of raw stats files, only records of these ${what}`, { placeholder });
const time = (edge: string) =>
  text(
    '',
    `${edge} this virtual time, itself included; of events the time of receipt. Of raw stats files the time of day: s since 1970, or a date such as 2026-11-21T10:00Z`,
    { placeholder: 'T' },
  );

export const FILTER_OPTIONS = {
  kind: text('', 'only these kinds of records, such as pe,kp', { placeholder: 'KINDS' }),
  pe: numbers('PEs'),
  kp: numbers('KPs'),
  lp: numbers('LPs; of events, source or destination'),
  type: texts('types, such as cpu,mem'),
  device: texts('devices'),
  host: texts('hosts'),
  job: texts('jobs'),
  from: time('only records from'),
  to: time('only records to'),
} as const;

type FilterOptions = Given<typeof FILTER_OPTIONS>;
type FilterName = keyof typeof FILTER_OPTIONS;

/** Numbers such as `0,2,5-7` as a test; undefined where the option is not there. @throws UsageError */
function numbersOption(
  options: FilterOptions,
  name: FilterName,
): ((value: number) => boolean) | undefined {
  const given = options[name];
  if (given === undefined) return undefined;
  const ranges = given.split(',').map((part) => {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part.trim());
    if (match === null) {
      throw new UsageError(`--${name}=${given}: must be numbers such as 3 or 0,2,5-7`);
    }
    const [low, high] = [Number(match[1]), Number(match[2] ?? match[1])];
    if (low > high) throw new UsageError(`--${name}=${given}: ${part.trim()} contains no number`);
    return [low, high] as const;
  });
  return (value) => ranges.some(([low, high]) => value >= low && value <= high);
}

type Test = (value: CellValue) => boolean;

/** A condition on any of the keys that a kind has. */
interface Condition {
  /** The option that asks for it. */
  readonly option: string;
  readonly keys: readonly string[];
  readonly test: Test;
}

/** For a kind: the places of each condition's keys. A kind without any of a condition's keys never passes. */
type KeyNumbers = readonly (readonly number[])[];

/** A list of texts as a test; of a cell that is a list, one of them must be in it. */
function textsOption(options: FilterOptions, name: FilterName): Test | undefined {
  const given = options[name];
  if (given === undefined) return undefined;
  const wanted = new Set(given.split(',').map((part) => part.trim()));
  const has = (value: CellValue): boolean => wanted.has(String(value));
  return (value) => (Array.isArray(value) ? value.some(has) : has(value));
}

/** A virtual time, or a time of day: s since 1970, or a date such as 2026-11-21T10:00Z. @throws UsageError */
function timeOption(options: FilterOptions, name: FilterName): number | undefined {
  const given = options[name];
  if (given === undefined) return undefined;
  const number = Number(given);
  const value = given.trim() !== '' && Number.isFinite(number) ? number : Date.parse(given) / 1000;
  if (Number.isNaN(value)) {
    throw new UsageError(
      `--${name}=${given}: must be a number, or a date such as 2026-11-21T10:00Z`,
    );
  }
  return value;
}

const TIMES = ['virtual_time', 'virtual_recv_time', 'time'];

export class CsvFilter {
  private readonly conditions: readonly Condition[];
  private readonly kinds: ReadonlySet<string> | null;
  /** Kinds that the files have and that were not asked for. */
  private readonly others = new Set<string>();
  private readonly places = new Map<RecordKind, KeyNumbers>();
  /** By option: kinds of records that were left out because they have none of its keys. */
  private readonly without = new Map<string, Set<string>>();

  /** @throws UsageError */
  constructor(options: FilterOptions) {
    const conditions: Condition[] = [];
    const put = (option: string, keys: readonly string[], test: Test | undefined) => {
      if (test !== undefined) conditions.push({ option, keys, test });
    };
    const numbers = (name: FilterName): Test | undefined => {
      const test = numbersOption(options, name);
      return test && ((value) => test(Number(value)));
    };
    put('pe', ['pe_id'], numbers('pe'));
    put('kp', ['kp_id'], numbers('kp'));
    put('lp', ['lp_id', 'source_lp', 'destination_lp'], numbers('lp'));
    put('type', ['type'], textsOption(options, 'type'));
    put('device', ['device'], textsOption(options, 'device'));
    put('host', ['host'], textsOption(options, 'host'));
    put('job', ['jobids'], textsOption(options, 'job'));
    const from = timeOption(options, 'from');
    const to = timeOption(options, 'to');
    put('from', TIMES, from === undefined ? undefined : (t) => Number(t) >= from);
    put('to', TIMES, to === undefined ? undefined : (t) => Number(t) <= to);
    this.conditions = conditions;
    const kinds = options.kind;
    this.kinds = kinds === undefined ? null : new Set(kinds.split(',').map((k) => k.trim()));
  }

  passes(block: RecordBlock, record: number): boolean {
    const kind = block.kind(record);
    if (this.kinds !== null && !this.kinds.has(kind.name)) {
      this.others.add(kind.name);
      return false;
    }
    const places = this.placesOf(kind);
    for (let c = 0; c < places.length; c++) {
      const { test } = this.conditions[c];
      let any = false;
      for (const place of places[c]) any = any || test(block.cell(record, place));
      if (!any) return false;
    }
    return true;
  }

  private placesOf(kind: RecordKind): KeyNumbers {
    let places = this.places.get(kind);
    if (places === undefined) {
      places = this.conditions.map(({ keys }) =>
        keys.map((key) => kind.keys.indexOf(key)).filter((place) => place >= 0),
      );
      for (const [k, { option }] of this.conditions.entries()) {
        if (places[k].length > 0) continue;
        const kinds = this.without.get(option) ?? new Set();
        this.without.set(option, kinds.add(kind.name));
      }
      this.places.set(kind, places);
    }
    return places;
  }

  /** Why kinds of records could never pass the filter, a line each. */
  get notes(): string[] {
    const others = [...this.others].join(', ');
    const asked = [...(this.kinds ?? [])].join(', ');
    const none =
      others === '' ? [] : [`no record of kind ${asked} passes; there are also ${others}`];
    const lacking = [...this.without].map(([option, kinds]) => {
      const why = `records of kind ${[...kinds].join(', ')} do not say what --${option} asks for, and are left out`;
      const isOfPe = option === 'pe' || option === 'kp';
      return isOfPe && kinds.has('event')
        ? `${why}; events have LPs: --lp, with the LPs that lp-mapping.txt gives to the ${option.toUpperCase()}`
        : why;
    });
    return [...none, ...lacking];
  }
}
