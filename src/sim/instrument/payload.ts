/** What models record themselves: typed structs that their functions fill, written after the engine's record. */
import { type Field, type Fields, layoutOf, type Scalar, widthOf } from '../../model/struct.ts';
import { memoryOf, structClass } from '../../model/struct-class.ts';
import type { LpReader } from '../lp.ts';
import { type Datum, type Instrument, type Model, ModelError } from '../model.ts';
import type { Pe } from '../pe.ts';

/** The three things that a model may record. */
export type Recordable = 'sample' | 'traceEvent' | 'traceRollback';

/** The layout of a payload's bytes, for readers. Plain data. */
export interface RecordablePayload {
  /** Name of the instrument: an LP type's name, or one of the model's `instruments`. */
  readonly name: string;
  readonly what: Recordable;
  /** Bytes of the fields: what ROSS calls `ev_sz`, `mstat_sz`. Packed files have exactly these. */
  readonly size: number;
  /** The same rounded up to a multiple of 4, as in framed files, where each record states it. */
  readonly bytes: number;
  readonly fields: readonly {
    readonly name: string;
    readonly type: Scalar;
    readonly offset: number;
  }[];
}

const scalarOf = (where: string, name: string, field: Field): Scalar => {
  if (typeof field === 'string') return field;
  throw new ModelError(`${where}.${name}: recorded fields must be scalars`);
};

/** @throws ModelError for fields that cannot be recorded */
export function payloadLayout(name: string, what: Recordable, fields: Fields): RecordablePayload {
  const where = `instrument '${name}', ${what}`;
  const placed = layoutOf(where, fields).fields.map(({ name: key, field, offset }) => ({
    name: key,
    type: scalarOf(where, key, field),
    offset,
  }));
  const end = Math.max(0, ...placed.map(({ type, offset }) => offset + widthOf(type)));
  return { name, what, size: end, bytes: Math.ceil(end / 4) * 4, fields: placed };
}

/** The instruments that a model declares, with their names, in a fixed order. */
function instrumentsOf(model: Model): ReadonlyMap<string, Instrument<Fields, Fields, unknown>> {
  const all = new Map<string, Instrument<Fields, Fields, unknown>>();
  for (const [name, type] of model.types) {
    if (type.instrument !== undefined) all.set(name, type.instrument);
  }
  for (const [name, instrument] of Object.entries(model.instruments)) all.set(name, instrument);
  return all;
}

/** The payload layouts of all instruments of a model, numbered in order. */
export function payloadLayouts(model: Model): RecordablePayload[] {
  const layouts: RecordablePayload[] = [];
  for (const [name, instrument] of instrumentsOf(model)) {
    for (const what of ['sample', 'traceEvent', 'traceRollback'] as const) {
      const part = instrument[what];
      if (part !== undefined) layouts.push(payloadLayout(name, what, part.fields));
    }
  }
  return layouts;
}

/** The instrument of each LP of a run, as an index into `names`: the LP's own, else its type's. */
interface LpInstruments {
  readonly names: readonly string[];
  readonly of: Int32Array;
}

/** Marks LPs without an instrument. */
const NONE = '-';

/** @param params what the model's `prepare` made of its options */
export function lpInstruments(model: Model, params: unknown, lps: number): LpInstruments {
  const numbers = new Map<string, number>();
  const of = new Int32Array(lps);
  for (let lp = 0; lp < lps; lp++) {
    const own = model.instrumentOf(lp, params);
    const name = (own === undefined ? model.typeOf(lp, params) : own) ?? NONE;
    let number = numbers.get(name);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(name, number);
    }
    of[lp] = number;
  }
  return { names: [...numbers.keys()], of };
}

type Fill = (lp: LpReader, data: Datum, control: { collect: boolean }, row: number) => void;

/** One payload on one PE: filled into a scratch struct whose words are then copied. */
export class Payload {
  readonly layout: RecordablePayload;
  /** Number of the layout among the model's layouts. */
  readonly number: number;
  readonly words: Int32Array;
  /** Number of words that may be read: those of a payload padded to doubles. */
  private readonly count: number;
  private readonly data: Datum;
  private readonly control = { collect: true };
  private readonly fillWith: Fill;
  private readonly rowsOf: ((lp: LpReader) => number) | undefined;

  constructor(
    layout: RecordablePayload,
    number: number,
    fields: Fields,
    fill: Fill,
    rowsOf?: (lp: LpReader) => number,
  ) {
    this.layout = layout;
    this.number = number;
    const struct = layoutOf(layout.name, fields);
    const memory = memoryOf(new ArrayBuffer(Math.max(64, struct.size)));
    this.words = memory.i32;
    this.count = Math.ceil(layout.bytes / 8) * 2;
    const data = new (structClass<Fields>(struct, 'plain'))(memory, null);
    this.data = Object.preventExtensions(data) as unknown as Datum;
    this.fillWith = fill;
    this.rowsOf = rowsOf;
  }

  /** How many rows LP `lp`, which has been entered, makes. @throws ModelError for what is no such number */
  rows(lp: LpReader): number {
    const rows = this.rowsOf?.(lp) ?? 1;
    if (Number.isInteger(rows) && rows >= 0) return rows;
    throw new ModelError(
      `instrument '${this.layout.name}': rows() must give a whole number for LP ${lp.id}; it gave ${String(rows)}`,
    );
  }

  /** Fills `words` for LP `lp`, whose context must be current; false if there is nothing to record. */
  fill(lp: LpReader, row = 0): boolean {
    const { words, count } = this;
    for (let k = 0; k < count; k++) words[k] = 0;
    this.control.collect = true;
    this.fillWith(lp, this.data, this.control, row);
    return this.control.collect;
  }
}

/** The payloads of one kind on one PE, by LP (index on the PE); null if no LP of the whole run has one. */
export function payloadsOf(pe: Pe, what: Recordable): readonly (Payload | null)[] | null {
  const { model } = pe;
  const instruments = instrumentsOf(model);
  const layouts = payloadLayouts(model);
  const made = new Map<string, Payload | null>();
  for (const [name, instrument] of instruments) {
    const part = instrument[what];
    const number = layouts.findIndex((l) => l.name === name && l.what === what);
    if (part === undefined) {
      made.set(name, null);
      continue;
    }
    const event = what !== 'sample';
    const fill = part.fill as (...args: unknown[]) => void;
    const { rows } = part as { readonly rows?: (lp: LpReader) => number };
    made.set(
      name,
      new Payload(
        layouts[number],
        number,
        part.fields,
        (lp, data, control, row) => {
          if (event) fill(lp, lp.message, data, control);
          else fill(lp, data, control, row);
        },
        rows,
      ),
    );
  }
  const payloadOf = (id: number): Payload | null => {
    const own = model.instrumentOf(id, pe.params);
    const name = own === undefined ? model.typeOf(id, pe.params) : own;
    if (name === null) return null;
    const payload = made.get(name);
    if (payload === undefined && own !== undefined) {
      throw new ModelError(
        `model '${model.name}': instrumentOf(${id}) gave '${name}'; instruments are ${[...instruments.keys()].join(', ')}`,
      );
    }
    return payload ?? null;
  };
  if ([...made.values()].every((p) => p === null)) return null;
  const byLp = Array.from(pe.ids, payloadOf);
  if (byLp.some((p) => p !== null)) return byLp;
  for (let id = 0; id < pe.placement.lps; id++) if (payloadOf(id) !== null) return byLp;
  return null;
}
