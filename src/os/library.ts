/** Shared libraries that a machine may have, through koffi. */
import { type Koffi, koffi } from './koffi.ts';

type Library = ReturnType<Koffi['load']>;

/** A function of a library, which returns a status; −1 where the library is older than the function. */
export function callOf(lib: Library, signature: string): (...words: unknown[]) => number {
  try {
    return lib.func(signature) as (...words: unknown[]) => number;
  } catch {
    return () => -1;
  }
}

/** Loads a library by path, or by name where the system looks for it. @throws Error that names it */
export function loadLibrary(path: string): Library {
  const ffi = koffi();
  try {
    return ffi.load(path);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
}
