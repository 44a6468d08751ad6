/**
 * Address space for arrays that may become large; pages are supplied as they are touched.
 *
 * Shared memory, though no other thread sees it: V8 counts that of a private ArrayBuffer as garbage to be, and a few GiB
 * reserved at the start of a run would make it collect several times, up to 20 ms each, just when the loop is to be compiled.
 */
export type Reserved = SharedArrayBuffer;

/** @throws RangeError where the system does not let us reserve so much */
export function reserved(bytes: number): Reserved {
  return new SharedArrayBuffer(bytes);
}

export const reservedInts = (length: number) => new Int32Array(reserved(4 * length));

export const reservedDoubles = (length: number) => new Float64Array(reserved(8 * length));
