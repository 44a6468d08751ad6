/** Hashes by which region names travel in traces and reports. Sources: geopm_hash(3), reports of every era. */

function table(polynomial: number): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? polynomial ^ (value >>> 1) : value >>> 1;
    return value;
  });
}

/** Reflected polynomials of CRC-32 (zlib, Ethernet) and CRC-32C (Castagnoli). */
const CRC32 = table(0xedb88320);
const CRC32C = table(0x82f63b78);

const bytesOf = (name: string | Uint8Array): Uint8Array =>
  typeof name === 'string' ? new TextEncoder().encode(name) : name;

/**
 * CRC-32 of the name's bytes in UTF-8: GEOPM 3.1 and later. Unsigned 32 bits; 0 for the empty name.
 * @example
 * ```ts
 * import { regionHash } from 'triscope/region';
 *
 * regionHash('MPI_Barrier').toString(16); // as in reports of GEOPM 3.1 and later
 * ```
 */
export function regionHash(name: string | Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytesOf(name)) value = CRC32[(value ^ byte) & 255] ^ (value >>> 8);
  return ~value >>> 0;
}

/**
 * CRC-32C from zero over the bytes, filled with NUL to whole words of 8: GEOPM up to 3.0.
 * @example
 * ```ts
 * import { regionHashBefore31 } from 'triscope/region';
 *
 * regionHashBefore31('MPI_Barrier').toString(16); // as in reports of GEOPM up to 3.0
 * ```
 */
export function regionHashBefore31(name: string | Uint8Array): number {
  const bytes = bytesOf(name);
  let value = 0;
  for (const byte of bytes) value = CRC32C[(value ^ byte) & 255] ^ (value >>> 8);
  for (let rest = -bytes.length & 7; rest > 0; rest--) value = CRC32C[value & 255] ^ (value >>> 8);
  return value >>> 0;
}

/** Hashes with a meaning: no region, the whole of epochs, the whole application; and that of no name. */
export const HASH_INVALID = 0;
/** GEOPM's hash of the time outside of all regions. */
export const HASH_UNMARKED = 0x725e8066;
export const HASH_EPOCH = 0x66c91423;
export const HASH_APPLICATION = 0x9d540c53;
