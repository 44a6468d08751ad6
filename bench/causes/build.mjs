// Programs of the causes, compiled when first needed; and the shim that marks MPI calls.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const place = (path) => fileURLToPath(new URL(path, import.meta.url));
const SOURCE = place('program.c');
const MARKS = place('../../native/triscope_region.c');

/** Runs a command; its output is shown if it fails. */
const run = (file, args, env) => execFileSync(file, args, { env: { ...process.env, ...env } });

/** Path of program.c compiled without MPI. */
export function plainProgram(folder) {
  const path = join(folder, 'program');
  if (!existsSync(path)) run('cc', ['-O1', '-pthread', '-o', path, SOURCE]);
  return path;
}

/** Path of program.c compiled with MPI and a marked region. */
export function mpiProgram(folder) {
  const path = join(folder, 'mpi-program');
  const own = ['-I', place('../../native'), SOURCE, MARKS];
  if (!existsSync(path))
    run('mpicc', ['-O1', '-pthread', '-DWITH_MPI', '-o', path, ...own, '-ldl']);
  return path;
}

/** Variables that mark MPI calls and let ranks run as root. */
export function mpiEnvironment(folder) {
  const env = {
    XDG_CACHE_HOME: join(folder, 'cache'),
    OMPI_ALLOW_RUN_AS_ROOT: '1',
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
  };
  if (!existsSync(env.XDG_CACHE_HOME)) {
    run(process.execPath, [place('../../bin/triscope'), 'region', 'build-shims', 'mpi'], env);
  }
  return env;
}
