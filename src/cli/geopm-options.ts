/** Options of geopmlaunch and the variables that say the same. Options come first. Source: geopmlaunch(1), geopm(7). */

import { didYouMean } from '../model/nearest.ts';
import { flag, float, type OptionSpecs, text } from '../model/option.ts';
import { DAY_SECONDS } from '../model/units.ts';

const ONE_HOST = 'a controller watches its own host';
const BESIDE = 'the controller is always a process of its own';

/** Of what is a number of seconds. */
export const SECONDS = { min: 0.0001, max: DAY_SECONDS, placeholder: 'S', unit: 's' };

/** An option that GEOPM's scripts may have, and that does nothing. `value`: what its value is called. */
const idle = (why: string, value?: string) =>
  ({
    ...(value === undefined ? flag(false, why) : text('', why, { placeholder: value })),
    noEffect: why,
    hidden: true,
  }) as const;

/** Options that do something, then those that GEOPM's scripts may have. */
export const GEOPM_OPTIONS = {
  'geopm-report': text('', 'the report', {
    placeholder: 'FILE',
    fallback: 'geopm.report',
    names: 'path',
    variable: 'GEOPM_REPORT',
  }),
  'geopm-report-signals': text(
    '',
    'signals for every section of the report: SIGNAL, or SIGNAL@domain, separated by commas',
    { placeholder: 'LIST', variable: 'GEOPM_REPORT_SIGNALS' },
  ),
  'geopm-trace': text('', 'trace, to BASE-HOST', { placeholder: 'BASE', variable: 'GEOPM_TRACE' }),
  'geopm-trace-signals': text('', 'more columns for the trace', {
    placeholder: 'LIST',
    variable: 'GEOPM_TRACE_SIGNALS',
  }),
  'geopm-trace-profile': text('', 'entries, exits and epochs of each process, to BASE-HOST', {
    placeholder: 'BASE',
    variable: 'GEOPM_TRACE_PROFILE',
  }),
  'geopm-profile': text('', 'name of the run', {
    placeholder: 'NAME',
    fallback: 'default',
    variable: 'GEOPM_PROFILE',
  }),
  'geopm-agent': text(
    '',
    'monitor, power_balancer, power_governor, frequency_map, cpu_activity, gpu_activity, or the path of a module',
    {
      placeholder: 'AGENT',
      fallback: 'monitor',
      variable: 'GEOPM_AGENT',
    },
  ),
  'geopm-policy': text('', "the agent's policy: JSON", {
    placeholder: 'FILE',
    names: 'input',
    variable: 'GEOPM_POLICY',
  }),
  'geopm-endpoint': text('', 'JSON file with the policy, checked again while the program runs', {
    placeholder: 'FILE',
    names: 'path',
    variable: 'GEOPM_ENDPOINT',
  }),
  'geopm-period': float(0, 'time between samples', {
    ...SECONDS,
    fallback: "the agent's",
    variable: 'GEOPM_PERIOD',
  }),
  'geopm-timeout': float(30, 'time after which a line says that no process has marked a region', {
    ...SECONDS,
    variable: 'GEOPM_TIMEOUT',
  }),
  'geopm-record-filter': text(
    '',
    'detect epochs in unmarked programs: proxy_epoch,REGION,… or edit_distance,…',
    {
      placeholder: 'FILTER',
      variable: 'GEOPM_RECORD_FILTER',
    },
  ),
  'geopm-init-control': text(
    '',
    'file with lines CONTROL DOMAIN INDEX VALUE, which are written at the start',
    {
      placeholder: 'FILE',
      names: 'input',
      variable: 'GEOPM_INIT_CONTROL',
    },
  ),
  'geopm-ctl-local': flag(false, 'one report per host, with the host’s name appended', {
    variable: 'GEOPM_CTL_LOCAL',
  }),
  'geopm-ompt-disable': flag(false, 'no regions for OpenMP, even if the shims are built'),
  'geopm-ompt-enable': idle('the shim is loaded where it is built'),
  'geopm-debug-attach': idle('there is nothing to attach to', 'RANK'),
  'geopm-ctl': { ...idle(BESIDE, 'WAY'), variable: 'GEOPM_CTL' },
  'geopm-ctl-disable': idle(BESIDE),
  'geopm-program-filter': text('', 'programs to measure, by name: a.out,python3', {
    placeholder: 'LIST',
    fallback: 'all that mark',
    variable: 'GEOPM_PROGRAM_FILTER',
  }),
  'geopm-affinity-enable': idle('the launcher of the job places processes'),
  'geopm-affinity-disable': idle('the launcher of the job places processes'),
  'geopm-hyperthreads-disable': {
    ...idle('the launcher of the job places processes'),
    variable: 'GEOPM_DISABLE_HYPERTHREADS',
  },
  'geopm-preload': idle('shims are loaded where they are built'),
  'geopm-launch-script': idle('there is no script', 'FILE'),
  'geopm-launch-verbose': idle('nothing is hidden'),
  'geopm-plugin-path': {
    ...idle('an agent of your own is named by its path', 'LIST'),
    variable: 'GEOPM_PLUGIN_PATH',
  },
  'geopm-trace-endpoint-policy': {
    ...idle('policies are not traced', 'FILE'),
    variable: 'GEOPM_TRACE_ENDPOINT_POLICY',
  },
} as const satisfies OptionSpecs;

/** Variables that no option sets, and why they have no effect; null for those that others read. */
const OTHER_VARIABLES: Readonly<Record<string, string | null>> = {
  GEOPM_NUM_PROC: 'processes are seen as they come',
  GEOPM_COMM: ONE_HOST,
  GEOPM_MAX_FAN_OUT: ONE_HOST,
  GEOPM_OMPT_ENABLE: 'the shim is loaded where it is built',
  GEOPM_DEBUG_ATTACH: 'there is nothing to attach to',
  GEOPM_FREQUENCY_MAP: "the map is frequency_map's policy",
  GEOPM_VERBOSITY: 'nothing is hidden',
  GEOPM_CONST_CONFIG_PATH: null,
  GEOPM_MSR_CONFIG_PATH: 'registers are built in',
};

/** Variables of GEOPM that have no effect, and why, with the nearest name of one that is not known: for stderr. */
export function idleVariables(
  environment: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const options: OptionSpecs = GEOPM_OPTIONS;
  const own = new Map(Object.values(options).map((spec) => [spec.variable, spec]));
  const known = [...own.keys(), ...Object.keys(OTHER_VARIABLES)].filter(
    (name) => name !== undefined,
  );
  return Object.entries(environment).flatMap(([variable, value = '']) => {
    if (!variable.startsWith('GEOPM_') || value === '') return [];
    if (!known.includes(variable)) {
      return [`${variable} has no effect: it is not known${didYouMean(variable, known)}`];
    }
    const why = own.has(variable) ? own.get(variable)?.noEffect : OTHER_VARIABLES[variable];
    return why ? [`${variable} has no effect: ${why}`] : [];
  });
}
