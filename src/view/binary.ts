/**
 * Bins as bytes: u32 length of the JSON that follows, padded to 4; then per entity in its order min, max, mean, each
 * `bins` f32. Little endian, NaN where nothing was measured. Runs in the server and in the page.
 */
import { toLittle } from '../formats/frames/layout.ts';
import type { EntityBins } from './series/table.ts';

interface SeriesHead {
  readonly from: number;
  readonly to: number;
  readonly bins: number;
  readonly entities: readonly string[];
}

const WORD = 4;
/** Min, max, mean. */
const PARTS = 3;

export function packBins(
  from: number,
  to: number,
  bins: number,
  series: readonly EntityBins[],
): Uint8Array<ArrayBuffer> {
  const head: SeriesHead = { from, to, bins, entities: series.map(({ entity }) => entity) };
  let json = JSON.stringify(head);
  const bytes = new TextEncoder();
  while (bytes.encode(json).length % WORD !== 0) json += ' ';
  const text = bytes.encode(json);
  const packed = new Uint8Array(WORD + text.length + series.length * PARTS * bins * WORD);
  const view = new DataView(packed.buffer);
  view.setUint32(0, text.length, true);
  packed.set(text, WORD);
  let at = WORD + text.length;
  for (const { min, max, mean } of series) {
    for (const column of [min, max, mean]) {
      const bytes = packed.subarray(at, at + WORD * bins);
      bytes.set(new Uint8Array(column.buffer, column.byteOffset, bytes.length));
      toLittle(bytes, WORD);
      at += bytes.length;
    }
  }
  return packed;
}

export function unpackBins(packed: ArrayBuffer): { head: SeriesHead; series: EntityBins[] } {
  const view = new DataView(packed);
  const length = view.getUint32(0, true);
  const text = new TextDecoder().decode(new Uint8Array(packed, WORD, length));
  const head = JSON.parse(text) as SeriesHead;
  let at = WORD + length;
  toLittle(new Uint8Array(packed, at), WORD);
  const take = () => {
    const column = new Float32Array(packed, at, head.bins);
    at += column.byteLength;
    return column;
  };
  const series = head.entities.map((entity) => {
    const [min, max, mean] = [take(), take(), take()];
    return { entity, min, max, mean };
  });
  return { head, series };
}

/** Parts one after the other, each after the u32 of its length; lengths are multiples of 4. */
export function joinParts(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + WORD + length, 0));
  const view = new DataView(joined.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint32(at, part.length, true);
    joined.set(part, at + WORD);
    at += WORD + part.length;
  }
  return joined;
}

export function splitParts(joined: ArrayBuffer): ArrayBuffer[] {
  const view = new DataView(joined);
  const parts: ArrayBuffer[] = [];
  for (let at = 0; at < joined.byteLength; ) {
    const end = at + WORD + view.getUint32(at, true);
    parts.push(joined.slice(at + WORD, end));
    at = end;
  }
  return parts;
}
