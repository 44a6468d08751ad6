/** Traced events as bytes, written straight into the caller's buffer. The model's bytes follow, put by the caller. */
import { LITTLE_ENDIAN } from './layout.ts';

/** Bytes of an event before the model's bytes, from v7.0.0 on. */
export const EVENT_BYTES = 24;
/** The same in 32-bit words. */
export const EVENT_WORDS = 6;

/**
 * Writes an event as ROSS does from v7.0.0 on: u32 source, u32 destination, f32 send time, f32 receive time, f32 real time,
 * u32 bytes of the model. `u32` and `f32` share their buffer.
 * @param atWord index of the first 32-bit word
 * @param source global id of the LP that sent it
 * @param destination global id of the LP that handles it
 * @param sendTime virtual time
 * @param receiveTime virtual time
 * @param realTime seconds since the run's start
 * @param payloadBytes bytes of the model, which follow
 * @returns index of the word after, where the model's bytes begin
 * @example
 * ```ts
 * import { EVENT_BYTES, writeEvent24 } from 'triscope/formats';
 *
 * const memory = new ArrayBuffer(EVENT_BYTES);
 * // LP 3 sent it to LP 7 at virtual time 1, to be received at 2.5; handled 0.25 s after the start; no bytes of the model
 * writeEvent24(new Uint32Array(memory), new Float32Array(memory), 0, 3, 7, 1, 2.5, 0.25, 0);
 * ```
 */
export function writeEvent24(
  u32: Uint32Array,
  f32: Float32Array,
  atWord: number,
  source: number,
  destination: number,
  sendTime: number,
  receiveTime: number,
  realTime: number,
  payloadBytes: number,
): number {
  u32[atWord] = source;
  u32[atWord + 1] = destination;
  f32[atWord + 2] = sendTime;
  f32[atWord + 3] = receiveTime;
  f32[atWord + 4] = realTime;
  u32[atWord + 5] = payloadBytes;
  return atWord + EVENT_WORDS;
}

/**
 * Writes the same event at any byte, for events after model bytes whose number is not a multiple of 4.
 * @param at first byte
 * @param source global id of the LP that sent it
 * @param destination global id of the LP that handles it
 * @param sendTime virtual time
 * @param receiveTime virtual time
 * @param realTime seconds since the run's start
 * @param payloadBytes bytes of the model, which follow
 * @returns the byte after
 * @example
 * ```ts
 * import { EVENT_BYTES, writeEvent24At } from 'triscope/formats';
 *
 * const view = new DataView(new ArrayBuffer(2 + EVENT_BYTES));
 * const behind = writeEvent24At(view, 2, 3, 7, 1, 2.5, 0.25, 0); // 26
 * ```
 */
export function writeEvent24At(
  view: DataView,
  at: number,
  source: number,
  destination: number,
  sendTime: number,
  receiveTime: number,
  realTime: number,
  payloadBytes: number,
): number {
  view.setUint32(at, source, LITTLE_ENDIAN);
  view.setUint32(at + 4, destination, LITTLE_ENDIAN);
  view.setFloat32(at + 8, sendTime, LITTLE_ENDIAN);
  view.setFloat32(at + 12, receiveTime, LITTLE_ENDIAN);
  view.setFloat32(at + 16, realTime, LITTLE_ENDIAN);
  view.setUint32(at + 20, payloadBytes, LITTLE_ENDIAN);
  return at + EVENT_BYTES;
}

/**
 * Bytes of an event of 2017 before the model's bytes: traces of all events (mode 1) have a duration.
 * @example
 * ```ts
 * import { event2017Bytes } from 'triscope/formats';
 *
 * event2017Bytes(true); // 48 bytes
 * ```
 */
export const event2017Bytes = (withDuration: boolean) => (withDuration ? 48 : 40);

/**
 * Writes an event as ROSS did in 2017: u64 source, u64 destination, f64 receive time, f64 send time, f64 real time, and in
 * traces of all events f64 duration.
 * @param at first byte
 * @param source global id of the LP that sent it
 * @param destination global id of the LP that handles it
 * @param receiveTime virtual time
 * @param sendTime virtual time
 * @param realTime seconds since the run's start
 * @param duration seconds that its handler took
 * @returns the byte after
 * @example
 * ```ts
 * import { event2017Bytes, writeEvent2017 } from 'triscope/formats';
 *
 * const view = new DataView(new ArrayBuffer(event2017Bytes(false)));
 * const behind = writeEvent2017(view, 0, 3, 7, 2.5, 1, 0.25); // 40: received at 2.5, sent at 1 (virtual), 0.25 s
 * ```
 */
export function writeEvent2017(
  view: DataView,
  at: number,
  source: number,
  destination: number,
  receiveTime: number,
  sendTime: number,
  realTime: number,
  duration?: number,
): number {
  const low = LITTLE_ENDIAN ? 0 : 4;
  view.setUint32(at + low, source, LITTLE_ENDIAN);
  view.setUint32(at + 4 - low, 0);
  view.setUint32(at + 8 + low, destination, LITTLE_ENDIAN);
  view.setUint32(at + 12 - low, 0);
  view.setFloat64(at + 16, receiveTime, LITTLE_ENDIAN);
  view.setFloat64(at + 24, sendTime, LITTLE_ENDIAN);
  view.setFloat64(at + 32, realTime, LITTLE_ENDIAN);
  if (duration === undefined) return at + 40;
  view.setFloat64(at + 40, duration, LITTLE_ENDIAN);
  return at + 48;
}

/**
 * Words of 32 bits that an event of 2017 takes among rows: doubles lie at multiples of 8 bytes, so the model's bytes are filled up.
 * @param head bytes before the model's @param payloadBytes the model's bytes
 * @example
 * ```ts
 * import { event2017Bytes, eventRow2017Words } from 'triscope/formats';
 *
 * eventRow2017Words(event2017Bytes(false), 4); // 12 words: 40 bytes, and the model's 4 in 8
 * ```
 */
export const eventRow2017Words = (head: number, payloadBytes: number): number =>
  head / 4 + (((payloadBytes + 7) >> 3) << 1);

/**
 * Events of 2017 from rows, where each is filled up to a multiple of 8 bytes and says in the upper half of its source
 * how many the model's are, to bytes as files have them: exactly so many after each.
 * @param head bytes of an event before the model's
 * @returns bytes written to `out`, which has room for all rows
 * @example
 * ```ts
 * import { packEvents2017 } from 'triscope/formats';
 *
 * const rows = new Int32Array(0); // events as PEs write them, each filled up to a multiple of 8 bytes
 * const out = new Uint8Array(4 * rows.length);
 * const bytes = packEvents2017(rows, 40, out); // bytes as files have them
 * ```
 */
export function packEvents2017(rows: Int32Array, head: number, out: Uint8Array): number {
  const bytes = new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength);
  const high = LITTLE_ENDIAN ? 1 : 0;
  let to = 0;
  for (let at = 0; at < rows.length; ) {
    const size = rows[at + high];
    out.set(bytes.subarray(4 * at, 4 * at + head + size), to);
    out.fill(0, to + 4 * high, to + 4 * high + 4);
    to += head + size;
    at += eventRow2017Words(head, size);
  }
  return to;
}
