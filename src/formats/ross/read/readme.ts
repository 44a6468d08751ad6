/**
 * `<prefix>-README.txt`: what is needed to read the files of 2016 and 2017. ROSS wrote the numbers of PEs, KPs and
 * LPs, and its options, whose names tell its version; Triscope's also tell the layout and the model's bytes.
 */
import type { TypeBytes } from '../../model-bytes.ts';
import { PAYLOAD_TYPES, type PayloadField, type PayloadType } from '../../payload.ts';
import { type LpTypes, nameOfWord, parseLpTypes } from '../lp-types.ts';
import { isRossLayout, type RossLayout } from '../write/layout.ts';

/** The version of ROSS that wrote a file of 2016 or 2017, by the options that it had. */
export type OldEra = '2016-12' | '2017-06' | '2017-07';

export interface ReadmeFacts {
  /** 0: PEs only; 1: KPs and LPs too. */
  readonly granularity: number;
  readonly pes: number;
  /** KPs of each PE. */
  readonly kps: number;
  /** LPs of each PE. */
  readonly lps: readonly number[];
  /** Value of `--event-trace`, 0 to 3; null if it is not given. */
  readonly eventTrace: number | null;
  /** Triscope's only: the layout of the files beside it. */
  readonly layout: RossLayout | null;
  /** Triscope's only: whether a number's low byte comes first. */
  readonly little: boolean | null;
  /** ROSS's only: null if the text does not list its options. */
  readonly era: OldEra | null;
  /** Triscope's only: types of LPs, and what they add to samples and to events. */
  readonly types: LpTypes | null;
  readonly samples: readonly TypeBytes[];
  readonly events: readonly TypeBytes[];
}

const MOST = 2 ** 22;

const integer = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,9}$/.test(text.trim()) ? Number(text) : null;

/** ROSS's number, or the word for it here: `all` events, or only some of them. */
function traceMode(word: string | undefined): number | null {
  if (word === undefined) return null;
  if (/^\d+$/.test(word)) return Number(word);
  const modes: Readonly<Record<string, number>> = { none: 0, off: 0, '-': 0, all: 1, full: 1 };
  return Object.hasOwn(modes, word) ? modes[word] : 2;
}

/** `--engine-stats` came in July 2017, `--num-gvt` in June; before, there was neither. */
function eraOf(settings: string): OldEra | null {
  const has = (option: string) => new RegExp(`^[ \\t]*--${option}\\b`, 'm').test(settings);
  if (has('engine-stats')) return '2017-07';
  if (has('num-gvt')) return '2017-06';
  return has('enable-gvt-stats') ? '2016-12' : null;
}

const FIELD = /^([^:@]+):(\w+)@(\d{1,8})$/;

/** `router 24 times:u32@0 hops:u32@4`: a type of LP, the bytes it adds, its fields. Null for any other text. */
function typeBytes(line: string): TypeBytes | null {
  const [name, size, ...parts] = line.trim().split(/\s+/);
  const bytes = integer(size);
  if (bytes === null) return null;
  const fields = parts.map((part): PayloadField | null => {
    const match = FIELD.exec(part);
    if (match === null || !Object.hasOwn(PAYLOAD_TYPES, match[2])) return null;
    const type = match[2] as PayloadType;
    const at = Number(match[3]);
    return at + PAYLOAD_TYPES[type] > bytes ? null : { name: nameOfWord(match[1]), type, at };
  });
  const known = fields.filter((field) => field !== null);
  // Fields of a type that this reader does not know: the bytes stay bytes.
  const all = known.length === fields.length && known.length > 0;
  return { name: nameOfWord(name), bytes, fields: all ? known : null };
}

/** The lines NAME=value of the head, by name: all values of each, in order. */
function headOf(text: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const sign = line.indexOf('=');
    if (sign <= 0) continue;
    const name = line.slice(0, sign).trim();
    values.set(name, [...(values.get(name) ?? []), line.slice(sign + 1).trim()]);
  }
  return values;
}

/** The layout in Triscope's README. Before this version, `ross-2017` was the only packed layout that was written, and was not named. */
function layoutOf(named: string | undefined, version: string): RossLayout | null {
  if (named !== undefined) return isRossLayout(named) ? named : null;
  return version.startsWith('Triscope') ? 'ross-2017' : null;
}

/** Reads the head of the text, and its options. Null if the text is no such file. */
export function readReadme(text: string): ReadmeFacts | null {
  const end = text.search(/^END\s*$/m);
  if (end < 0) return null;
  const head = headOf(text.slice(0, end));
  const value = (name: string) => head.get(name)?.at(-1);
  const pes = integer(value('NUM_PE'));
  const kps = integer(value('NUM_KP'));
  const granularity = integer(value('GRANULARITY'));
  const lps = (value('LP_PER_PE') ?? '').split(',').filter((part) => part !== '');
  const counts = lps.map((part) => integer(part) ?? -1);
  if (pes === null || kps === null || granularity === null) return null;
  if (pes < 1 || pes > MOST || kps > MOST) return null;
  if (counts.length !== pes || counts.some((count) => count < 0 || count > MOST)) return null;
  const settings = text.slice(end);
  const trace = /^[ \t]*--event-trace[ \t]*\n?[ \t]+([\w-]+)/m.exec(settings);
  const version = /^ROSS Version:[ \t]*(.*)$/m.exec(settings)?.[1] ?? '';
  const types = value('LP_TYPES');
  const order = value('BYTE_ORDER');
  const bytesOf = (name: string) =>
    (head.get(name) ?? []).map(typeBytes).filter((type) => type !== null);
  return {
    granularity,
    pes,
    kps,
    lps: counts,
    eventTrace: traceMode(value('EVENT_TRACE') ?? trace?.[1]),
    layout: layoutOf(value('LAYOUT'), version),
    little: order === undefined ? null : order === 'little',
    era: eraOf(settings),
    types: types === undefined ? null : parseLpTypes(types),
    samples: bytesOf('MODEL_SAMPLE'),
    events: bytesOf('EVENT_DATA'),
  };
}
