/** Shared libraries that a machine may have, through koffi. */
import { createRequire } from 'node:module';

type Library = ReturnType<typeof import('koffi')['load']>;

/** Loads a library by path, or by name where the system looks for it. @throws Error that names it */
export function loadLibrary(path: string): Library {
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  try {
    return koffi.load(path);
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
}
