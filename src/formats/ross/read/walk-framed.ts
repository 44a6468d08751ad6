/**
 * Walks over samples of v7.0.0 and later. Every record is checked before it is believed: kind, size, ids, times.
 *
 * Checks are loose where genuine files are strange: a last sample's virtual time may be the largest double, a KP may
 * be behind GVT, counters may hold anything.
 */
import { type Block, type Chunk, KP, LP, MODEL, PE, VT_MODEL, WIDE_LP } from './chunk.ts';
import { FRAMED_KINDS, type RossFileLayout } from './layouts.ts';
import { isTime, walkOf } from './walk.ts';

/** Greatest credible id: a file with higher ones is damaged. */
export const MOST_PES = 2 ** 24;
const MOST_KPS = 2 ** 24;
/** Most credible bytes of a model's sample. */
export const MOST_PAYLOAD_BYTES = 2 ** 24;

const PE_SIZE = 104;
const KP_SIZE = 44;
const LP_SIZE = 36;
const WIDE_LP_SIZE = 48;
const FLOAT_MAX = 3.5e38;

const EXPECTED =
  'expected a sample (kind 0 with 104 bytes, 1 with 44, 2 with 36 or 48, 3 with 24) or a model’s sample in virtual time';

function engineKind(kind: number, size: number): number {
  if (kind === 0 && size === PE_SIZE) return PE;
  if (kind === 1 && size === KP_SIZE) return KP;
  if (kind === 2 && size === LP_SIZE) return LP;
  if (kind === 2 && size === WIDE_LP_SIZE) return WIDE_LP;
  return -1;
}

/** What is wrong with an engine sample; '' if nothing is. */
function engineFault({ view, little }: Chunk, at: number, kind: number): string {
  if (!isTime(view.getFloat64(at + 8, little))) return 'virtual time is no time';
  if (!isTime(view.getFloat64(at + 16, little))) return 'real time is no time';
  const body = at + 24;
  if (view.getUint32(body, little) >= MOST_PES) return 'PE id is beyond belief';
  if (kind === PE) {
    if (!(view.getFloat32(body + 52, little) <= 100)) return 'efficiency is above 100 %';
    for (let k = 56; k < PE_SIZE; k += 4) {
      const time = view.getFloat32(body + k, little);
      if (!(time >= 0 && time < FLOAT_MAX)) return 'an activity’s time is no time';
    }
    return '';
  }
  if (view.getUint32(body + 4, little) >= MOST_KPS) return 'KP id is beyond belief';
  const efficiency = body + (kind === WIDE_LP ? 40 : kind === LP ? 32 : 40);
  if (!(view.getFloat32(efficiency, little) <= 100)) return 'efficiency is above 100 %';
  if (kind === KP && Number.isNaN(view.getFloat32(body + 36, little))) {
    return 'time ahead of GVT is not a number';
  }
  return '';
}

function modelFault({ view, little }: Chunk, at: number): string {
  if (!isTime(view.getFloat64(at + 8, little))) return 'virtual time is no time';
  if (!isTime(view.getFloat64(at + 16, little))) return 'real time is no time';
  if (view.getUint32(at + 24, little) >= MOST_PES) return 'PE id is beyond belief';
  if (view.getUint32(at + 28, little) >= MOST_KPS) return 'KP id is beyond belief';
  if (!(view.getFloat32(at + 36, little) >= 0)) return 'GVT is no time';
  const mode = view.getInt32(at + 40, little);
  return mode < 1 || mode > 4 ? `sampling mode ${mode}; there are 1 (GVT) to 4` : '';
}

/** A model's sample in virtual time: three ids of 64 bits, a time, and a 3 at byte 44. */
function isVtModel({ view, little }: Chunk, at: number): boolean {
  if (view.getInt32(at + 44, little) !== 3 || view.getInt32(at + 40, little) < 0) return false;
  const high = little ? 4 : 0;
  const low = 4 - high;
  return (
    view.getUint32(at + high, little) === 0 &&
    view.getUint32(at + 8 + high, little) === 0 &&
    view.getUint32(at + 16 + high, little) === 0 &&
    view.getUint32(at + 8 + low, little) < MOST_KPS &&
    view.getUint32(at + 16 + low, little) < MOST_PES &&
    isTime(view.getFloat64(at + 24, little))
  );
}

/** Takes a record with a model's bytes after `head`; returns its bytes, or 0 if the walk ends. */
function takeModel(block: Block, at: number, kind: number, size: number, head: number): number {
  const { chunk } = block;
  if (size > MOST_PAYLOAD_BYTES || head + size > chunk.left(at)) {
    block.bad(`${size} bytes of the model are said to follow; ${chunk.left(at) - head} are left`);
    return 0;
  }
  if (head + size > chunk.length - at) {
    block.short(head + size);
    return 0;
  }
  block.add(kind, at, size);
  return head + size;
}

/** Bits of the first float that is not finite, and of a double's upper half. */
const FLOAT_INFINITE = 0x7f800000;
const DOUBLE_INFINITE = 0x7ff00000;

/**
 * Engine samples at multiples of 4 in this machine's byte order that are beyond doubt. Stops at anything else:
 * then the walk by bytes decides.
 */
function walkWords(block: Block, from: number): number {
  const { chunk, capacity, of, kinds } = block;
  const { u32, f32, length } = chunk;
  const high = chunk.little ? 1 : 0;
  let at = from;
  let n = block.length;
  while (n < capacity && length - at >= 60 && (at & 3) === 0) {
    const w = at >>> 2;
    const kind = engineKind(u32[w], u32[w + 1]);
    if (kind < 0) break;
    const size = u32[w + 1];
    if (length - at < 24 + size) break;
    if (u32[w + 2 + high] >= DOUBLE_INFINITE || u32[w + 4 + high] >= DOUBLE_INFINITE) break;
    if (u32[w + 6] >= MOST_PES) break;
    if (kind === PE) {
      if (!(f32[w + 19] <= 100 && areTimes(u32, w + 20))) break;
    } else {
      const efficiency = kind === LP ? 14 : 16;
      if (u32[w + 7] >= MOST_KPS || !(f32[w + efficiency] <= 100)) break;
      if (kind === KP && Number.isNaN(f32[w + 15])) break;
    }
    const index = of[kind];
    const place = index.count++;
    index.record[place] = at;
    index.part[place] = at;
    index.size[place] = 0;
    kinds[n++] = kind;
    at += 24 + size;
  }
  block.length = n;
  return at;
}

/** Whether twelve words are floats that can be times. */
function areTimes(u32: Uint32Array, w: number): boolean {
  return (
    u32[w] < FLOAT_INFINITE &&
    u32[w + 1] < FLOAT_INFINITE &&
    u32[w + 2] < FLOAT_INFINITE &&
    u32[w + 3] < FLOAT_INFINITE &&
    u32[w + 4] < FLOAT_INFINITE &&
    u32[w + 5] < FLOAT_INFINITE &&
    u32[w + 6] < FLOAT_INFINITE &&
    u32[w + 7] < FLOAT_INFINITE &&
    u32[w + 8] < FLOAT_INFINITE &&
    u32[w + 9] < FLOAT_INFINITE &&
    u32[w + 10] < FLOAT_INFINITE &&
    u32[w + 11] < FLOAT_INFINITE
  );
}

/** One record at any place, in either byte order; returns its bytes, or 0 if the walk ends. */
function takeSample(block: Block, at: number): number {
  const { chunk } = block;
  const { view, little, length } = chunk;
  if (length - at < 24) {
    block.short(24);
    return 0;
  }
  const kind = view.getInt32(at, little);
  const size = view.getInt32(at + 4, little);
  const engine = engineKind(kind, size);
  if (engine >= 0) {
    if (length - at < 24 + size) {
      block.short(24 + size);
      return 0;
    }
    const fault = engineFault(chunk, at, engine);
    if (fault !== '') {
      block.bad(fault);
      return 0;
    }
    block.add(engine, at, 0);
    return 24 + size;
  }
  const isModel = kind === 3 && size === 24;
  // Ids of 64 bits begin a model's sample in virtual time: the upper half of the first is 0.
  const canBeVtModel = (little ? size : kind) === 0;
  if (length - at < 48 && (isModel || canBeVtModel)) {
    block.short(48);
    return 0;
  }
  if (isModel) {
    const fault = modelFault(chunk, at);
    if (fault === '') return takeModel(block, at, MODEL, view.getUint32(at + 44, little), 48);
    block.bad(fault);
  } else if (canBeVtModel && isVtModel(chunk, at)) {
    return takeModel(block, at, VT_MODEL, view.getInt32(at + 40, little), 48);
  } else block.bad(() => `${EXPECTED}, found kind ${kind} with ${size}`);
  return 0;
}

const walk = walkOf(takeSample, walkWords);

export function framedLayout(little: boolean): RossFileLayout {
  return {
    era: 'ROSS v7.0 or later, samples',
    little,
    kinds: FRAMED_KINDS,
    walk,
    reset: () => {},
    each: null,
    mostEntries: 1,
    stride: 0,
    least: 24,
    mode: null,
  };
}
