/**
 * Texts beside the binary files. `<prefix>-README.txt` is what files of 2017 cannot be read without; here the framed
 * layouts have it too, because the files themselves do not say how many PEs, KPs and LPs there are.
 */
import { layoutLines } from '../describe.ts';
import { wordOf } from '../lp-types.ts';
import { isPacked, LITTLE_ENDIAN, type RossLayout } from './layout.ts';

/** Settings of a run under a title, as `--help` groups them. */
export interface ReadmeGroup {
  /** The group's title. */
  readonly title: string;
  /** Name without the dashes, and the value as text; null prints the name alone. */
  readonly options: readonly (readonly [name: string, value: string | null])[];
}

/** What the LPs of one type add to their samples, or to events. */
export interface ReadmePayload {
  /** The type's name. */
  readonly name: string;
  /** Bytes that each record of this type has. */
  readonly bytes: number;
  /** The fields in these bytes, each with the byte at which it begins. */
  readonly fields: readonly {
    readonly name: string;
    readonly type: string;
    readonly offset: number;
  }[];
}

/** What a README.txt beside files of ROSS says: layout, KPs a PE, LPs of each PE. */
export interface ReadmeInfo {
  /** Layout of the files. */
  readonly layout: RossLayout;
  /** What the files' names begin with. */
  readonly prefix?: string;
  /** KPs of each PE. */
  readonly kpsPerPe: number;
  /** LPs of each PE; one number per PE. */
  readonly lpsPerPe: readonly number[];
  /** Whether samples hold KPs and LPs (ROSS's granularity 1), or PEs only. */
  readonly detailed: boolean;
  /** Engine sampling that is on: it decides on the lines that count values. */
  readonly gvt: boolean;
  /** Whether the engine is sampled in real time. */
  readonly rt: boolean;
  /** Sampling in virtual time, of engine or model; sampling of models at GVTs or in real time. */
  readonly vt?: boolean;
  /** Whether models are sampled at GVTs or in real time. */
  readonly model?: boolean;
  /** ROSS's number: 0 no events, 1 all, 2 those that cause rollbacks, 3 those committed. */
  readonly trace?: number;
  /** Which LP has which type, in the one line of `lp-types.ts`; '' where models add no bytes. */
  readonly lpTypes?: string;
  /** What models add to samples, and to events. */
  readonly samples?: readonly ReadmePayload[];
  /** What models add to events, by type of LP. */
  readonly events?: readonly ReadmePayload[];
  /** When the file was written. */
  readonly created: Date;
  /** What wrote the file, such as “Triscope 0.1.0”. */
  readonly version: string;
  /** The options of the run with their values, by group. */
  readonly groups: readonly ReadmeGroup[];
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

const fieldWord = ({ name, type, offset }: ReadmePayload['fields'][number]) =>
  `${wordOf(name)}:${type}@${offset}`;

/** For readers: `router 24 times:u32@0 hops:u32@4`. */
const payloadLine = ({ name, bytes, fields }: ReadmePayload) =>
  [wordOf(name), bytes, ...fields.map(fieldWord)].join(' ');

/** For people. */
function payloadLines(title: string, payloads: readonly ReadmePayload[]): string[] {
  return payloads.flatMap(({ name, bytes, fields }) => [
    `${title} of type ${wordOf(name)}, ${bytes} ${bytes === 1 ? 'byte' : 'bytes'}:`,
    ...fields.map(
      ({ name: of, type, offset }) => `  ${String(offset).padStart(5)}  ${type.padEnd(4)}  ${of}`,
    ),
    '',
  ]);
}

/**
 * The text of `<prefix>-README.txt`. Its head, up to END, is for readers: the first lines are ROSS's own of 2017, and
 * its reader passes over the others, which say what it had to be told.
 * @example
 * ```ts
 * import { readmeText } from 'triscope/formats';
 *
 * const text = readmeText({
 *   layout: 'ross-7',
 *   kpsPerPe: 16,
 *   lpsPerPe: [8, 8],
 *   detailed: false,
 *   gvt: true,
 *   rt: false,
 *   created: new Date(),
 *   version: 'mine 1.0',
 *   groups: [],
 * });
 * ```
 */
export function readmeText(info: ReadmeInfo): string {
  const { layout, trace = 0, samples = [], events = [], lpTypes = '' } = info;
  const added = samples.length + events.length > 0;
  const described = {
    ...info,
    trace,
    prefix: info.prefix ?? 'ross-stats',
    kps: info.kpsPerPe,
    vt: info.vt ?? false,
    model: info.model ?? false,
  };
  return [
    `GRANULARITY=${info.detailed ? 1 : 0}`,
    `NUM_PE=${info.lpsPerPe.length}`,
    `NUM_KP=${info.kpsPerPe}`,
    `LP_PER_PE=${info.lpsPerPe.join(',')}`,
    ...(isPacked(layout) ? valueCounts(info) : []),
    `LAYOUT=${layout}`,
    `BYTE_ORDER=${LITTLE_ENDIAN ? 'little' : 'big'}`,
    `EVENT_TRACE=${trace}`,
    ...(added ? [`LP_TYPES=${lpTypes}`] : []),
    ...samples.map((one) => `MODEL_SAMPLE=${payloadLine(one)}`),
    ...events.map((one) => `EVENT_DATA=${payloadLine(one)}`),
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
    ...layoutLines(described),
    ...(added ? ['## BYTES OF THE MODEL, BEHIND EACH RECORD', ''] : []),
    ...payloadLines('samples of LPs', samples),
    ...payloadLines('events at LPs', events),
  ].join('\n');
}

/** Where each LP is, and what it is. */
export interface LpMapping {
  /** PE of each LP. */
  readonly peOf: ArrayLike<number>;
  /** KP of each LP, as numbered within the PE. */
  readonly kpOf: ArrayLike<number>;
  /** Name of the type of an LP, by its global id. */
  readonly typeOf: (lp: number) => string;
}

/**
 * The text of `lp-mapping.txt`, which ROSS's reader wants beside model samples: a line of names, then PE, KP, LP and
 * type of each LP, with commas between. The lines are those of LPs `from`…`to`-1; that of names comes with LP 0.
 * @example
 * ```ts
 * import { lpMappingText } from 'triscope/formats';
 *
 * const placement = { peOf: [0, 1], kpOf: [0, 0], typeOf: () => 'phold' };
 * process.stdout.write(lpMappingText(placement)); // a line of names, then PE,KP,LP,type of LP 0 and LP 1
 * ```
 */
export function lpMappingText(
  { peOf, kpOf, typeOf }: LpMapping,
  from = 0,
  to = peOf.length,
): string {
  let text = from === 0 ? 'PE,KP,LP,type\n' : '';
  for (let lp = from; lp < to; lp++) text += `${peOf[lp]},${kpOf[lp]},${lp},${typeOf(lp)}\n`;
  return text;
}
