/** Hashes of region names, by which GEOPM tells regions apart. */
import { crc32 } from 'node:zlib';

const utf8 = new TextEncoder();

/** CRC-32 (IEEE 802.3) of the name's UTF-8: GEOPM since 3.1, and ours. The empty name's is 0. */
export function regionHash(name: string | Uint8Array): number {
  return crc32(typeof name === 'string' ? utf8.encode(name) : name);
}

/** 0x1EDC6F41, bits reversed. */
const CASTAGNOLI = 0x82f63b78;
let table: Uint32Array | undefined;

function castagnoliTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ CASTAGNOLI : crc >>> 1;
    return crc;
  });
}

/**
 * CRC-32C as GEOPM computed it up to 3.0: over whole 8-byte words (the name is padded with NUL), from 0, not inverted
 * at the end. For files of that time.
 */
export function regionHashBefore31(name: string | Uint8Array): number {
  const bytes = typeof name === 'string' ? utf8.encode(name) : name;
  table ??= castagnoliTable();
  let crc = 0;
  for (let k = 0; k < Math.ceil(bytes.length / 8) * 8; k++) {
    crc = (crc >>> 8) ^ table[(crc ^ (bytes[k] ?? 0)) & 0xff];
  }
  return crc >>> 0;
}
