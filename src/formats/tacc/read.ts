/** Raw stats files from disk, plain or gzip, row by row in the order of the file: for callers that need records with their groups. */
import { breath } from '../../os/breath.ts';
import { FormatError } from '../format.ts';
import { openFile } from '../source.ts';
import { openingRaw, type RawFile, type RawOpenOptions } from './open.ts';

/** Bytes that are read before others get their turn. */
const BLOCK_BYTES = 2 ** 20;

/** What is read, and what can end it. */
export interface ReadRawOptions extends Pick<RawOpenOptions, 'types' | 'damage'> {
  /** Ends the reading between two pieces: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Passes on each row of a raw stats file's tables, including `node_group` and `node_mark`, in the order of the file; others
 * get their turn meanwhile.
 * @param take is given a row and its table; both are as they are until the next row
 * @throws FormatError where it is no such file, or cannot be read to its end; what came before was told. The signal's reason
 * @example
 * ```ts
 * import { readRaw } from 'triscope/formats/tacc';
 *
 * const { lines } = await readRaw('archive/c401-101/1795226192.gz', ({ schema, values }, { columns }) =>
 *   console.log(schema.name, columns[0][0], values[0]), // s since 1970, and the first of a record's values
 * );
 * ```
 */
export async function readRaw(
  path: string,
  take: NonNullable<RawOpenOptions['take']>,
  { signal, ...options }: ReadRawOptions = {},
): Promise<RawFile> {
  const source = openFile(path);
  try {
    const how = { inOrder: true, strict: true, bufferBytes: BLOCK_BYTES };
    const opening = openingRaw(source, { ...options, ...how, take });
    for (;;) {
      const step = opening.next();
      if (step.done === true) return whole(path, step.value);
      await breath();
      signal?.throwIfAborted();
    }
  } finally {
    source.close();
  }
}

function whole(path: string, file: RawFile): RawFile {
  if (file.fault === null) return file;
  const what = `after line ${file.lines}: ${file.fault.damage.what}`;
  throw new FormatError({ path, offset: -1, what, skipped: 0 });
}
