/** A file of frames, read from front to back in a bounded amount of memory. */
import { closeSync, openSync, readSync } from 'node:fs';
import type { Batch, Schema } from '../../model/metric.ts';
import { FrameDecoder } from './decode.ts';
import type { FrameError } from './layout.ts';

interface FrameVisitor {
  batch(batch: Batch): void;
  /** Each schema that the file defines, whether rows follow or not. */
  schema?(schema: Schema): void;
  /** Data of other schemas is skipped. */
  wanted?(schema: Schema): boolean;
  /** Each damaged place; without it, the first is thrown. */
  damage?(error: FrameError): void;
}

/** What a scan saw beside the batches. */
interface FrameScan {
  /** Bytes of the file. */
  readonly bytes: number;
  /** Bytes at the end that are not a whole frame: the writer was stopped, or has not finished it yet. */
  readonly cut: number;
  /** Data frames missing by their sequence numbers. */
  readonly lost: number;
}

const CHUNK = 1024 * 1024;

/**
 * Reads all frames that are whole; an end that is cut off is told, not an error.
 * @param file its path, or a descriptor, which is read from byte 0 and left open; `name` is then used in errors
 * @throws FrameError (file, byte offset) for damage without `visitor.damage`; a file system's error as it is
 */
export function scanFrames(
  file: string | number,
  visitor: FrameVisitor,
  name: string = typeof file === 'string' ? file : `descriptor ${file}`,
): FrameScan {
  const decoder = new FrameDecoder({
    file: name,
    ...(visitor.damage && { onDamage: (error) => visitor.damage?.(error) }),
    ...(visitor.schema && { onSchema: (schema) => visitor.schema?.(schema) }),
    ...(visitor.wanted && { wanted: (schema) => visitor.wanted?.(schema) ?? true }),
  });
  const descriptor = typeof file === 'string' ? openSync(file, 'r') : file;
  try {
    const chunk = new Uint8Array(CHUNK);
    let bytes = 0;
    for (;;) {
      const read = readSync(descriptor, chunk, 0, CHUNK, bytes);
      if (read === 0) break;
      bytes += read;
      for (const batch of decoder.push(chunk.subarray(0, read))) visitor.batch(batch);
    }
    const { batches, cut } = decoder.finish();
    for (const batch of batches) visitor.batch(batch);
    // Damage that came behind the last good batches of the last call.
    if (batches.length > 0) decoder.finish();
    return { bytes, cut, lost: decoder.lost };
  } finally {
    if (typeof file === 'string') closeSync(descriptor);
  }
}
