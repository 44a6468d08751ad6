/** Variables of the application's environment, beside the folder of pages: they load the shims that mark programs. */
import { basename } from 'node:path';
import { ENV_AUTO } from '../../model/region-layout.ts';
import { builtShim, type ShimName, shimFolder } from '../shims.ts';

export interface MarkedBy {
  /** Shims to be loaded if they have been built: `mpi`, `openmp`, `gomp`. */
  readonly shims: readonly ShimName[];
  /** Node's asynchronous work to mark: `fs,http,fetch`. */
  readonly auto?: string;
}

const joined = (separator: string, ...parts: readonly (string | undefined)[]) =>
  parts.filter((part) => part).join(separator);

/** Variables to set, in addition to those of `given`. */
export function markingEnvironment(
  { shims, auto }: MarkedBy,
  given: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const added: Record<string, string> = {};
  const folder = shimFolder(given as NodeJS.ProcessEnv);
  const library = (name: ShimName) => (shims.includes(name) ? builtShim(name, folder) : null);
  const paths = [library('mpi'), library('gomp')].filter((path) => path !== null);
  // A space ends a path of LD_PRELOAD (ld.so(8)). A file name alone is searched for in the folders of LD_LIBRARY_PATH.
  const hasBlank = /\s/.test(folder);
  if (paths.length > 0) {
    const named = hasBlank ? paths.map((path) => basename(path)) : paths;
    added.LD_PRELOAD = joined(':', ...named, given.LD_PRELOAD);
  }
  if (builtShim('geopm', folder) !== null || (hasBlank && paths.length > 0)) {
    added.LD_LIBRARY_PATH = joined(':', folder, given.LD_LIBRARY_PATH);
  }
  const openmp = library('openmp');
  if (openmp !== null) added.OMP_TOOL_LIBRARIES = joined(':', openmp, given.OMP_TOOL_LIBRARIES);
  if (auto !== undefined) {
    const preload = `--import=${new URL('../auto.js', import.meta.url).href}`;
    added[ENV_AUTO] = auto;
    added.NODE_OPTIONS = joined(' ', given.NODE_OPTIONS, preload);
  }
  return added;
}
