/** A file of /proc that is read again and again through one descriptor. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { readAt } from './raw-calls.ts';

const SPACE = 4096;
/** What `readBytes` has read last. */
export const shared = Buffer.allocUnsafe(SPACE);

/** Descriptors that are kept at most: the others are opened anew for each reading. */
const MOST_KEPT = 4096;
let kept = 0;

export class ProcFile {
  private readonly path: string;
  private file = -1;

  constructor(path: string) {
    this.path = path;
  }

  /** Its text; null where it is not there, cannot be read, or what it is about has ended. */
  read(): string | null {
    const bytes = this.readBytes();
    return bytes === 0 ? null : shared.toString('latin1', 0, bytes);
  }

  /** Reads it into `shared`. Returns how many bytes it has: 0 where it cannot be read, or what it is about has ended. */
  readBytes(): number {
    try {
      if (this.file < 0) {
        if (kept >= MOST_KEPT) return readFileSync(this.path).copy(shared);
        this.file = openSync(this.path, 'r');
        kept++;
      }
      return readAt(this.file, shared, SPACE, 0);
    } catch {
      this.close();
      return 0;
    }
  }

  close(): void {
    if (this.file < 0) return;
    closeSync(this.file);
    this.file = -1;
    kept--;
  }
}

/** Text of a file that is read once; null where it cannot be. */
export function textOf(path: string): string | null {
  let file = -1;
  try {
    file = openSync(path, 'r');
    let used = 0;
    // Short texts, which nearly all are, go through one buffer that is there: it takes half of the time of `readFileSync`.
    for (let got = -1; got !== 0; used += got) {
      if (used === SPACE) return readFileSync(path, 'latin1');
      got = readSync(file, shared, used, SPACE - used, used);
    }
    return shared.toString('latin1', 0, used);
  } catch {
    return null;
  } finally {
    if (file >= 0) closeSync(file);
  }
}
