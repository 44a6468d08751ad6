/** Loads koffi when a call that Node lacks is made for the first time. */
import { createRequire } from 'node:module';

export type Koffi = typeof import('koffi');

let loaded: Koffi | undefined;

/**
 * koffi searches many places for its library, which takes five times as long as loading it. So the place where npm
 * puts it on nearly all machines is tried first. Either way the same library is loaded.
 * @throws Error if koffi does not support this platform
 */
export function koffi(): Koffi {
  if (loaded !== undefined) return loaded;
  const require = createRequire(import.meta.url);
  const { platform, arch } = process;
  try {
    loaded = require(`@koromix/koffi-${platform}-${arch}/${platform}_${arch}/koffi.node`) as Koffi;
  } catch {
    loaded = require('koffi') as Koffi;
  }
  return loaded;
}
