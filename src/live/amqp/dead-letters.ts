/**
 * Messages that cannot be filed, one JSON object per line, so that they are not lost:
 *
 * ```json
 * {"at":"2026-03-01T12:00:00.000Z","reason":"it is not UTF-8","bytes":"JP/+"}
 * ```
 *
 * `text` instead of `bytes` (base64) if it is UTF-8. The file has a maximum size; further messages are only counted.
 */

import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, ftruncateSync, openSync, writeFileSync } from 'node:fs';

/** Default maximum bytes of the file. */
const MOST_BYTES = 64 << 20;

/** Adds a line to a file of `size` bytes, or nothing. @throws the file system's error */
function addWhole(file: number, size: number, line: Uint8Array): void {
  try {
    writeFileSync(file, line);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

export class DeadLetters {
  readonly path: string;
  private readonly most: number;
  private _isFull = false;

  constructor(path: string, most = MOST_BYTES) {
    this.path = path;
    this.most = most;
  }

  /** Whether some message had no room. */
  get isFull(): boolean {
    return this._isFull;
  }

  /** Adds a message; returns whether there was room. @throws the file system's error */
  add(message: Uint8Array, reason: string): boolean {
    const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    const held = isUtf8(bytes) ? { text: bytes.toString() } : { bytes: bytes.toString('base64') };
    const at = new Date().toISOString();
    const line = Buffer.from(`${JSON.stringify({ at, reason, ...held })}\n`);
    const file = openSync(this.path, 'a', 0o644);
    try {
      const { size } = fstatSync(file);
      this._isFull = size + line.length > this.most;
      if (!this._isFull) addWhole(file, size, line);
    } finally {
      closeSync(file);
    }
    return !this._isFull;
  }
}
