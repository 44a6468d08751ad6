/** What the application's environment says beside the folder of pages: what is to mark programs that nobody marked. */
import { ENV_AUTO } from '../../model/region-layout.ts';
import { builtShim, type ShimName, shimFolder } from '../shims.ts';

export interface MarkedBy {
  /** Shims to be loaded where they are built: `mpi`, `openmp`, `gomp`. */
  readonly shims: readonly ShimName[];
  /** Node's asynchronous work to be marked: `fs,http,fetch`. */
  readonly auto?: string;
}

const joined = (separator: string, ...parts: readonly (string | undefined)[]) =>
  parts.filter((part) => part).join(separator);

/** Variables to be set, added to those of `given`. */
export function markingEnvironment(
  { shims, auto }: MarkedBy,
  given: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const added: Record<string, string> = {};
  const folder = shimFolder(given as NodeJS.ProcessEnv);
  const library = (name: ShimName) => (shims.includes(name) ? builtShim(name, folder) : null);
  const preloaded = joined(':', library('mpi') ?? '', library('gomp') ?? '');
  if (preloaded !== '') added.LD_PRELOAD = joined(':', preloaded, given.LD_PRELOAD);
  if (builtShim('geopm', folder) !== null) {
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
