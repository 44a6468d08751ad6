/** Loads koffi, when a call that Node lacks is first made. */
import { createRequire } from 'node:module';

export type Koffi = typeof import('koffi');

let loaded: Koffi | undefined;

/**
 * koffi itself looks for its library in many places, which takes five times as long as to load it; so first where npm
 * puts it on nearly all machines. Once loaded it is the same library for both ways.
 * @throws Error where this platform has none
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
