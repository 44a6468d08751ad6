/** Recognises raw stats files by their first lines. */
import type { Detection } from '../format.ts';
import { isGzip, unpackedHead } from './blocks.ts';

/** What such a file begins with: the program was renamed in 2025. */
const BEGINNING = /^\$(tacc_stats|hpcperfstats)[ \t]+(\S*)/;
/** What the first lines of a file without its header look like. */
const GROUP = /^\d{9,11}(\.\d{1,9})?( [^\s]+){0,2}$/;
const SCHEMA = /^![A-Za-z]\w*( \S+)+$/;
const RECORD = /^[A-Za-z]\w* \S+( \d{1,20})+$/;
const PROPERTY = /^\$(hostname|uname|uptime) /;
const PASSED_OVER = /^(#.*|@.*|%.*|)$/;

const LOOKED_AT_BYTES = 1 << 14;
const LEAST_LINES = 3;
/** One line in this many may be unreadable. */
const STRANGE = 10;

/**
 * Whether a file whose first bytes are these is a raw stats file (when unpacked), header and all.
 * @example
 * ```ts
 * import { looksRaw } from 'triscope/formats/tacc';
 *
 * looksRaw(new TextEncoder().encode('PE,KP,LP\n')); // false
 * ```
 */
export function looksRaw(head: Uint8Array): boolean {
  return BEGINNING.test(Buffer.from(head.subarray(0, 16)).toString('latin1'));
}

/** A file that has lost its first lines: most others have the form of raw stats files. */
function headless(text: string): Detection | null {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  // The last may be cut off.
  lines.pop();
  let times = 0;
  let known = 0;
  let strange = 0;
  lines.forEach((line, k) => {
    if (PASSED_OVER.test(line)) return;
    if (GROUP.test(line)) times++;
    else if (!SCHEMA.test(line) && !PROPERTY.test(line) && !RECORD.test(line)) {
      // The first may have been cut at its beginning.
      if (k === 0) return;
      strange++;
    }
    known++;
  });
  if (known < LEAST_LINES || times === 0 || strange * STRANGE > known) return null;
  return {
    confidence: 0.8,
    because: 'its lines have the shapes of a raw stats file, whose first is missing',
    era: 'tacc_stats, version unknown',
  };
}

/**
 * Null: it is none. Certain if the first line says so.
 * @example
 * ```ts
 * import { detectRaw } from 'triscope/formats/tacc';
 *
 * detectRaw(new TextEncoder().encode('$tacc_stats 2.3.5\n$hostname c401-101\n'))?.era;
 * ```
 */
export function detectRaw(head: Uint8Array): Detection | null {
  const packed = isGzip(head);
  return detectText(packed ? unpackedHead(head.subarray(0, LOOKED_AT_BYTES)) : head, packed);
}

/** The same for what a file unpacks to. */
export function detectText(bytes: Uint8Array, packed: boolean): Detection | null {
  const text = Buffer.from(bytes.subarray(0, LOOKED_AT_BYTES)).toString('latin1');
  const match = BEGINNING.exec(text);
  if (match !== null) {
    const [line, program, version] = match;
    return {
      confidence: 1,
      because: `its first line is ${line}${packed ? ', when unpacked' : ''}`,
      era: `${program} ${version}`.trim(),
    };
  }
  return headless(text);
}
