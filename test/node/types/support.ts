/** Trees of `proc` and `sys` that tests build, and what is collected from them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Collection, type CollectionOptions } from 'triscope/node';
import { afterAll } from 'vitest';

export const folder = mkdtempSync(join(tmpdir(), 'triscope-types-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let trees = 0;

/** A tree with these files: path and text. */
export function tree(files: Readonly<Record<string, string | Uint8Array>>): string {
  const root = join(folder, `tree${trees++}`);
  mkdirSync(join(root, 'proc'), { recursive: true });
  put(root, files);
  return root;
}

export function put(root: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

export interface Collected {
  readonly lines: readonly string[];
  /** Type and reason. */
  readonly failed: readonly string[];
  readonly absent: readonly string[];
}

/** A collection that stays open: each `collect` gives the records of that moment. */
export function open(
  root: string | undefined,
  types: readonly string[],
  options: CollectionOptions = {},
): { collect(): Collected; close(): void } {
  let text = '';
  const sink = (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString();
  };
  const collection = new Collection(sink, { ...options, ...(root && { root }), types });
  const collect = (): Collected => {
    text = '';
    const failed: string[] = [];
    collection.collect(['7'], undefined, ({ type, reason }) => failed.push(`${type}: ${reason}`));
    const lines = text.split('\n').slice(2, -1);
    return { lines, failed, absent: collection.absent.map(({ type }) => type) };
  };
  return { collect, close: () => collection.close() };
}

/** One collection of one type, or several. */
export function collect(root: string | undefined, ...types: string[]): Collected {
  const opened = open(root, types);
  try {
    return opened.collect();
  } finally {
    opened.close();
  }
}

/** The records of one collection; nothing may have failed. */
export function records(root: string, ...types: string[]): readonly string[] {
  const { lines, failed } = collect(root, ...types);
  if (failed.length > 0) throw new Error(failed.join('\n'));
  return lines;
}

/** The schema line of a type on this tree. */
export function schema(root: string, type: string): string | undefined {
  let text = '';
  const sink = (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString();
  };
  const collection = new Collection(sink, { root, types: [type] });
  collection.writer.header();
  collection.close();
  return text.split('\n').find((line) => line.startsWith('!'));
}
