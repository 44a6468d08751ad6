/**
 * Texts beside the binary files. `<prefix>-README.txt` is what files of 2017 cannot be read without; here the framed
 * layouts have it too, because the files themselves do not say how many PEs, KPs and LPs there are.
 */
import type { RossLayout } from './layout.ts';

/** Settings of a run under a title, as `--help` groups them. */
export interface ReadmeGroup {
  readonly title: string;
  /** Name without the dashes, and the value as text; null prints the name alone. */
  readonly options: readonly (readonly [name: string, value: string | null])[];
}

export interface ReadmeInfo {
  readonly layout: RossLayout;
  /** KPs of each PE. */
  readonly kpsPerPe: number;
  /** LPs of each PE; one number per PE. */
  readonly lpsPerPe: readonly number[];
  /** Whether samples hold KPs and LPs (ROSS's granularity 1), or PEs only. */
  readonly detailed: boolean;
  /** Engine sampling that is on: it decides on the lines that count values. */
  readonly gvt: boolean;
  readonly rt: boolean;
  readonly created: Date;
  /** What wrote the file, such as “Triscope 0.1.0”. */
  readonly version: string;
  readonly groups: readonly ReadmeGroup[];
  /** More lines of the head, NAME=value. Readers skip names that they do not know. */
  readonly more?: Readonly<Record<string, string>>;
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun'].concat([
  'Jul',
  'Aug',
  'Sep',
  'Oct',
  'Nov',
  'Dec',
]);

const two = (n: number) => String(n).padStart(2, '0');

/** As C's ctime, in UTC: `Sat Nov 21 02:28:16 2026`. */
function ctime(date: Date): string {
  const clock = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  const day = String(date.getUTCDate()).padStart(2, ' ');
  const month = MONTHS[date.getUTCMonth()];
  return `${DAYS[date.getUTCDay()]} ${month} ${day} ${clock} ${date.getUTCFullYear()}`;
}

/** Values begin in column 22, two spaces off; a name that is too long puts its value on a line of its own. */
function optionLines([name, value]: readonly [string, string | null]): string[] {
  const start = `  --${name}`;
  if (value === null) return [start];
  if (start.length < 20) return [start.padEnd(22) + value];
  return [start, ' '.repeat(22) + value];
}

function valueCounts({ detailed, gvt, rt }: ReadmeInfo): string[] {
  const lines: string[] = [];
  if (gvt && detailed) {
    lines.push('NUM_GVT_VALS_PE=4', 'NUM_GVT_VALS_KP=2', 'NUM_GVT_VALS_LP=4');
  } else if (gvt) lines.push('NUM_GVT_VALS_PE=10');
  if (rt) lines.push('NUM_CYCLE_CTRS=11');
  if (rt && detailed) lines.push('NUM_EV_CTRS_PE=5', 'NUM_EV_CTRS_KP=2', 'NUM_EV_CTRS_LP=4');
  else if (rt) lines.push('NUM_EV_CTRS_PE=12');
  return lines;
}

/** The text of `<prefix>-README.txt`. The line LAYOUT= is ours and stands only with the framed layouts. */
export function readmeText(info: ReadmeInfo): string {
  const packed = info.layout === 'ross-2017';
  return [
    `GRANULARITY=${info.detailed ? 1 : 0}`,
    `NUM_PE=${info.lpsPerPe.length}`,
    `NUM_KP=${info.kpsPerPe}`,
    `LP_PER_PE=${info.lpsPerPe.join(',')}`,
    ...(packed ? valueCounts(info) : [`LAYOUT=${info.layout}`]),
    ...Object.entries(info.more ?? {}).map(([name, value]) => `${name}=${value}`),
    'END',
    '',
    'Info for ROSS run.',
    '',
    `Date Created:\t${ctime(info.created)}`,
    '',
    '## BUILD CONFIGURATION',
    '',
    `ROSS Version:\t${info.version}`,
    '',
    '## RUN TIME SETTINGS by GROUP:',
    '',
    ...info.groups.flatMap(({ title, options }) => [
      `${title}:`,
      ...options.flatMap(optionLines),
      '',
    ]),
  ].join('\n');
}

/**
 * The text of `lp-mapping.txt`: a line per LP with its number, its PE, and its KP as numbered within the PE.
 * `peOf` and `kpOf` have an entry per LP; the lines are those of LPs `from`…`to`-1.
 */
export function lpMappingText(
  peOf: ArrayLike<number>,
  kpOf: ArrayLike<number>,
  from = 0,
  to = peOf.length,
): string {
  let text = '';
  for (let lp = from; lp < to; lp++) text += `${lp} ${peOf[lp]} ${kpOf[lp]}\n`;
  return text;
}
