/**
 * Waiting for a word of memory that processes share (Linux, through libc). `Atomics.wait` works only among the threads of
 * one process. Source: futex(2).
 */
import { koffi } from './koffi.ts';

type Futex = (
  call: number,
  word: Int32Array,
  operation: number,
  value: number,
  timeout: BigInt64Array | null,
) => number;

/** SYS_futex. Source: <asm/unistd.h>. */
const NUMBERS: Readonly<Record<string, number>> = { x64: 202, arm64: 98 };
const FUTEX_WAIT = 0;
const FUTEX_WAKE = 1;
const EVERYBODY = 0x7fffffff;
/** Milliseconds to sleep at a time if there is no futex. */
const NAP_MS = 0.1;

const number = NUMBERS[process.arch] ?? 0;
const bed = new Int32Array(new SharedArrayBuffer(4));
const timeout = new BigInt64Array(2);

let futex: Futex | null | undefined;

function load(): Futex | null {
  if (futex !== undefined) return futex;
  futex = null;
  if (process.platform !== 'linux' || number === 0) return futex;
  try {
    const lib = koffi().load(null);
    futex = lib.func('intptr_t syscall(intptr_t, void *, intptr_t, intptr_t, void *)');
  } catch {
    // No FFI on this platform.
  }
  return futex;
}

/**
 * Sleeps until somebody wakes `words[at]`, for at most `milliseconds` (below 1000). Returns at once if the word is not `value`.
 * It may also wake without a reason.
 */
export function waitFor(words: Int32Array, at: number, value: number, milliseconds: number): void {
  const call = load();
  if (call === null) {
    Atomics.wait(bed, 0, 0, Math.min(milliseconds, NAP_MS));
    return;
  }
  timeout[1] = BigInt(Math.floor(milliseconds * 1e6));
  call(number, words.subarray(at, at + 1), FUTEX_WAIT, value, timeout);
}

/** Wakes all who wait for `words[at]`. */
export function wake(words: Int32Array, at: number): void {
  load()?.(number, words.subarray(at, at + 1), FUTEX_WAKE, EVERYBODY, null);
}
