/** Raw stats files from disk, plain or gzip, for who needs more than their tables: headers, groups and marks in their order. */
import { breath } from '../../os/breath.ts';
import { FormatError } from '../format.ts';
import { openFile } from '../source.ts';
import { blocksOf } from './blocks.ts';
import { detectRaw } from './detect.ts';
import { RawParser, type RawParserOptions } from './parser.ts';
import type { RawSummary, RawVisitor } from './visitor.ts';

/** Bytes that are parsed before others get their turn. */
const BLOCK = 2 ** 20;

/**
 * Reads a raw stats file. What is readable is delivered; lines that cannot be used go to `visitor.problem`.
 * @param signal ends it between two pieces
 * @throws FormatError where it is no such file, or cannot be read to its end; what came before was delivered. The signal's reason
 * @example
 * ```ts
 * import { readRaw } from 'triscope/formats/tacc';
 *
 * const { groups, problems } = await readRaw('archive/c401-101/1795226192.gz', {
 *   record: (schema, device, values) => console.log(schema.type, device, values[0]),
 * });
 * ```
 */
export async function readRaw(
  path: string,
  visitor: RawVisitor,
  { signal, ...options }: RawParserOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<RawSummary> {
  const source = openFile(path);
  const fault = (what: string, line?: number) =>
    new FormatError({ path, offset: -1, ...(line !== undefined && { line }), what, skipped: 0 });
  const parser = new RawParser(visitor, options);
  let first = true;
  try {
    for (const block of blocksOf(source, BLOCK)) {
      if (first && detectRaw(block) === null) {
        throw fault('not a raw stats file, which begins with $tacc_stats or $hpcperfstats', 1);
      }
      first = false;
      parser.push(block);
      await breath();
      signal?.throwIfAborted();
    }
  } catch (error) {
    if (first || !(error instanceof FormatError)) throw error;
    throw fault(`after line ${parser.end().lines}: ${error.damage.what}`);
  } finally {
    source.close();
  }
  if (first) throw fault('empty, not a raw stats file', 1);
  return parser.end();
}
