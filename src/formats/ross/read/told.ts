/** What others tell about a file that does not tell it itself: the user, the recording around it, or the text beside it. */
import { basename } from 'node:path';
import { RECORDING_FILE } from '../../../model/recording.ts';
import type { FileSource, ScanOptions } from '../../format.ts';
import { checkGiven, type TypeBytes } from '../../model-bytes.ts';
import { PayloadLayoutError, payloadLayout } from '../../payload.ts';
import { textBeside } from '../../source.ts';
import { type LpTypes, lpTypesOfMapping, parseLpTypes } from '../lp-types.ts';
import { isRossLayout, ROSS_LAYOUTS, type RossLayout } from '../write/layout.ts';
import { type ReadmeFacts, readReadme } from './readme.ts';
import type { ModelSizes } from './walk-old.ts';

/** Bytes of a README with the types of very many LPs. */
export const MOST_README_BYTES = 1 << 25;
/** The same of an `lp-mapping.txt`. */
const MOST_MAPPING = 1 << 28;

type Suffix = 'gvt' | 'rt' | 'evtrace' | 'model' | 'analysis-lps';

const NAME = /^(.*)-(gvt|rt|evtrace|model|analysis-lps)\.bin$/;

/** The model's bytes after records, by the LP to which a record belongs. */
export interface ModelBytes {
  readonly types: readonly TypeBytes[];
  /** Number of an LP's type in `types`; -1 if it has none. */
  readonly typeOf: (lp: number) => number;
  /** What every LP's records have; null if LPs differ. */
  readonly uniform: number | null;
  /** False if only fields are told and records may have more bytes than these. */
  readonly exact: boolean;
}

export interface Told {
  /** From the file's name. */
  readonly prefix: string | null;
  readonly suffix: Suffix | null;
  readonly facts: ReadmeFacts | null;
  /** The layout's name, and who tells it: “its README.txt”. */
  readonly layout: RossLayout | null;
  readonly layoutBy: string;
  readonly model: ModelBytes | null;
  readonly modelBy: string;
}

interface Said {
  readonly types: readonly TypeBytes[];
  readonly lps: string | null;
  readonly exact: boolean;
  readonly by: string;
}

const file = (source: FileSource) => basename(source.path);

interface NamedFile {
  readonly path?: unknown;
  readonly payload?: unknown;
  readonly modelBytes?: unknown;
}

/** What the recording around a file tells about the model's bytes. */
function inRecording(source: FileSource): Said[] {
  for (const place of [RECORDING_FILE, `../${RECORDING_FILE}`]) {
    const text = textBeside(source, place);
    if (text === null) continue;
    try {
      const { sources = [] } = JSON.parse(text) as { sources?: { files?: NamedFile[] }[] };
      const entry = sources
        .flatMap(({ files = [] }) => files)
        .find(({ path }) => typeof path === 'string' && basename(path) === file(source));
      const said = entry?.modelBytes ?? entry?.payload;
      if (said !== undefined) return [{ ...checkGiven(said, place), by: RECORDING_FILE }];
    } catch {
      // A recording's own reader reports what is wrong with it; the file can be read without it.
    }
  }
  return [];
}

const USER = '--layout';

/** The type of each LP: as given, else from the text that lists all; null if neither exists. */
function lpTypes({ lps }: Said, source: FileSource, facts: ReadmeFacts | null): LpTypes | null {
  if (lps !== null) return parseLpTypes(lps);
  if (facts?.types != null) return facts.types;
  const text = textBeside(source, 'lp-mapping.txt', MOST_MAPPING);
  return text === null ? null : lpTypesOfMapping(text);
}

/** @throws PayloadLayoutError if a user names types without telling which LP has which */
function modelBytes(said: Said, source: FileSource, facts: ReadmeFacts | null): ModelBytes | null {
  const { types, exact, by } = said;
  const [only] = types;
  if (types.length === 1 && only.name === '') {
    return { types, typeOf: () => 0, uniform: only.bytes, exact };
  }
  const of = lpTypes(said, source, facts);
  if (of === null) {
    if (by !== USER) return null;
    throw new PayloadLayoutError(
      `${USER}: the type of each LP is not known; add a line such as "lps": "router*4,terminal*16", or put lp-mapping.txt beside ${source.path}`,
    );
  }
  const numbers = of.names.map((name) => types.findIndex((type) => type.name === name));
  const sizes = new Set(numbers.map((number) => types[number]?.bytes ?? -1));
  const [size] = sizes;
  return {
    types,
    typeOf: (lp) => numbers[of.typeOf(lp)] ?? -1,
    uniform: sizes.size === 1 && size >= 0 ? size : null,
    exact,
  };
}

const layoutNamed = (name: string): RossLayout => {
  if (isRossLayout(name)) return name;
  throw new PayloadLayoutError(
    `--layout: there is no layout ${name}; there are ${ROSS_LAYOUTS.join(', ')}, or a file with the model’s bytes`,
  );
};

/** @throws PayloadLayoutError if what the user tells is impossible */
export function toldOf(source: FileSource, options: ScanOptions = {}): Told {
  const match = NAME.exec(file(source));
  const [prefix, suffix] = match === null ? [null, null] : [match[1], match[2] as Suffix];
  const readme =
    prefix === null ? null : textBeside(source, `${prefix}-README.txt`, MOST_README_BYTES);
  const facts = readme === null ? null : readReadme(readme);
  const { given = null, payload } = options;
  const layout = given?.layout == null ? (facts?.layout ?? null) : layoutNamed(given.layout);
  const own = suffix === 'evtrace' ? facts?.events : facts?.samples;
  const fields = payload && { bytes: payloadLayout(payload).size, fields: payload, name: '' };
  const said = [
    ...(fields ? [{ types: [fields], lps: null, exact: false, by: 'the layout given' }] : []),
    ...(given === null ? [] : [{ ...given, by: USER }]),
    ...inReadme(prefix, facts, own ?? []),
    ...inRecording(source),
  ].find(({ types }) => types.length > 0);
  return {
    prefix,
    suffix,
    facts,
    layout,
    layoutBy: given?.layout == null ? 'its README.txt' : USER,
    model: said === undefined ? null : modelBytes(said, source, facts),
    modelBy: said?.by ?? '',
  };
}

/** What a README tells about the model's bytes. If Triscope's README mentions none, no LP adds any. */
function inReadme(
  prefix: string | null,
  facts: ReadmeFacts | null,
  types: readonly TypeBytes[],
): Said[] {
  if (facts === null) return [];
  const none = { name: '', bytes: 0, fields: null };
  const all = types.length === 0 && facts.little !== null ? [none] : types;
  return [{ types: all, lps: null, exact: true, by: `${prefix}-README.txt` }];
}

/** Bytes of the model after records, for walks. */
export const sizesOf = ({ types, typeOf, uniform }: ModelBytes): ModelSizes =>
  uniform ?? ((lp) => types[typeOf(lp)]?.bytes ?? -1);
