/** Shared libraries that a machine may or may not have, through koffi. */
import { type Koffi, koffi } from './koffi.ts';

type Library = ReturnType<Koffi['load']>;

/** A function of a library, which returns a status; −1 if this version of the library lacks the function. */
export function callOf(lib: Library, signature: string): (...words: unknown[]) => number {
  try {
    return lib.func(signature) as (...words: unknown[]) => number;
  } catch {
    return () => -1;
  }
}

/** Loads a library by path, or by a name that the system looks up. @throws Error that names the library */
export function loadLibrary(path: string): Library {
  const ffi = koffi();
  try {
    return ffi.load(path);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
}
