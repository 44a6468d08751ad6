/**
 * Numbers after known words in the files of one folder, such as `total=` in the line `some avg10=0.00 … total=12`
 * of a pressure file. For short files with few numbers; `key-lines.ts` is for long ones.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { Metric } from '../../model/metric.ts';
import type { KernelFile } from '../kernel-file.ts';
import type { NodeTree } from '../tree.ts';

/** A key, and where its number is found. */
export interface FileField {
  readonly metric: Metric;
  /** The file's name in the folder. */
  readonly file: string;
  /** The number comes after these words, which follow one another. The text is taken to begin after a line feed. */
  readonly after: readonly string[];
}

/** The only number in a file. */
export const alone = (metric: Metric, file: string): FileField => ({ metric, file, after: ['\n'] });
/** A number in a line that begins with its key. */
export const keyed = (metric: Metric, file: string, key = metric.key): FileField => ({
  metric,
  file,
  after: [`\n${key} `],
});

const MAX = 2n ** 64n - 1n;
/** Numbers with at most this many digits are exact as a double. */
const EXACT = 15;

/** The file's text in `bytes[0, end)`, after a line feed. */
export const textOf = ({ bytes }: KernelFile, end: number): string =>
  `\n${bytes.toString('latin1', 0, end)}`;

/** The digits of a 64-bit number after these words; null if there are none. */
export function digitsAfter(text: string, words: readonly string[]): string | null {
  let at = 0;
  for (const word of words) {
    const found = text.indexOf(word, at);
    if (found < 0) return null;
    at = found + word.length;
  }
  const number = /\d+(?![^\s])/y;
  number.lastIndex = at;
  const [digits] = number.exec(text) ?? [];
  if (digits === undefined || (digits.length > EXACT && BigInt(digits) > MAX)) return null;
  return digits;
}

/** The fields that a folder has now. */
export function fieldsHere(
  tree: NodeTree,
  folder: string,
  fields: readonly FileField[],
): readonly FileField[] {
  return fields.filter(({ file, after }) => {
    const text = tree.text(`${folder}/${file}`);
    return text !== null && digitsAfter(`\n${text}\n`, after) !== null;
  });
}

/** A folder's fields, read again and again. */
export class FileFields {
  private readonly fields: readonly FileField[];
  private readonly files = new Map<string, KernelFile>();

  /** @throws UnavailableError if a file of the fields cannot be opened */
  constructor(tree: NodeTree, folder: string, fields: readonly FileField[]) {
    this.fields = fields;
    try {
      for (const { file } of fields) {
        if (!this.files.has(file)) this.files.set(file, tree.open(`${folder}/${file}`));
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Adds a value per field. @throws Error if one is missing: nothing is written in its place */
  write(writer: RawWriter): void {
    const texts = new Map<string, string>();
    for (const [name, file] of this.files) texts.set(name, textOf(file, file.readPiece()));
    for (const { metric, file, after } of this.fields) {
      const digits = digitsAfter(texts.get(file) ?? '', after);
      if (digits === null) throw new Error(`${this.files.get(file)?.path} has no ${metric.key}`);
      if (digits.length <= EXACT) writer.number(Number(digits));
      else writer.bigint(BigInt(digits));
    }
  }

  close(): void {
    for (const file of this.files.values()) file.close();
  }
}
