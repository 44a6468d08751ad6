/** The checksum of a recording's file when it was finished, so that later changes are noticed. */
import { openFile } from './source.ts';

interface FileSum {
  readonly bytes: number;
  /** 64 hexadecimal digits, in lower case. */
  readonly sha256: string;
}

/** Bytes read at a time: larger pieces are no faster. */
const CHUNK_BYTES = 1 << 20;

/**
 * Reads the whole file: about 0.8 s per GB if it is still in memory.
 * @param until milliseconds as `performance.now()` counts them; the result is null if it is not done by then
 * @throws the operating system's error; FormatError if it is no file
 */
export function fileSum(path: string): FileSum;
export function fileSum(path: string, until: number): FileSum | null;
export function fileSum(path: string, until = Number.POSITIVE_INFINITY): FileSum | null {
  // Loaded when needed: commands start without it.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const source = openFile(path);
  try {
    const hash = createHash('sha256');
    const chunk = new Uint8Array(CHUNK_BYTES);
    let bytes = 0;
    for (;;) {
      const got = source.read(bytes, chunk);
      if (got === 0) return { bytes, sha256: hash.digest('hex') };
      hash.update(chunk.subarray(0, got));
      bytes += got;
      if (performance.now() > until) return null;
    }
  } finally {
    source.close();
  }
}
