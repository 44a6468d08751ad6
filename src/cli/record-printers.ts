/** Records as lines: text for people, JSON, CSV. */
import type { CellValue, RecordBlock, RecordKind } from '../formats/format.ts';
import { csvText } from '../model/csv.ts';
import { figure } from './table.ts';
import { oneLine } from './terminal.ts';

export interface Printer {
  /** What comes before all records. */
  head(): string;
  line(block: RecordBlock, record: number): string;
}

/** JSON of a cell: numbers beyond 2^53 as decimal strings; what JSON cannot hold as null. */
function json(value: CellValue): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (typeof value === 'bigint') {
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? String(value) : `"${value}"`;
  }
  if (Array.isArray(value)) return `[${value.map(json).join(',')}]`;
  return JSON.stringify(value);
}

const MODEL_DATA = 'model_data';

/** One object per record; decoded bytes of a model are an object in place of their hex. */
export class JsonPrinter implements Printer {
  private readonly starts = new Map<RecordKind, readonly string[]>();

  head(): string {
    return '';
  }

  line(block: RecordBlock, record: number): string {
    const kind = block.kind(record);
    const starts = this.startsOf(kind);
    let text = starts[0];
    for (let k = 0; k < kind.keys.length; k++) {
      text += starts[k + 1];
      const decoded = kind.keys[k] === MODEL_DATA ? this.decoded(block, record, kind) : null;
      text += decoded ?? json(block.cell(record, k));
    }
    if (starts.length > kind.keys.length + 1) text += starts[kind.keys.length + 1];
    return `${text}${kind.values === undefined ? '' : '}'}}\n`;
  }

  private decoded(block: RecordBlock, record: number, kind: RecordKind): string | null {
    if (kind.payload.length === 0) return null;
    const values = block.payload(record);
    if (values === null) return null;
    const fields = kind.payload.map((name, k) => `${JSON.stringify(name)}:${json(values[k])}`);
    return `{${fields.join(',')}}`;
  }

  private startsOf(kind: RecordKind): readonly string[] {
    let starts = this.starts.get(kind);
    if (starts === undefined) {
      const keys = kind.keys.map((key) => `,${JSON.stringify(key)}:`);
      if (kind.values !== undefined) openObject(keys, kind.values);
      const name = `{"kind":${JSON.stringify(kind.name)}`;
      starts = kind.bare ? ['{', keys[0].slice(1), ...keys.slice(1)] : [name, ...keys];
      this.starts.set(kind, starts);
    }
    return starts;
  }
}

/** Puts the beginning of an object before the first of its members; after all keys where it has none. */
function openObject(keys: string[], { name, from }: NonNullable<RecordKind['values']>): void {
  const start = `,${JSON.stringify(name)}:{`;
  if (from < keys.length) keys[from] = start + keys[from].slice(1);
  else keys.push(start);
}

const plain = (value: CellValue): string => {
  if (typeof value === 'number') return figure(value);
  if (Array.isArray(value)) return `[${value.map(plain).join(' ')}]`;
  return value === null ? '-' : oneLine(String(value));
};

/** `pe virtual_time=8.7 …`: numbers to six digits. */
export class TextPrinter implements Printer {
  head(): string {
    return '';
  }

  line(block: RecordBlock, record: number): string {
    const { name, keys, payload } = block.kind(record);
    const values = payload.length > 0 ? block.payload(record) : null;
    let text = oneLine(name);
    keys.forEach((key, k) => {
      if (key === MODEL_DATA && values !== null) return;
      text += ` ${oneLine(key)}=${plain(block.cell(record, k))}`;
    });
    if (values !== null) {
      payload.forEach((key, k) => {
        text += ` ${oneLine(key)}=${plain(values[k])}`;
      });
    }
    return `${text}\n`;
  }
}

/** A CSV cell; what is missing is empty. */
function csvCell(value: CellValue, formulas: 'keep' | 'quote'): string {
  if (value === null) return '';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const text = Array.isArray(value)
    ? value.map((one) => csvCell(one, 'keep')).join(' ')
    : String(value);
  return csvText(text, formulas);
}

/** One table for all kinds that occur: a column for each key of any of them, empty where a kind has it not. */
export class CsvPrinter implements Printer {
  private readonly columns: readonly string[];
  private readonly rename: (key: string) => string;
  private readonly cell: (value: CellValue) => string;
  /** Whether there is a column of kinds: not where all rows say by themselves what they are. */
  private readonly kinds: boolean;
  /** For each kind the place of each column's key, or of a decoded field after the keys; -1: none. */
  private readonly places = new Map<RecordKind, readonly number[]>();

  constructor(
    kinds: Iterable<RecordKind>,
    rename: (key: string) => string = (key) => key,
    formulas: 'keep' | 'quote' = 'keep',
  ) {
    this.cell = (value) => csvCell(value, formulas);
    const columns = new Set<string>();
    let named = false;
    for (const kind of kinds) {
      named ||= kind.bare !== true;
      for (const key of keysOf(kind)) columns.add(key);
    }
    this.kinds = named;
    this.columns = [...columns];
    this.rename = rename;
  }

  head(): string {
    const names = [...(this.kinds ? ['kind'] : []), ...this.columns.map(this.rename)];
    return `${names.map(this.cell).join(',')}\n`;
  }

  line(block: RecordBlock, record: number): string {
    const kind = block.kind(record);
    const decoded = kind.payload.length > 0 ? block.payload(record) : null;
    let text = this.kinds ? this.cell(kind.name) : '';
    let comma = this.kinds;
    for (const place of this.placesOf(kind)) {
      if (comma) text += ',';
      comma = true;
      if (place < 0) continue;
      if (place < kind.keys.length) {
        if (decoded === null || kind.keys[place] !== MODEL_DATA) {
          text += this.cell(block.cell(record, place));
        }
      } else if (decoded !== null) text += this.cell(decoded[place - kind.keys.length]);
    }
    return `${text}\n`;
  }

  private placesOf(kind: RecordKind): readonly number[] {
    let places = this.places.get(kind);
    if (places === undefined) {
      const keys = keysOf(kind);
      places = this.columns.map((column) => keys.indexOf(column));
      this.places.set(kind, places);
    }
    return places;
  }
}

/** Keys, then decoded fields; a field with a key's name is told apart by `model_`. */
const keysOf = ({ keys, payload }: RecordKind): string[] => [
  ...keys,
  ...payload.map((name) => (keys.includes(name) ? `model_${name}` : name)),
];
