/** Files as parts of tables: one entry for each format. */
import { closeSync, openSync, readSync } from 'node:fs';
import { openFrames } from '../formats/frames/index.ts';
import {
  looksRaw,
  RawBatches,
  type RawVisitor,
  readRaw,
  TaccError,
} from '../formats/tacc/index.ts';
import type { Schema } from '../model/metric.ts';
import { MemoryPart, type Suspect, type TablePart } from './part.ts';

export interface Loaded {
  readonly parts: readonly TablePart[];
  readonly suspects: readonly Suspect[];
  close(): void;
}

export interface Loader {
  readonly format: string;
  /** Whether a file with this beginning is one; `head` has up to `HEAD_BYTES` bytes. */
  detect(head: Uint8Array, path: string): boolean;
  load(path: string): Promise<Loaded>;
}

const HEAD_BYTES = 4096;

const FRAMES: Loader = {
  format: 'frames',
  detect: (head, path) =>
    Buffer.from(head.subarray(0, 4)).toString('latin1') === 'TRIF' || path.endsWith('.frames'),
  async load(path) {
    const { tables, damage, cut, lost, close } = openFrames(path);
    const suspects = damage.map(({ offset, what }) => ({
      file: path,
      what: `byte ${offset}: ${what}`,
    }));
    const tell = (what: string) => suspects.push({ file: path, what });
    if (cut > 0) tell(`its last ${cut} bytes are not a whole frame: the writer was stopped`);
    if (lost > 0) tell(`${lost} frames of samples are missing`);
    return { parts: tables, suspects, close };
  },
};

const isGzip = (head: Uint8Array): boolean => head[0] === 0x1f && head[1] === 0x8b;

/** Raw stats files are read as a whole: they are text, and small beside samples. */
const RAW_STATS: Loader = {
  format: 'tacc',
  detect: (head, path) => looksRaw(head) || (isGzip(head) && /(^|[/\\])\d+\.gz$/.test(path)),
  async load(path) {
    const parts = new Map<Schema, MemoryPart>();
    const suspects: Suspect[] = [];
    const batches = new RawBatches((batch) => {
      let part = parts.get(batch.schema);
      if (part === undefined) {
        part = new MemoryPart(batch.schema);
        parts.set(batch.schema, part);
      }
      part.add(batch);
    });
    const visitor: RawVisitor = {
      property: (name, value) => batches.property(name, value),
      schema: (schema) => batches.schema(schema),
      group: (group) => batches.group(group),
      record: (schema, device, values) => batches.record(schema, device, values),
      problem: ({ line, reason }) => suspects.push({ file: path, what: `line ${line}: ${reason}` }),
    };
    try {
      await readRaw(path, visitor);
    } catch (error) {
      if (!(error instanceof TaccError)) throw error;
      // What came before was delivered.
      suspects.push({ file: path, what: error.message.replace(`${path}: `, '') });
    }
    batches.flush();
    return { parts: [...parts.values()], suspects, close() {} };
  },
};

/** The first that knows a file reads it. */
const LOADERS: readonly Loader[] = [FRAMES, RAW_STATS];

/** The loader for a file; null where none knows it. @throws a file system's error as it is */
export function loaderFor(path: string): Loader | null {
  const head = new Uint8Array(HEAD_BYTES);
  const descriptor = openSync(path, 'r');
  try {
    const read = readSync(descriptor, head, 0, HEAD_BYTES, 0);
    return LOADERS.find((one) => one.detect(head.subarray(0, read), path)) ?? null;
  } finally {
    closeSync(descriptor);
  }
}
