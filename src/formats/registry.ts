/** The formats that are known, and how a file finds its own. */
import type { Detection, FileSource, Format } from './format.ts';
import { FormatError } from './format.ts';
import { FRAMES } from './frames/format.ts';
import { GEOPM } from './geopm/format.ts';
import { ROSS } from './ross/format.ts';
import { TACC } from './tacc/format.ts';

/** A new format is a line here: those that tell by a few bytes before those that try layouts. */
export const FORMATS: readonly Format[] = [FRAMES, TACC, GEOPM, ROSS];

/** Bytes of a file's beginning that formats look at. */
const HEAD_BYTES = 1 << 18;

/** From this confidence on no other format is asked. */
const CERTAIN = 0.9;

export interface Identified {
  readonly format: Format;
  readonly detection: Detection;
}

/** The format that is surest of a file; null where none knows it. */
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

/** The same, for a file that must have one. @throws FormatError */
export function identifyOrFail(source: FileSource, formats = FORMATS): Identified {
  const found = identify(source, formats);
  if (found !== null) return found;
  const names = formats.map(({ name }) => name).join(', ');
  const what =
    source.size === 0 ? 'the file is empty' : 'its content is of no format that is known';
  throw new FormatError({ path: source.path, offset: -1, what, skipped: 0 }, `known: ${names}`);
}
