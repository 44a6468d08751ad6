/**
 * Address space for arrays that may become large; pages are supplied as they are touched.
 *
 * V8 counts a private ArrayBuffer's address space as future garbage, and a few GiB reserved at the start of a run make it
 * collect several times, up to 20 ms each, just when the loop is to be compiled. It does not count that of a shared one; but
 * then nothing triggers a collection after the run: a process that simulates many times would keep all address
 * space, and once that exceeds the memory, Linux refuses to start other processes. So only threads and processes that end
 * with their run reserve shared memory.
 */
export type Reserved = ArrayBufferLike;

let endsWithRun = false;

/** Declares that this thread, or the process, ends with its run. */
export function reserveForOneRun(): void {
  endsWithRun = true;
}

/** @throws RangeError if the system does not let us reserve so much */
export function reserved(bytes: number): Reserved {
  return endsWithRun ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes);
}

/** From this size on, the C library maps a block by itself, 16 bytes past a page boundary. */
const MAPPED_BYTES = 33 << 20;
const TO_A_LINE_BYTES = 48;

/** Shared words, zeroed, of which the first is on a cache line of its own with those after it. */
export function sharedLines(bytes: number): Int32Array<SharedArrayBuffer> {
  const block = new SharedArrayBuffer(Math.max(bytes, MAPPED_BYTES) + TO_A_LINE_BYTES);
  return new Int32Array(block, TO_A_LINE_BYTES, bytes / 4);
}

export const reservedInts = (length: number) => new Int32Array(reserved(4 * length));

export const reservedDoubles = (length: number) => new Float64Array(reserved(8 * length));
