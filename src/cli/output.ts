/** Data on stdout in large pieces, written at once: nothing piles up, and a reader that goes away is noticed. */
import { writeSync } from 'node:fs';
import { guarded } from './terminal.ts';

const PIECE = 1 << 16;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Writes all of `bytes`; false where nobody reads any more. */
function writeAll(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at, bytes.length - at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EPIPE') return false;
      if (code !== 'EAGAIN') throw error;
      // A pipe that does not block, and is full.
      Atomics.wait(sleeper, 0, 0, 1);
    }
  }
  return true;
}

export class Output {
  private text = '';
  /** Whether the reader has gone away, as in `| head`: the rest is not wanted. */
  closed = false;

  write(text: string): void {
    this.text += text;
    if (this.text.length >= PIECE) this.flush();
  }

  flush(): void {
    if (this.text === '' || this.closed) return;
    this.closed = !writeAll(
      Buffer.from(process.stdout.isTTY === true ? guarded(this.text) : this.text),
    );
    this.text = '';
  }
}
