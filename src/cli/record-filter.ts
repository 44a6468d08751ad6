/** Which records a command wants: by kind, PE, KP, LP and virtual time. */
import type { RecordBlock, RecordKind } from '../formats/format.ts';
import { numberOption, numbersOption, type PathOptions } from './path-options.ts';

export const FILTER_OPTIONS = {
  kind: 'text',
  pe: 'text',
  kp: 'text',
  lp: 'text',
  from: 'text',
  to: 'text',
} as const;

type Test = (value: number) => boolean;

/** A condition on any of the keys that a kind has. */
interface Condition {
  readonly keys: readonly string[];
  readonly test: Test;
}

/** For a kind: the places of each condition's keys. A kind without any of a condition's keys never passes. */
type Places = readonly (readonly number[])[];

export class RecordFilter {
  readonly #conditions: readonly Condition[];
  readonly #kinds: ReadonlySet<string> | null;
  readonly #places = new Map<RecordKind, Places>();

  /** @throws UsageError */
  constructor(options: PathOptions) {
    const conditions: Condition[] = [];
    const put = (keys: readonly string[], test: Test | undefined) => {
      if (test !== undefined) conditions.push({ keys, test });
    };
    put(['pe_id'], numbersOption(options, 'pe'));
    put(['kp_id'], numbersOption(options, 'kp'));
    put(['lp_id', 'source_lp', 'destination_lp'], numbersOption(options, 'lp'));
    const times = ['virtual_time', 'virtual_recv_time'];
    const from = numberOption(options, 'from');
    const to = numberOption(options, 'to');
    put(times, from === undefined ? undefined : (t) => t >= from);
    put(times, to === undefined ? undefined : (t) => t <= to);
    this.#conditions = conditions;
    const kinds = options.text('kind');
    this.#kinds = kinds === undefined ? null : new Set(kinds.split(',').map((k) => k.trim()));
  }

  passes(block: RecordBlock, record: number): boolean {
    const kind = block.kind(record);
    if (this.#kinds !== null && !this.#kinds.has(kind.name)) return false;
    const places = this.#placesOf(kind);
    for (let c = 0; c < places.length; c++) {
      const { test } = this.#conditions[c];
      let any = false;
      for (const place of places[c]) any = any || test(Number(block.cell(record, place)));
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
      this.#places.set(kind, places);
    }
    return places;
  }
}
