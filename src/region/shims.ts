/**
 * Libraries in C that mark regions in programs that are not marked. They are built on the spot with the user's own compilers,
 * because MPI and OpenMP differ from machine to machine.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { TriscopeError } from '../model/error.ts';
import { makeFolder } from '../os/folder.ts';
import { scratchFolder } from '../os/scratch.ts';
import { NATIVE_FOLDER, writeGeopmKit } from './geopm-kit.ts';

/** The shims that can be built. */
export type ShimName = 'region' | 'geopm' | 'fortran' | 'mpi' | 'openmp' | 'gomp';

interface Shim {
  readonly file: string;
  /** Other names for the file, in its folder. */
  readonly links?: readonly string[];
  /** What the library is for. */
  readonly what: string;
  /** Compilers that can build it, best first: the first that works is used. */
  readonly compilers: readonly string[];
  readonly install: string;
}

const C_COMPILERS = ['cc', 'gcc', 'clang'];
const INSTALL_C = 'apt-get install gcc libc6-dev';

export const SHIMS: Readonly<Record<ShimName, Shim>> = {
  region: {
    file: 'libtriscope_region.so',
    what: 'marking from C, C++ and Fortran',
    compilers: C_COMPILERS,
    install: INSTALL_C,
  },
  geopm: {
    file: 'libgeopm.so.2',
    links: ['libgeopm.so', 'libgeopmfort.so'],
    what: 'what programs marked for GEOPM include and are linked with',
    compilers: C_COMPILERS,
    install: INSTALL_C,
  },
  fortran: {
    file: 'fortran/geopm_prof.mod',
    what: 'the Fortran module of programs marked for GEOPM',
    compilers: ['gfortran', 'gfortran-14', 'gfortran-13', 'gfortran-12'],
    install: 'apt-get install gfortran',
  },
  mpi: {
    file: 'libtriscope_mpi.so',
    what: 'every MPI call as a region',
    compilers: ['mpicc'],
    install: 'apt-get install libopenmpi-dev openmpi-bin',
  },
  openmp: {
    file: 'libtriscope_openmp.so',
    what: "every OpenMP parallel region as a region, under LLVM's runtime",
    compilers: ['clang', 'cc'],
    install: 'apt-get install clang libomp-dev',
  },
  gomp: {
    file: 'libtriscope_gomp.so',
    what: "every OpenMP parallel region as a region, under GCC's runtime",
    compilers: C_COMPILERS,
    install: INSTALL_C,
  },
};

interface ShimResult {
  readonly name: ShimName;
  /** Path of the library; null if it could not be built. */
  readonly path: string | null;
  readonly compiler: string | null;
  /** Why it could not be built; '' if it was. */
  readonly reason: string;
}

/** Where libraries are kept by default: XDG_CACHE_HOME/triscope. */
export function shimFolder(env: NodeJS.ProcessEnv = process.env): string {
  const cache = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache');
  return join(cache, 'triscope');
}

/** The library of that name, if it has been built in `folder`. */
export function builtShim(name: ShimName, folder: string): string | null {
  const path = join(folder, SHIMS[name].file);
  return existsSync(path) ? path : null;
}

interface Run {
  readonly ok: boolean;
  readonly text: string;
  /** The first line that says what went wrong. */
  readonly error: string;
}

function run(command: string, args: readonly string[]): Run {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  const lines = (result.stderr ?? '').split('\n');
  const error = lines.find((line) => /error|cannot|not found/i.test(line)) ?? lines[0] ?? '';
  return {
    ok: result.status === 0,
    text: result.stdout ?? '',
    error: result.error === undefined ? error.trim() : `${command} cannot be run`,
  };
}

/** Calls that pmpi_shim.c defines by hand. */
const BY_HAND = new Set(['MPI_Init', 'MPI_Init_thread', 'MPI_Finalize']);

/** Name of a parameter: the last word of its declaration, without brackets. */
const parameterName = (declaration: string) =>
  /([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*$/.exec(declaration)?.[1] ?? '';

/**
 * What Fortran passes for the parameters of a call in C: an address each, one for the error code, and a length for each text.
 * Source: MPI 3.1, 17.1; GCC's manual of gfortran, "Argument passing conventions".
 */
function fortranCall(name: string, parameters: readonly string[]): string {
  const texts = parameters.filter((one) => /\bchar\s*\*/.test(one)).length;
  const words = Array.from({ length: parameters.length + 1 + texts }, (_, k) => `a${k}`);
  const declared = words.map((word) => `word ${word}`).join(', ');
  return `FORTRAN(${name}, ${name.toLowerCase()}, (${declared}), (${words.join(', ')}))`;
}

/**
 * Lines CALL(…) and FORTRAN(…), as pmpi_shim.c expects them, for each call that a preprocessed mpi.h declares. Only
 * calls that return int and also exist under their profiling name (PMPI_…).
 */
export function mpiCalls(text: string): string[] {
  const lines: string[] = [];
  const flat = text.replace(/^#.*$/gm, '').replace(/__attribute__\s*\(\([^;]*?\)\)\)?/g, ' ');
  const profiled = new Set(Array.from(flat.matchAll(/\bPMPI_(\w+)\s*\(/g), ([, name]) => name));
  const seen = new Set<string>();
  for (const [, name, list] of flat.matchAll(/\bint\s+(MPI_\w+)\s*\(([^;{}]*?)\)\s*;/g)) {
    const parameters = list.replace(/\s+/g, ' ').trim();
    const unfit = BY_HAND.has(name) || seen.has(name) || !profiled.has(name.slice(4));
    if (unfit || parameters.includes('...') || /[()]/.test(parameters)) continue;
    const declared = /^(void)?$/.test(parameters) ? [] : parameters.split(',');
    const names = declared.map((one) => parameterName(one.trim()));
    if (names.includes('')) continue;
    seen.add(name);
    lines.push(`CALL(${name}, (${parameters}), (${names.join(', ')}))`);
    lines.push(fortranCall(name, declared));
  }
  return lines;
}

const FLAGS = ['-std=gnu11', '-O2', '-fPIC', '-shared', '-pthread', `-I${NATIVE_FOLDER}`];
const source = (name: string) => join(NATIVE_FOLDER, name);
const soname = (name: ShimName) => `-Wl,-soname,${SHIMS[name].file}`;

/** Text of pmpi_calls.h for this compiler's MPI. @throws Error that says what is wrong */
function writeMpiCalls(compiler: string, work: string): void {
  const probe = join(work, 'probe.c');
  writeFileSync(probe, '#include <mpi.h>\n');
  const preprocessed = run(compiler, ['-E', probe]);
  if (!preprocessed.ok) throw new Error(preprocessed.error);
  writeFileSync(join(work, 'pmpi_calls.h'), `${mpiCalls(preprocessed.text).join('\n')}\n`);
}

/** Arguments that build `name` in `folder`; `work` is a folder for intermediate files. @throws Error that says what is wrong */
function argumentsFor(name: ShimName, compiler: string, folder: string, work: string): string[] {
  const to = ['-o', join(work, SHIMS[name].file)];
  const link = [`-L${folder}`, '-ltriscope_region', '-Wl,-rpath,$ORIGIN'];
  const names = source('openmp_names.c');
  switch (name) {
    case 'region':
      return [...FLAGS, ...to, soname(name), source('triscope_region.c')];
    case 'geopm':
      return [...FLAGS, ...to, soname(name), source('triscope_region.c'), source('geopm.c')];
    case 'fortran': {
      const modules = dirname(join(work, SHIMS[name].file));
      makeFolder(modules);
      return ['-fsyntax-only', '-J', modules, source('geopm_prof.f90')];
    }
    case 'openmp':
      return [...FLAGS, ...to, source('ompt_tool.c'), names, ...link, '-ldl'];
    case 'gomp':
      return [...FLAGS, ...to, source('gomp_interposer.c'), names, ...link, '-ldl'];
    case 'mpi': {
      writeMpiCalls(compiler, work);
      // Calls that MPI has deprecated are wrapped as well. There are a thousand functions: -O2 would take seconds.
      const calls = [`-I${work}`, '-Wno-deprecated-declarations', '-O1'];
      return [...FLAGS, ...calls, ...to, source('pmpi_shim.c'), ...link];
    }
  }
}

function buildOne(name: ShimName, folder: string): ShimResult {
  let reason = '';
  for (const compiler of SHIMS[name].compilers) {
    const scratch = scratchFolder('triscope-shim-');
    const work = scratch.path;
    try {
      if (!run(compiler, ['--version']).ok) {
        reason ||= `there is no ${SHIMS[name].compilers.join(' or ')}`;
        continue;
      }
      const built = run(compiler, argumentsFor(name, compiler, folder, work));
      if (!built.ok) throw new Error(built.error);
      const path = join(folder, SHIMS[name].file);
      makeFolder(dirname(path));
      // Removed first, so that running programs keep the old file.
      rmSync(path, { force: true });
      copyFileSync(join(work, SHIMS[name].file), path);
      for (const link of SHIMS[name].links ?? []) {
        rmSync(join(folder, link), { force: true });
        symlinkSync(SHIMS[name].file, join(folder, link));
      }
      return { name, path, compiler, reason: '' };
    } catch (error) {
      reason = `${compiler}: ${(error as Error).message}`;
    } finally {
      scratch.remove();
    }
  }
  return { name, path: null, compiler: null, reason };
}

/** Builds the libraries named, in `folder`; first the one that all others need.
 * @throws Error if the folder cannot be written, or libraries in it cannot be preloaded */
export function buildShims(folder: string, names: readonly ShimName[]): ShimResult[] {
  if (folder.includes(':')) {
    throw new TriscopeError(
      `${folder}: libraries cannot be preloaded from a path with a colon: set XDG_CACHE_HOME to another folder`,
    );
  }
  makeFolder(folder);
  const results: ShimResult[] = [];
  for (const name of ['region', ...names.filter((one) => one !== 'region')] as const) {
    const base = results[0];
    results.push(
      base !== undefined && base.path === null
        ? { name, path: null, compiler: null, reason: `without ${SHIMS.region.file}` }
        : buildOne(name, folder),
    );
  }
  if (builtShim('geopm', folder) !== null) writeGeopmKit(folder);
  return results;
}
