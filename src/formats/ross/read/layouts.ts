/** Where each era's records keep their fields: tables that all visitors use. */
import { KP_FIELDS, LP_FIELDS, PE_FIELDS } from '../../../model/schemas/ross.ts';
import type { Block, Chunk } from './chunk.ts';
import { EVENT, KINDS, KP, LP, MODEL, PE, VT_MODEL, WIDE_LP } from './chunk.ts';

/** How a number is kept in the file. `id64`: 8 bytes whose upper half is 0. */
export type FileCell = 'u16' | 'u32' | 'i32' | 'f32' | 'f64' | 'id64';

export interface FieldAt {
  readonly key: string;
  readonly cell: FileCell;
  /** Byte within the record, or the part. */
  readonly at: number;
  /**
   * Where the number is. `kp`, `lp`: nowhere, the part's place implies it; `size`: nowhere either, the number of the model's
   * bytes; `per-kp`: in a list of the record, 4 bytes for each KP.
   */
  readonly from: 'record' | 'part' | 'kp' | 'lp' | 'per-kp' | 'size';
}

export interface KindLayout {
  /** In the order in which they are printed. */
  readonly fields: readonly FieldAt[];
  /** Bytes before the model's; undefined if there are never any. */
  readonly head?: number;
}

/** Walks over records from byte `at` of the block's chunk and adds them to the block; returns where it stopped. */
export type Walk = (block: Block, at: number) => number;

export interface RossFileLayout {
  /** The name for users: `ROSS v7.0–v8.0 samples`. */
  readonly era: string;
  readonly little: boolean;
  /** By kind; null if there are none of it. */
  readonly kinds: readonly (KindLayout | null)[];
  readonly walk: Walk;
  /** Forgets what earlier records told: called before a walk that does not continue the last one. */
  readonly reset: () => void;
  /** The same with a memory of its own, if walks remember anything. */
  readonly fork?: () => RossFileLayout;
  /** The kind of every record, whatever parts it has; null if there are several kinds of records. */
  readonly each: number | null;
  /** Entries that one record can make at most. */
  readonly mostEntries: number;
  /** Bytes of every record, if all have the same size; 0 otherwise. */
  readonly stride: number;
  /**
   * Whether a record of the kind `each` that is possible is also plausible. Asked while it is not yet known where
   * records begin, or what they are: stricter than `walk`, which must accept whatever a genuine file may hold.
   */
  readonly looksRight?: (chunk: Chunk, at: number) => boolean;
  /** Least number of bytes of a record. */
  readonly least: number;
  /** What made the samples, if the layout tells; samples of models tell it themselves. */
  readonly mode: 'gvt' | 'rt' | 'vt' | null;
  /** Counters that are totals in other eras and changes here. */
  readonly changes?: readonly string[];
}

export const at = (
  key: string,
  cell: FileCell,
  place: number,
  from: FieldAt['from'] = 'record',
): FieldAt => ({ key, cell, at: place, from });

/** A run of 4-byte fields. */
export function words(
  keys: readonly string[],
  cell: FileCell,
  place: number,
  from: FieldAt['from'] = 'record',
): FieldAt[] {
  return keys.map((key, k) => at(key, cell, place + 4 * k, from));
}

const declared = (
  metrics: readonly { readonly key: string; readonly cell: string }[],
  place: number,
) => metrics.map(({ key, cell }, k) => at(key, cell === 'f32' ? 'f32' : 'u32', place + 4 * k));

const TIMES = [at('virtual_time', 'f64', 8), at('real_time', 'f64', 16)];
const WIDE_LP_FIELDS = declared(LP_FIELDS, 24).map((field) =>
  field.key === 'efficiency' ? { ...field, at: 24 + 40 } : field,
);

const byKind = (layouts: Readonly<Record<number, KindLayout>>): (KindLayout | null)[] =>
  Array.from({ length: KINDS }, (_, kind) => layouts[kind] ?? null);

/** v7.0.0 on: samples after frames, and models' samples in virtual time. */
export const FRAMED_KINDS = byKind({
  [PE]: { fields: [...TIMES, ...declared(PE_FIELDS, 24)] },
  [KP]: { fields: [...TIMES, ...declared(KP_FIELDS, 24)] },
  [LP]: { fields: [...TIMES, ...declared(LP_FIELDS, 24)] },
  [WIDE_LP]: { fields: [...TIMES, ...WIDE_LP_FIELDS] },
  [MODEL]: {
    fields: [
      ...TIMES,
      ...words(['pe_id', 'kp_id', 'lp_id'], 'u32', 24),
      at('gvt', 'f32', 36),
      at('stats_type', 'i32', 40),
      at('model_size', 'u32', 44),
    ],
    head: 48,
  },
  // Its real time at byte 32 is left out: ROSS never sets it, and the bytes there are arbitrary.
  [VT_MODEL]: {
    fields: [
      at('virtual_time', 'f64', 24),
      at('pe_id', 'id64', 16),
      at('kp_id', 'id64', 8),
      at('lp_id', 'id64', 0),
      at('model_size', 'u32', 40),
    ],
    head: 48,
  },
});

/** v7.0.0 on: traced events. */
export const EVENT_KINDS = byKind({
  [EVENT]: {
    fields: [
      ...words(['source_lp', 'destination_lp'], 'u32', 0),
      ...words(['virtual_send_time', 'virtual_recv_time', 'real_time'], 'f32', 8),
      at('model_data_size', 'u32', 20),
    ],
    head: 24,
  },
});

export { byKind };
