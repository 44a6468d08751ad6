/** Why no region of a command would be marked: a library is not built, or cannot be loaded. Told before the command runs. */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
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

/** Programs that mark their regions themselves. */
const OWN = /^lib(geopm|triscope_region)\b/;
/** Limits: words of a command that are looked at, bytes of a script's first line, interpreters that are themselves scripts. */
const WORDS = 64;
const LINE_BYTES = 256;
const DEEPEST = 4;

/** Mode bits of a file: runs as its owner; runs as its group; may be run. */
const SETUID = 0o4000;
const SETGID = 0o2000;
const MAY_RUN = 0o111;

/** The file of a command's first word; undefined if there is none. */
const located = (word: string, path: string): string | undefined =>
  word.includes('/')
    ? word
    : path
        .split(delimiter)
        .map((folder) => join(folder, word))
        .find((file) => existsSync(file));

/** The interpreter in a script's first line; null if the file is no script. Source: execve(2), "Interpreter scripts"; env(1). */
function interpreterOf(file: string, path: string): string | null {
  const line = Buffer.alloc(LINE_BYTES);
  try {
    if (!statSync(file).isFile()) return null;
    const fd = openSync(file, 'r');
    readSync(fd, line, 0, LINE_BYTES, 0);
    closeSync(fd);
  } catch {
    return null;
  }
  const [, words] = /^#!([^\n\0]*)/.exec(line.toString('latin1')) ?? [];
  if (words === undefined) return null;
  const [interpreter, ...rest] = words.trim().split(/\s+/);
  if (!/(^|\/)env$/.test(interpreter)) return interpreter;
  const named = rest.find((word) => !word.startsWith('-') && !word.includes('='));
  return (named === undefined ? undefined : located(named, path)) ?? interpreter;
}

/** What runs when `file` is executed: the file itself, or the interpreter of a script. */
function executed(file: string, path: string): string {
  let runs = file;
  for (let depth = 0; depth < DEEPEST; depth++) {
    const next = interpreterOf(runs, path);
    if (next === null) break;
    runs = next;
  }
  return runs;
}

/** Executables among the words of a command: the first is looked up on the path; others, such as a launcher's program, are paths. */
function programsOf(command: readonly string[], path: string): Set<string> {
  const [first, ...rest] = command.slice(0, WORDS);
  const mayRun = (file: string) =>
    ((statSync(file, { throwIfNoEntry: false })?.mode ?? 0) & MAY_RUN) !== 0;
  const found = [located(first, path) ?? '', ...rest.filter((word) => word.includes('/'))];
  return new Set(found.filter(mayRun).map((file) => executed(file, path)));
}

/** Whether it runs with another user's rights: the loader then takes no libraries from the environment. Source: ld.so(8). */
function isPrivileged(file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) return false;
  const { mode, uid, gid } = stat;
  return (
    ((mode & SETUID) !== 0 && uid !== process.getuid?.()) ||
    ((mode & SETGID) !== 0 && gid !== process.getgid?.())
  );
}

const UNSEEN = 'no library can be loaded that marks its MPI calls and OpenMP regions';

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
  if (isStatic || isPrivileged(path)) {
    const why = isStatic ? 'is linked statically' : 'runs with its owner’s rights (setuid, setgid)';
    if (wanted.length > 0) yield `${path} ${why}: ${UNSEEN}`;
    return;
  }
  const geopm = asks(GEOPM);
  if (geopm !== null) yield geopm;
  if (needed.some((name) => OWN.test(name))) return;
  for (const kind of KINDS) {
    const note = wanted.includes(kind.shim) ? asks(kind) : null;
    if (note !== null) yield note;
  }
}

/**
 * Lines for the user. If a program is linked with a library to mark its regions itself, no other is asked for.
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
  return [...programsOf(command, path)].flatMap((program) => {
    const linked = linkedWith(program);
    return linked === null ? [] : [...notesOn(program, linked, isMissing, wanted)];
  });
}
