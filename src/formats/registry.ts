/** The formats that are known, and how a file finds its own. */
import type { Detection, FileSource, Format, PassOptions } from './format.ts';
import { FormatError } from './format.ts';
import { FRAMES } from './frames/format.ts';
import { GEOPM } from './geopm/format.ts';
import type { OpenFile } from './part.ts';
import { ROSS } from './ross/format.ts';
import { endOf, openFile } from './source.ts';
import { TACC } from './tacc/format.ts';
import { TRACE_EVENT } from './trace-event/format.ts';

/** A new format is a line here: those that tell by a few bytes before those that try layouts. */
export const FORMATS: Format[] = [FRAMES, TACC, GEOPM, TRACE_EVENT, ROSS];

/** Bytes of a file's beginning that formats look at. */
const HEAD_BYTES = 1 << 18;

/** From this confidence on no other format is asked. */
const CERTAIN = 0.9;

/** A format, and why a file is of it. */
export interface Identified {
  /** The format. */
  readonly format: Format;
  /** Why the format claims the file. */
  readonly detection: Detection;
}

/**
 * The format that is surest to be a file's; null where the file is of none.
 * @example
 * ```ts
 * import { identify, openFile } from 'triscope/formats';
 *
 * const source = openFile('unknown.bin');
 * console.log(identify(source)?.detection.because); // undefined where no format knows it
 * source.close();
 * ```
 */
export function identify(source: FileSource, formats = FORMATS): Identified | null {
  const head = new Uint8Array(Math.min(source.size, HEAD_BYTES));
  const bytes = head.subarray(0, source.read(0, head));
  let best: Identified | null = null;
  for (const format of formats) {
    const detection = format.detect(bytes, source);
    if (detection === null) continue;
    if (best === null || detection.confidence > best.detection.confidence) {
      best = { format, detection };
    }
    if (detection.confidence >= CERTAIN) break;
  }
  return best;
}

/**
 * The format that is surest to be a file's.
 * @throws FormatError where the file is of none
 * @example
 * ```ts
 * import { identifyOrFail, openFile } from 'triscope/formats';
 *
 * const source = openFile('geopm.report');
 * console.log(identifyOrFail(source).format.name);
 * source.close();
 * ```
 */
export function identifyOrFail(source: FileSource, formats = FORMATS): Identified {
  const found = identify(source, formats);
  if (found !== null) return found;
  const names = formats.map(({ name }) => name).join(', ');
  const what =
    source.size === 0 ? 'the file is empty' : 'its content is of no format that is known';
  throw new FormatError({ path: source.path, offset: -1, what, skipped: 0 }, `known: ${names}`);
}

/** A file's parts. The caller closes it. */
export interface OpenedFile extends OpenFile {
  /** Name of the format. */
  readonly format: string;
  /** Remembers the file's end. The function returned tells later whether it is still there, that is, whether the file was only appended to. */
  remember(): () => boolean;
  /** Closes the file. */
  close(): void;
}

/** Bytes at the end of what was read by which a file is known again. */
const KNOWN_BY_BYTES = 512;

/** Below this confidence a file may be of no format at all: it is not opened unless a recording names its format. */
const SURE = 0.5;

/**
 * Opens a file's data.
 * @param named the format that a recording says it has; null: its content tells
 * @returns null where its content is of no format that is known
 * @throws a file system's error as it is, FormatError
 * @example
 * ```ts
 * import { openData } from 'triscope/formats';
 *
 * const file = openData('stats-output/ross-stats-gvt.bin', null);
 * for (const { schema, rows } of file?.parts ?? []) console.log(schema.name, rows);
 * file?.close();
 * ```
 */
export function openData(
  path: string,
  named: string | null,
  options: PassOptions = {},
): OpenedFile | null {
  const source = openFile(path);
  let keep = false;
  try {
    const found = identify(source);
    const sure = (found?.detection.confidence ?? 0) < SURE ? undefined : found?.format;
    const format = FORMATS.find(({ name }) => name === named) ?? sure;
    if (format === undefined) return null;
    const open = format.open(source, options);
    source.forget();
    keep = true;
    return Object.assign(Object.create(open) as OpenFile, {
      format: format.name,
      remember: () => {
        const end = endOf(source, KNOWN_BY_BYTES);
        const at = source.size - end.length;
        return () => {
          const now = new Uint8Array(end.length);
          return source.read(at, now) === end.length && Buffer.compare(now, end) === 0;
        };
      },
      close: () => source.close(),
    });
  } finally {
    if (!keep) source.close();
  }
}
