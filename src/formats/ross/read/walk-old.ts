/**
 * Walks over events and models' samples of 2016 and 2017: packed, 64-bit ids, doubles. A model's bytes follow each
 * record. The files do not tell how many: all records have the same number, or each type of LP its own.
 */
import { type Block, type Chunk, EVENT, MODEL } from './chunk.ts';
import { at, byKind, type FieldAt, type RossFileLayout, type Walk } from './layouts.ts';
import { isTime, walkOf } from './walk.ts';

/** The fields after an event's two LPs and its receive time. */
export interface OldEventForm {
  /** Send time: from April 2017 on. */
  readonly send: boolean;
  /** Real time: missing in traces of modes 2 and 3 of June 2017, whose records were cut by mistake. */
  readonly real: boolean;
  /** Duration: traces of all events. */
  readonly duration: boolean;
}

export const oldEventHead = ({ send, real, duration }: OldEventForm) =>
  24 + 8 * (Number(send) + Number(real) + Number(duration));

export const OLD_MODEL_HEAD_BYTES = 28;

/** Bytes of the model after records: one number for all, or by the LP to which a record belongs; -1 for LPs without any. */
export type ModelSizes = number | ((lp: number) => number);

/** What distinguishes one kind of records from another. */
interface OldKind {
  readonly kind: number;
  readonly head: number;
  /** Byte of the id of the LP whose model adds its bytes. */
  readonly lpAt: number;
  /** What is wrong with the record at a byte; '' if nothing is. */
  readonly fault: (view: DataView, at: number) => string;
}

/** A walk over records of a kind with the model's bytes after each. */
function oldWalk({ kind, head, lpAt, fault }: OldKind, sizes: ModelSizes, little: boolean): Walk {
  const low = little ? 0 : 4;
  const take = (block: Block, at: number): number => {
    const { chunk } = block;
    const { view } = chunk;
    const left = chunk.length - at;
    const fixed = typeof sizes === 'number' ? sizes : 0;
    if (left < head + fixed) {
      block.short(head + fixed);
      return 0;
    }
    const wrong = fault(view, at);
    if (wrong !== '') {
      block.bad(wrong);
      return 0;
    }
    if (typeof sizes === 'number') {
      block.add(kind, at, sizes);
      return head + sizes;
    }
    const lp = view.getUint32(at + lpAt + low, little);
    const size = sizes(lp);
    if (size < 0) block.bad(`LP ${lp} is of a type that has no records here`);
    else if (left < head + size) block.short(head + size);
    else {
      block.add(kind, at, size);
      return head + size;
    }
    return 0;
  };
  return walkOf(take, null);
}

/** Bytes of every record; 0 if LPs differ. */
const strideOf = (head: number, sizes: ModelSizes) =>
  typeof sizes === 'number' ? head + sizes : 0;

/** “and 4 of the model”, for users. */
const andModel = (sizes: ModelSizes): string => {
  if (typeof sizes !== 'number') return ' and the model’s, by type of LP';
  return sizes > 0 ? ` and ${sizes} of the model` : '';
};

export function oldEventFields({ send, real, duration }: OldEventForm): FieldAt[] {
  const realAt = send ? 32 : 24;
  return [
    at('source_lp', 'id64', 0),
    at('destination_lp', 'id64', 8),
    ...(send ? [at('virtual_send_time', 'f64', 24)] : []),
    at('virtual_recv_time', 'f64', 16),
    ...(real ? [at('real_time', 'f64', realAt)] : []),
    ...(duration ? [at('duration', 'f64', realAt + 8)] : []),
    at('model_data_size', 'u32', 0, 'size'),
  ];
}

/** `lps`: number of all LPs; 2^32 if unknown. */
export function oldEventLayout(
  form: OldEventForm,
  sizes: ModelSizes,
  lps: number,
  little: boolean,
): RossFileLayout {
  const { send, real, duration } = form;
  const head = oldEventHead(form);
  const high = little ? 4 : 0;
  const realAt = send ? 32 : 24;
  const fault = (view: DataView, at: number): string => {
    for (let k = 0; k < 16; k += 8) {
      const low = view.getUint32(at + k + 4 - high, little);
      if (view.getUint32(at + k + high, little) !== 0 || low >= lps) {
        return 'expected an event: one of its LPs does not exist';
      }
    }
    const receive = view.getFloat64(at + 16, little);
    if (!isTime(receive)) return 'expected an event: its receive time is no time';
    if (send) {
      const sent = view.getFloat64(at + 24, little);
      if (!(sent >= 0 && sent <= receive)) {
        return 'expected an event: it is sent after it is received, or its send time is no time';
      }
    }
    if (real && !isTime(view.getFloat64(at + realAt, little))) {
      return 'expected an event: real time is no time';
    }
    // Not a number: not measured. ROSS always measures it; Triscope does if it reads the clock for each event.
    const lasted = duration ? view.getFloat64(at + realAt + 8, little) : 0;
    if (!isTime(lasted) && !Number.isNaN(lasted)) return 'expected an event: duration is no time';
    return '';
  };
  /** Small integers read as doubles are denormal numbers. */
  const isPlain = (x: number) => x === 0 || x > 1e-30 || Number.isNaN(x);
  const looksRight = ({ view }: Chunk, at: number): boolean =>
    view.getFloat64(at + 16, little) > 1e-30 &&
    (!send || isPlain(view.getFloat64(at + 24, little))) &&
    (!real || isPlain(view.getFloat64(at + realAt, little))) &&
    (!duration || isPlain(view.getFloat64(at + realAt + 8, little)));
  return {
    era: `ROSS ${send ? '2017-04 to 2017-07' : '2016-12 to 2017-03'}, event trace (${head} bytes${andModel(sizes)})`,
    little,
    kinds: byKind({ [EVENT]: { fields: oldEventFields(form), head } }),
    walk: oldWalk({ kind: EVENT, head, lpAt: 8, fault }, sizes, little),
    reset: () => {},
    each: EVENT,
    mostEntries: 1,
    stride: strideOf(head, sizes),
    looksRight,
    least: head + (typeof sizes === 'number' ? sizes : 0),
    mode: null,
  };
}

export const OLD_MODEL_KINDS = byKind({
  [MODEL]: {
    fields: [
      at('virtual_time', 'f64', 16),
      at('real_time', 'f64', 8),
      at('lp_id', 'id64', 0),
      at('stats_type', 'i32', 24),
      at('model_size', 'u32', 0, 'size'),
    ],
    head: OLD_MODEL_HEAD_BYTES,
  },
});

/** `lps`: number of all LPs; 2^32 if unknown. */
export function oldModelLayout(sizes: ModelSizes, lps: number, little: boolean): RossFileLayout {
  const high = little ? 4 : 0;
  const fault = (view: DataView, at: number): string => {
    const low = view.getUint32(at + 4 - high, little);
    if (view.getUint32(at + high, little) !== 0 || low >= lps) {
      return 'expected a model’s sample: its LP does not exist';
    }
    if (!isTime(view.getFloat64(at + 8, little))) return 'real time is no time';
    if (!(view.getFloat64(at + 16, little) >= 0)) return 'GVT is no time';
    const mode = view.getInt32(at + 24, little);
    return mode === 1 || mode === 2 ? '' : `sampling mode ${mode}; there are 1 (GVT) and 2 (RT)`;
  };
  return {
    era: `ROSS 2017-06 to 2017-07, models’ samples (${OLD_MODEL_HEAD_BYTES} bytes${andModel(sizes)})`,
    little,
    kinds: OLD_MODEL_KINDS,
    walk: oldWalk({ kind: MODEL, head: OLD_MODEL_HEAD_BYTES, lpAt: 0, fault }, sizes, little),
    reset: () => {},
    each: MODEL,
    mostEntries: 1,
    stride: strideOf(OLD_MODEL_HEAD_BYTES, sizes),
    least: OLD_MODEL_HEAD_BYTES + (typeof sizes === 'number' ? sizes : 0),
    mode: null,
  };
}
