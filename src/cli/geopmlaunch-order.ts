/**
 * The order of geopmlaunch's words: a launcher comes first, GEOPM's options stand among the launcher's, and `--` before the
 * program. Source: geopmlaunch(1).
 */
import type { OptionSpecs } from '../model/option.ts';
import { GEOPM_OPTIONS } from './geopm-options.ts';

/** What geopmlaunch calls launchers, and the programs that these are. */
const LAUNCHERS: Readonly<Record<string, string>> = {
  srun: 'srun',
  SrunLauncher: 'srun',
  SrunTOSSLauncher: 'srun',
  aprun: 'aprun',
  AlpsLauncher: 'aprun',
  impi: 'mpiexec',
  IMPIExecLauncher: 'mpiexec',
  ompi: 'mpiexec',
  OMPIExecLauncher: 'mpiexec',
  pals: 'mpiexec',
  PALSLauncher: 'mpiexec',
  mpiexec: 'mpiexec',
  mpirun: 'mpirun',
};

const SPECS: OptionSpecs = GEOPM_OPTIONS;

export interface LauncherWords {
  /** GEOPM's options, with their values. */
  readonly options: readonly string[];
  /** The launcher with its own options, then the program with its own. */
  readonly command: readonly string[];
}

/** Takes geopmlaunch's words apart; null where there is nothing to take out: no launcher, no option of GEOPM's, no `--`. */
export function launcherWords(words: readonly string[]): LauncherWords | null {
  const launcher = Object.hasOwn(LAUNCHERS, words[0]) ? LAUNCHERS[words[0]] : null;
  if (launcher === null) return null;
  const separator = words.indexOf('--');
  const end = separator < 0 ? words.length : separator;
  const options: string[] = [];
  const rest: string[] = [];
  for (let k = 1; k < end; k++) {
    const [, name, value] = /^--?(geopm-[a-z-]+)(=.*)?$/.exec(words[k]) ?? [];
    if (name === undefined) rest.push(words[k]);
    else {
      options.push(words[k]);
      const takesValue = SPECS[name] !== undefined && SPECS[name].kind !== 'bool';
      if (takesValue && value === undefined && k + 1 < end) options.push(words[++k]);
    }
  }
  if (options.length === 0 && separator < 0 && launcher === words[0]) return null;
  return { options, command: [launcher, ...rest, ...words.slice(end + 1)] };
}
