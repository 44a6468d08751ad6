/** Which records a command wants: by kind, entity and time. */
import type { CellValue, RecordBlock, RecordKind } from '../formats/format.ts';
import { UsageError } from './errors.ts';
import { numbersOption, type PathOptions } from './path-options.ts';

export const FILTER_OPTIONS = {
  kind: 'text',
  pe: 'text',
  kp: 'text',
  lp: 'text',
  type: 'text',
  device: 'text',
  host: 'text',
  job: 'text',
  from: 'text',
  to: 'text',
} as const;

type Test = (value: CellValue) => boolean;

/** A condition on any of the keys that a kind has. */
interface Condition {
  /** The option that asks for it. */
  readonly option: string;
  readonly keys: readonly string[];
  readonly test: Test;
}

/** For a kind: the places of each condition's keys. A kind without any of a condition's keys never passes. */
type Places = readonly (readonly number[])[];

/** A list of texts as a test; of a cell that is a list, one of them must be in it. */
function textsOption(options: PathOptions, name: string): Test | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const wanted = new Set(text.split(',').map((part) => part.trim()));
  const has = (value: CellValue): boolean => wanted.has(String(value));
  return (value) => (Array.isArray(value) ? value.some(has) : has(value));
}

/** A virtual time, or a time of day: s since 1970, or a date such as 2026-11-21T10:00Z. @throws UsageError */
function timeOption(options: PathOptions, name: string): number | undefined {
  const text = options.text(name);
  if (text === undefined) return undefined;
  const number = Number(text);
  const value = text.trim() !== '' && Number.isFinite(number) ? number : Date.parse(text) / 1000;
  if (Number.isNaN(value)) {
    throw new UsageError(
      `--${name}=${text}: must be a number, or a date such as 2026-11-21T10:00Z`,
    );
  }
  return value;
}

const TIMES = ['virtual_time', 'virtual_recv_time', 'time'];

export class RecordFilter {
  readonly #conditions: readonly Condition[];
  readonly #kinds: ReadonlySet<string> | null;
  /** Kinds that are there and were not asked for. */
  readonly #others = new Set<string>();
  readonly #places = new Map<RecordKind, Places>();
  /** By option: kinds of records that were left out, as they have nothing that it could mean. */
  readonly #without = new Map<string, Set<string>>();

  /** @throws UsageError */
  constructor(options: PathOptions) {
    const conditions: Condition[] = [];
    const put = (option: string, keys: readonly string[], test: Test | undefined) => {
      if (test !== undefined) conditions.push({ option, keys, test });
    };
    const numbers = (name: string): Test | undefined => {
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
    this.#conditions = conditions;
    const kinds = options.text('kind');
    this.#kinds = kinds === undefined ? null : new Set(kinds.split(',').map((k) => k.trim()));
  }

  passes(block: RecordBlock, record: number): boolean {
    const kind = block.kind(record);
    if (this.#kinds !== null && !this.#kinds.has(kind.name)) {
      this.#others.add(kind.name);
      return false;
    }
    const places = this.#placesOf(kind);
    for (let c = 0; c < places.length; c++) {
      const { test } = this.#conditions[c];
      let any = false;
      for (const place of places[c]) any = any || test(block.cell(record, place));
      if (!any) return false;
    }
    return true;
  }

  #placesOf(kind: RecordKind): Places {
    let places = this.#places.get(kind);
    if (places === undefined) {
      places = this.#conditions.map(({ keys }) =>
        keys.map((key) => kind.keys.indexOf(key)).filter((place) => place >= 0),
      );
      for (const [k, { option }] of this.#conditions.entries()) {
        if (places[k].length > 0) continue;
        const kinds = this.#without.get(option) ?? new Set();
        this.#without.set(option, kinds.add(kind.name));
      }
      this.#places.set(kind, places);
    }
    return places;
  }

  /** Why records that were there did not pass, where they cannot; a line each. */
  get notes(): string[] {
    const others = [...this.#others].join(', ');
    const asked = [...(this.#kinds ?? [])].join(', ');
    const none =
      others === '' ? [] : [`no record of kind ${asked} passes; there are also ${others}`];
    const lacking = [...this.#without].map(([option, kinds]) => {
      const why = `records of kind ${[...kinds].join(', ')} do not say what --${option} asks for, and are left out`;
      const isOfPe = option === 'pe' || option === 'kp';
      return isOfPe && kinds.has('event')
        ? `${why}; events have LPs: --lp, with the LPs that lp-mapping.txt gives to the ${option.toUpperCase()}`
        : why;
    });
    return [...none, ...lacking];
  }
}
