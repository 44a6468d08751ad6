/**
 * Rows as PEs write them into their instrumentation buffers: fixed sizes, 4-byte words, native byte order.
 *
 * ```
 * word 0      kind (ROW_PE, ROW_KP, ROW_LP, ROW_MODEL, ROW_ROLLBACK)
 *      1      bytes of payload after the row (ROW_MODEL); 0 otherwise
 *      2…3    f64 real time, s since the run's zero
 *      4…5    f64 virtual time of the sample
 *      6…7    f64 GVT
 *      8      GVT index (u32)
 *      9      mode (MODE_GVT, MODE_RT, MODE_VT)
 *     10…     the fields of the record, one word each in the order of PE_FIELDS, KP_FIELDS or LP_FIELDS
 *             (u32 or f32), then remote_events for PE and LP; for a model pe_id, kp_id, lp_id and a word with
 *             the number of the payload's layout and, from MODEL_SPECULATIVE on, a flag
 * ```
 * Rows are padded to a whole number of 8 bytes; so is a payload. The rows of one sampling point follow each other:
 * a PE's row, its KPs' rows, its LPs' rows, each where asked for.
 */
import { KP_FIELDS, LP_FIELDS, PE_FIELDS } from './ross.ts';

export const ROW_PE = 0;
export const ROW_KP = 1;
export const ROW_LP = 2;
export const ROW_MODEL = 3;
export const ROW_ROLLBACK = 4;

export const MODES = ['', 'gvt', 'rt', 'vt'] as const;
export const MODE_GVT = 1;
export const MODE_RT = 2;
export const MODE_VT = 3;

/** Words of a row before its fields. */
export const ROW_KIND = 0;
export const ROW_PAYLOAD = 1;
export const ROW_REAL = 2;
export const ROW_VIRTUAL = 4;
export const ROW_GVT = 6;
export const ROW_GVT_INDEX = 8;
export const ROW_MODE = 9;
export const ROW_FIELDS = 10;

/** Of a model's row: the word after its ids, and the flag in it of a state that may still be rolled back. */
export const MODEL_FLAGS = ROW_FIELDS + 3;
export const MODEL_SPECULATIVE = 0x10000;

/** Why a KP was rolled back. */
export const CAUSES = ['straggler', 'cancellation', 'abort', 'cancelback'] as const;

/**
 * Words of a rollback's row: the header, then u32 pe_id, kp_id, rollback_id, cause (index in CAUSES), parent_pe,
 * parent_id, source_pe, source_lp, events_undone, –, then f64 straggler_send_time, straggler_recv_time, depth.
 */
const ROLLBACK_WORDS = ROW_FIELDS + 10 + 6;

const even = (words: number) => words + (words & 1);

/** Words of a whole row, by kind; a model's without its payload. */
export const ROW_WORDS = [
  even(ROW_FIELDS + PE_FIELDS.length + 1),
  even(ROW_FIELDS + KP_FIELDS.length),
  even(ROW_FIELDS + LP_FIELDS.length + 1),
  even(MODEL_FLAGS + 1),
  ROLLBACK_WORDS,
] as const;
