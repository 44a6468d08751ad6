/** A part of a file's bytes, compressed or not. */
export interface BytePart {
  readonly bytes: Uint8Array;
  /** Bytes before they were compressed, and their CRC-32; of what is not, the CRC-32 is 0. */
  readonly size: number;
  readonly crc: number;
}

/** Adds bytes, which are valid during the call, to `parts`: as a copy in `memory` while there is room, or compressed. */
export function partsIn(
  memory: Uint8Array,
  deflated: ((bytes: Uint8Array) => BytePart) | null,
  parts: BytePart[],
): (bytes: Uint8Array) => void {
  let at = 0;
  const kept = (bytes: Uint8Array): Uint8Array => {
    if (at + bytes.length > memory.length) return bytes.slice();
    const copy = memory.subarray(at, at + bytes.length);
    copy.set(bytes);
    at += bytes.length;
    return copy;
  };
  return (bytes) => {
    const { size, crc, ...made } = deflated?.(bytes) ?? { bytes, size: bytes.length, crc: 0 };
    parts.push({ bytes: kept(made.bytes), size, crc });
  };
}
