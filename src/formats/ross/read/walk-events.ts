/** Walks over traced events of v7.0.0 and later. */
import { type Block, EVENT } from './chunk.ts';
import { EVENT_KINDS, type RossFileLayout } from './layouts.ts';
import { walkOf } from './walk.ts';
import { MOST_PAYLOAD_BYTES } from './walk-framed.ts';

const HEAD_BYTES = 24;
const FLOAT_MAX = 3.5e38;

/**
 * Events at multiples of 4 in this machine's byte order that are beyond doubt. Stops at any other: then the walk by
 * bytes decides.
 */
function walkWords(block: Block, from: number): number {
  const { chunk, capacity, of, kinds } = block;
  const { u32, f32, length } = chunk;
  const index = of[EVENT];
  const { record, size } = index;
  const first = block.length;
  const most = capacity - first;
  const start = index.count;
  const last = length - HEAD_BYTES;
  let at = from;
  let n = 0;
  while (n < most && at <= last && (at & 3) === 0) {
    const word = at >>> 2;
    const send = f32[word + 2];
    const receive = f32[word + 3];
    const real = f32[word + 4];
    const bytes = u32[word + 5];
    if (!(send >= 0 && send <= receive && receive < FLOAT_MAX)) break;
    if (!(real >= 0 && real < FLOAT_MAX) || bytes > last - at) break;
    record[start + n] = at;
    size[start + n] = bytes;
    n++;
    at += HEAD_BYTES + bytes;
  }
  index.count = start + n;
  kinds.fill(EVENT, first, first + n);
  block.length = first + n;
  return at;
}

/** One event at any place, in either byte order; returns its bytes, or 0 if the walk ends. */
function takeEvent(block: Block, at: number): number {
  const { chunk } = block;
  const { view, little, length } = chunk;
  if (length - at < HEAD_BYTES) {
    block.short(HEAD_BYTES);
    return 0;
  }
  const send = view.getFloat32(at + 8, little);
  const receive = view.getFloat32(at + 12, little);
  const real = view.getFloat32(at + 16, little);
  if (!(send >= 0 && send <= receive && receive < FLOAT_MAX)) {
    block.bad(
      () => `expected an event: sent at ${send} and received at ${receive} is not possible`,
    );
    return 0;
  }
  if (!(real >= 0 && real < FLOAT_MAX)) {
    block.bad(() => `expected an event: real time ${real} is no time`);
    return 0;
  }
  const size = view.getUint32(at + 20, little);
  if (size > length - at - HEAD_BYTES) {
    const left = chunk.left(at) - HEAD_BYTES;
    if (size > MOST_PAYLOAD_BYTES || size > left) {
      block.bad(
        `expected an event: ${size} bytes of the model are said to follow; ${left} are left`,
      );
    } else block.short(HEAD_BYTES + size);
    return 0;
  }
  block.add(EVENT, at, size);
  return HEAD_BYTES + size;
}

const walk = walkOf(takeEvent, walkWords);

export function eventLayout(little: boolean): RossFileLayout {
  return {
    era: 'ROSS v7.0 or later, event trace',
    little,
    kinds: EVENT_KINDS,
    walk,
    reset: () => {},
    each: EVENT,
    mostEntries: 1,
    stride: 0,
    // Small integers read as floats are denormal numbers.
    looksRight: ({ view }, at) => view.getFloat32(at + 12, little) > 1e-30,
    least: HEAD_BYTES,
    mode: null,
  };
}
