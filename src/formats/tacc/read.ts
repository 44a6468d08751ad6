/** Raw stats files from disk, plain or gzip. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { isGzip } from './blocks.ts';
import { detectRaw } from './detect.ts';
import { RawParser, type RawParserOptions } from './parser.ts';
import type { RawSummary, RawVisitor } from './visitor.ts';

/** A file that cannot be read as a raw stats file. The message names the file and the place. */
export class TaccError extends Error {
  override readonly name = 'TaccError';
}

const BLOCK = 2 ** 20;
async function isPacked(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(2);
    await file.read(head, 0, 2, 0);
    return isGzip(head);
  } finally {
    await file.close();
  }
}

async function* blocksOf(path: string): AsyncGenerator<Uint8Array> {
  const gzip = await isPacked(path);
  const bytes = createReadStream(path, { highWaterMark: BLOCK });
  if (!gzip) {
    yield* bytes;
    return;
  }
  const gunzip = createGunzip({ chunkSize: BLOCK });
  bytes.on('error', (error) => gunzip.destroy(error));
  yield* bytes.pipe(gunzip);
}

const BAD_GZIP = /^Z_/;

function reasonOf(error: NodeJS.ErrnoException, line: number): string {
  if (error.code === 'ENOENT') return 'there is no such file';
  if (error.code === 'EISDIR') return 'is a folder, not a raw stats file';
  if (error.code === 'EACCES') return 'it may not be read by this user';
  if (BAD_GZIP.test(error.code ?? '')) {
    return `after line ${line}: damaged gzip (${error.message}); what came before was read`;
  }
  return error.message;
}

/**
 * Reads a raw stats file, plain or gzip, or pieces of one (then `name` says where they are from). What is readable is
 * delivered; lines that cannot be used go to `visitor.problem`.
 * @param signal ends it between two pieces
 * @throws TaccError where it is no such file, or cannot be read to its end; what came before was delivered. The signal's reason
 */
export async function readRaw(
  source: string | AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  visitor: RawVisitor,
  name = typeof source === 'string' ? source : 'input',
  { signal, ...options }: RawParserOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<RawSummary> {
  const parser = new RawParser(visitor, options);
  let first = true;
  try {
    for await (const block of typeof source === 'string' ? blocksOf(source) : source) {
      if (first && block.length > 0) {
        first = false;
        if (typeof source === 'string' && detectRaw(block) === null) {
          throw new TaccError(
            `${name}: line 1: not a raw stats file, which begins with $tacc_stats or $hpcperfstats`,
          );
        }
      }
      parser.push(block);
      signal?.throwIfAborted();
    }
  } catch (error) {
    if (error instanceof TaccError || signal?.aborted) throw error;
    const { lines } = parser.end();
    throw new TaccError(`${name}: ${reasonOf(error as NodeJS.ErrnoException, lines)}`);
  }
  if (first) throw new TaccError(`${name}: line 1: empty, not a raw stats file`);
  return parser.end();
}
