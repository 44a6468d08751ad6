/** Files with one number each, in one folder, as /sys has them. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { hasVanished } from './devices.ts';
import { isNumber } from './scan.ts';

const BLANK = 0x20;

export class NumberFiles {
  /** null where the kernel offers no such number. */
  readonly #files: readonly (KernelFile | null)[];

  /** @throws UnavailableError where there is none of them */
  constructor(tree: NodeTree, folder: string, names: readonly string[]) {
    this.#files = names.map((name) => {
      try {
        return tree.open(`${folder}/${name}`);
      } catch {
        return null;
      }
    });
    if (this.#files.every((file) => file === null)) {
      throw new UnavailableError(`${folder} has none of the numbers`);
    }
  }

  /** Adds a value per file: 0 where there is none, or no number in it. @throws Error where the device has vanished */
  write(writer: RawWriter): void {
    for (const file of this.#files) {
      if (file === null) {
        writer.number(0);
        continue;
      }
      let end = 0;
      try {
        end = file.readPiece();
      } catch (error) {
        // Some counters exist and are refused: by ports that do not have them.
        if (hasVanished(error)) throw error;
      }
      const bytes = file.bytes;
      while (end > 0 && bytes[end - 1] <= BLANK) end--;
      let from = 0;
      while (from < end && bytes[from] <= BLANK) from++;
      if (isNumber(bytes, from, end)) writer.digits(bytes, from, end);
      else writer.number(0);
    }
  }

  close(): void {
    for (const file of this.#files) file?.close();
  }
}
