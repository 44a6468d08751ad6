/** Shared libraries that a machine may have, through koffi. */
import { type Koffi, koffi } from './koffi.ts';

type Library = ReturnType<Koffi['load']>;

/** Loads a library by path, or by name where the system looks for it. @throws Error that names it */
export function loadLibrary(path: string): Library {
  const ffi = koffi();
  try {
    return ffi.load(path);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
}
