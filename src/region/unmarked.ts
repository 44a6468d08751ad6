/** What of a command would be marked by a library that is not built: said before it runs, since its report would be empty. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Linked, linkedWith } from './needed-libraries.ts';
import { builtShim, type ShimName } from './shims.ts';

interface Kind {
  readonly shim: ShimName;
  readonly library: RegExp;
  readonly says: string;
}

const GEOPM: Kind = { shim: 'geopm', library: /^libgeopm(fort)?\.so/, says: 'is marked for GEOPM' };

const KINDS: readonly Kind[] = [
  { shim: 'gomp', library: /^libgomp\.so/, says: 'uses OpenMP' },
  { shim: 'openmp', library: /^lib(omp|iomp5)\.so/, says: 'uses OpenMP' },
  { shim: 'mpi', library: /^libmpi(_\w+)?\.so/, says: 'uses MPI' },
];

/** Programs that mark for themselves. */
const OWN = /^lib(geopm|triscope_region)\b/;
/** Words of a command that are looked at, and bytes of a program without libraries. */
const WORDS = 64;
const LARGEST = 1 << 26;

/** Executables among the words of a command: the first may be found on the path, as a program of a launcher's by its path. */
function programsOf(command: readonly string[], path: string): string[] {
  const [first, ...rest] = command.slice(0, WORDS);
  const found = first.includes('/')
    ? first
    : path
        .split(delimiter)
        .map((folder) => join(folder, first))
        .find((file) => existsSync(file));
  return [...(found === undefined ? [] : [found]), ...rest.filter((word) => word.includes('/'))];
}

/** A program without a loader that has an OpenMP runtime in itself. */
function hasOwnOpenMp(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return size <= LARGEST && readFileSync(path).includes('OMP_NUM_THREADS');
}

function* notesOn(
  path: string,
  { needed, isStatic }: Linked,
  isMissing: (shim: ShimName) => boolean,
  wanted: readonly ShimName[],
): Generator<string> {
  const asks = ({ shim, library, says }: Kind) => {
    const name = needed.find((one) => library.test(one));
    if (name === undefined || !isMissing(shim)) return null;
    return `${path} ${says} (${name}), of which nothing is seen: triscope region build-shims ${shim} builds what is needed`;
  };
  const geopm = asks(GEOPM);
  if (geopm !== null) yield geopm;
  if (needed.some((name) => OWN.test(name))) return;
  for (const kind of KINDS) {
    const note = wanted.includes(kind.shim) ? asks(kind) : null;
    if (note !== null) yield note;
  }
  if (isStatic && wanted.includes('gomp') && hasOwnOpenMp(path)) {
    yield `${path} uses OpenMP and is linked statically: no library can be loaded that marks its parallel regions`;
  }
}

/**
 * Lines for the user. A program that is linked with a library to mark its regions itself is asked for no other.
 * @param wanted shims that are not switched off
 * @param folder where shims are built
 */
export function unmarkedNotes(
  command: readonly string[],
  wanted: readonly ShimName[],
  folder: string,
  path: string,
): string[] {
  const isMissing = (shim: ShimName) => builtShim(shim, folder) === null;
  return programsOf(command, path).flatMap((program) => {
    const linked = linkedWith(program);
    return linked === null ? [] : [...notesOn(program, linked, isMissing, wanted)];
  });
}
