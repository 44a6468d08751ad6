/** Files with one number each, in one folder, as /sys has them. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { hasVanished } from './devices.ts';
import { isNumber } from './scan.ts';

const BLANK = 0x20;

const isDigits = (text: string) => /^\s*\d+\s*$/.test(text);

export class NumberFiles {
  private readonly tree: NodeTree;
  private readonly folder: string;
  private readonly names: readonly string[];
  /** By number of the key: null where the kernel has no such file; without an entry until the key is first read. */
  private readonly files: (KernelFile | null)[] = [];

  constructor(tree: NodeTree, folder: string, names: readonly string[]) {
    this.tree = tree;
    this.folder = folder;
    this.names = names;
  }

  /**
   * Adds a value per file: 0 where there is none, or no number in it.
   * @throws Error where the device has vanished, UnavailableError where it has none of the files
   */
  write(writer: RawWriter): void {
    for (let k = 0; k < this.names.length; k++) this.writeOne(writer, k);
    if (this.files.every((file) => file === null)) {
      throw new UnavailableError(`${this.folder} has none of the numbers`);
    }
  }

  private file(k: number): KernelFile | null {
    let file = this.files[k];
    if (file === undefined) {
      try {
        file = this.tree.open(`${this.folder}/${this.names[k]}`);
      } catch {
        file = null;
      }
      this.files[k] = file;
    }
    return file;
  }

  /** Adds the value of file `k`. @throws Error where the device has vanished */
  writeOne(writer: RawWriter, k: number): void {
    const file = this.file(k);
    if (file === null) {
      writer.number(0);
      return;
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

  /** Whether there is a number in each file. */
  readable(): boolean[] {
    return this.names.map((_, k) => {
      const file = this.file(k);
      if (file === null) return false;
      try {
        return isDigits(file.bytes.toString('latin1', 0, file.readPiece()));
      } catch {
        return false;
      }
    });
  }

  close(): void {
    for (const file of this.files) file?.close();
  }
}
