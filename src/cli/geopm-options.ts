/** Options of geopmlaunch and the variables that say the same. Options come first. Source: geopmlaunch(1), geopm(7). */
import { UsageError } from './errors.ts';
import { didYouMean } from './nearest.ts';

interface GeopmOption {
  /** Without `--`. */
  readonly name: string;
  readonly variable?: string;
  /** What its value is called in the help; a flag where absent. */
  readonly value?: string;
  readonly help: string;
  /** Why it has no effect here; accepted all the same. */
  readonly idle?: string;
}

const ONE_HOST = 'a controller watches its own host';
const BESIDE = 'the controller is always a process of its own';

/** Options that do something, then those that GEOPM's scripts may have. */
export const GEOPM_OPTIONS = [
  {
    name: 'geopm-report',
    variable: 'GEOPM_REPORT',
    value: 'FILE',
    help: 'the report (geopm.report)',
  },
  {
    name: 'geopm-report-signals',
    variable: 'GEOPM_REPORT_SIGNALS',
    value: 'LIST',
    help: 'signals for every section of the report: SIGNAL, or SIGNAL@domain, with commas between',
  },
  { name: 'geopm-trace', variable: 'GEOPM_TRACE', value: 'BASE', help: 'trace, to BASE-HOST' },
  {
    name: 'geopm-trace-signals',
    variable: 'GEOPM_TRACE_SIGNALS',
    value: 'LIST',
    help: 'more columns for the trace',
  },
  {
    name: 'geopm-trace-profile',
    variable: 'GEOPM_TRACE_PROFILE',
    value: 'BASE',
    help: 'entries, exits and epochs of each process, to BASE-HOST',
  },
  {
    name: 'geopm-profile',
    variable: 'GEOPM_PROFILE',
    value: 'NAME',
    help: 'name of the run (default)',
  },
  {
    name: 'geopm-agent',
    variable: 'GEOPM_AGENT',
    value: 'AGENT',
    help: 'monitor (the default), power_governor, frequency_map, or the path of a module',
  },
  {
    name: 'geopm-policy',
    variable: 'GEOPM_POLICY',
    value: 'FILE',
    help: "the agent's policy: JSON",
  },
  {
    name: 'geopm-endpoint',
    variable: 'GEOPM_ENDPOINT',
    value: 'FILE',
    help: 'policies while it runs: a JSON file, looked at again and again',
  },
  {
    name: 'geopm-period',
    variable: 'GEOPM_PERIOD',
    value: 'S',
    help: "between samples (the agent's)",
  },
  {
    name: 'geopm-timeout',
    variable: 'GEOPM_TIMEOUT',
    value: 'S',
    help: 'after which to say that no process has marked a region (30)',
  },
  {
    name: 'geopm-record-filter',
    variable: 'GEOPM_RECORD_FILTER',
    value: 'FILTER',
    help: 'epochs that nobody marked: proxy_epoch,REGION,… or edit_distance,…',
  },
  {
    name: 'geopm-init-control',
    variable: 'GEOPM_INIT_CONTROL',
    value: 'FILE',
    help: 'lines of CONTROL DOMAIN INDEX VALUE to be written at the start',
  },
  {
    name: 'geopm-ctl-local',
    variable: 'GEOPM_CTL_LOCAL',
    help: "the host's name is added to the report's",
  },
  { name: 'geopm-ompt-disable', help: 'no regions for OpenMP, though the shims are built' },
  { name: 'geopm-ompt-enable', help: '', idle: 'the shim is loaded where it is built' },
  { name: 'geopm-debug-attach', value: 'RANK', help: '', idle: 'there is nothing to attach to' },
  { name: 'geopm-ctl', variable: 'GEOPM_CTL', value: 'WAY', help: '', idle: BESIDE },
  { name: 'geopm-ctl-disable', help: '', idle: BESIDE },
  {
    name: 'geopm-program-filter',
    variable: 'GEOPM_PROGRAM_FILTER',
    value: 'LIST',
    help: 'programs that are seen, by name: a.out,python3 (all that mark)',
  },
  { name: 'geopm-affinity-enable', help: '', idle: 'the launcher of the job places processes' },
  { name: 'geopm-affinity-disable', help: '', idle: 'the launcher of the job places processes' },
  {
    name: 'geopm-hyperthreads-disable',
    variable: 'GEOPM_DISABLE_HYPERTHREADS',
    help: '',
    idle: 'the launcher of the job places processes',
  },
  { name: 'geopm-preload', help: '', idle: 'shims are loaded where they are built' },
  { name: 'geopm-launch-script', value: 'FILE', help: '', idle: 'there is no script' },
  { name: 'geopm-launch-verbose', help: '', idle: 'nothing is hidden' },
  {
    name: 'geopm-plugin-path',
    variable: 'GEOPM_PLUGIN_PATH',
    value: 'LIST',
    help: '',
    idle: 'an agent of your own is named by its path',
  },
  {
    name: 'geopm-trace-endpoint-policy',
    variable: 'GEOPM_TRACE_ENDPOINT_POLICY',
    value: 'FILE',
    help: '',
    idle: 'policies are not traced',
  },
] as const satisfies readonly GeopmOption[];

export type GeopmName = (typeof GEOPM_OPTIONS)[number]['name'];

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

export interface GeopmWords {
  /** Values; '' for a flag that is set. */
  readonly values: ReadonlyMap<GeopmName, string>;
  /** Own options, as parseArgs would want them. */
  readonly own: ReadonlyMap<string, string>;
  readonly command: readonly string[];
  /** What has no effect, and why: for stderr. */
  readonly notes: readonly string[];
}

/** Own options: the name of the value, or null for a flag. */
export type OwnOptions = Readonly<Record<string, string | null>>;

/**
 * Reads `[options] [--] COMMAND…`; options end at the first word that is none.
 * @throws UsageError for an option that is not known, with the nearest
 */
export function readGeopmWords(
  args: readonly string[],
  own: OwnOptions,
  environment: Readonly<Record<string, string | undefined>>,
): GeopmWords {
  const values = new Map<GeopmName, string>();
  const ownValues = new Map<string, string>();
  const notes: string[] = [];
  fromEnvironment(environment, values, notes);
  let at = 0;
  for (; at < args.length && args[at].startsWith('-') && args[at] !== '--'; at++) {
    const [given, ...rest] = args[at].replace(/^--?/, '').split('=');
    const inline = rest.length > 0 ? rest.join('=') : null;
    const option = GEOPM_OPTIONS.find(({ name }) => name === given);
    if (option === undefined && !Object.hasOwn(own, given)) {
      const names = [...GEOPM_OPTIONS.map(({ name }) => name), ...Object.keys(own)];
      throw new UsageError(`unknown option --${given}${didYouMean(given, names, '--')}`);
    }
    const takes = option === undefined ? own[given] : ((option as GeopmOption).value ?? null);
    if (takes === null && inline !== null) throw new UsageError(`--${given} takes no value`);
    const value = takes === null ? '' : (inline ?? args[++at]);
    if (value === undefined || (takes !== null && value === '')) {
      throw new UsageError(`--${given} needs a value: --${given}=${takes}`);
    }
    if (option === undefined) ownValues.set(given, value);
    else {
      values.set(option.name, value);
      const { idle } = option as GeopmOption;
      if (idle !== undefined) notes.push(`--${given} has no effect: ${idle}`);
    }
  }
  if (args[at] === '--') at++;
  return { values, own: ownValues, command: args.slice(at), notes };
}

function fromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  values: Map<GeopmName, string>,
  notes: string[],
): void {
  const options: readonly GeopmOption[] = GEOPM_OPTIONS;
  const known = [...options.flatMap((o) => o.variable ?? []), ...Object.keys(OTHER_VARIABLES)];
  for (const [variable, value = ''] of Object.entries(environment)) {
    if (!variable.startsWith('GEOPM_') || value === '') continue;
    const option = GEOPM_OPTIONS.find((o) => (o as GeopmOption).variable === variable);
    const idle = option === undefined ? OTHER_VARIABLES[variable] : (option as GeopmOption).idle;
    if (idle === undefined && option === undefined) {
      notes.push(`${variable} has no effect: it is not known${didYouMean(variable, known)}`);
    } else if (idle) notes.push(`${variable} has no effect: ${idle}`);
    else if (option !== undefined) values.set(option.name, value);
  }
}

/** Help for the options that do something. */
export function geopmOptionsHelp(): string {
  const options: readonly GeopmOption[] = GEOPM_OPTIONS;
  return options
    .filter(({ idle }) => idle === undefined)
    .map(({ name, value, help }) => {
      const words = `  --${name}${value === undefined ? '' : ` ${value}`}`;
      return words.length > 30 ? `${words}\n${' '.repeat(32)}${help}` : words.padEnd(32) + help;
    })
    .join('\n');
}
