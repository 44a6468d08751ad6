/**
 * What speaks for a layout in a file's beginning. All records are examined, not only those before the first impossible
 * one: a flipped bit in a file's first record tells as little about the file as one in its last.
 */
import { BAD, Block, Chunk, LP, SHORT, WIDE_LP } from './chunk.ts';
import type { RossFileLayout } from './layouts.ts';

export interface LayoutEvidence {
  /** Records that are possible and plausible. */
  readonly good: number;
  /** Places where no record is possible. */
  readonly bad: number;
  /** Bytes of the good records, without the model's: what the layout explains. */
  readonly explained: number;
  /** Whether records reach to the end of what was examined. */
  readonly whole: boolean;
  /** LPs' samples of either size. */
  readonly lps: number;
  readonly wideLps: number;
}

export const NO_EVIDENCE: LayoutEvidence = {
  good: 0,
  bad: 0,
  explained: 0,
  whole: false,
  lps: 0,
  wideLps: 0,
};

const BLOCK_RECORDS = 64;
/** Bytes to examine, and least number of records if these are larger. */
const LOOK_BYTES = 1 << 15;
const LOOK_RECORDS = 8;
/** With more impossible places than this, and than records, it is something else. */
const HOPELESS = 8;
/** Bytes that are searched for the next record if records have no common size. */
const SEARCH_BYTES = 1 << 12;

/** A file's beginning in either byte order, and a block to try layouts with: made once for all of them. */
export class FileHead {
  /** The beginning, and the number of bytes of the whole file. */
  readonly bytes: Uint8Array;
  readonly fileSize: number;
  private readonly chunks: readonly Chunk[];
  private block: Block;
  private one: Block | null = null;

  constructor(bytes: Uint8Array, fileSize: number) {
    this.bytes = bytes;
    this.fileSize = fileSize;
    this.chunks = [true, false].map((little) => {
      const chunk = new Chunk(bytes.length, little);
      chunk.bytes.set(bytes);
      chunk.length = bytes.length;
      chunk.fileSize = fileSize;
      return chunk;
    });
    this.block = new Block(this.chunks[0], BLOCK_RECORDS);
  }

  private blockFor({ little, mostEntries }: RossFileLayout): Block {
    const chunk = this.chunks[little ? 0 : 1];
    const capacity = Math.max(BLOCK_RECORDS, 2 * mostEntries);
    if (this.block.chunk !== chunk || this.block.capacity < capacity) {
      this.block = new Block(chunk, capacity);
    }
    return this.block;
  }

  /** Whether a record of this layout is possible and plausible at byte `at`. */
  hasRecord(layout: RossFileLayout, at: number): boolean {
    const chunk = this.chunks[layout.little ? 0 : 1];
    const kept = this.one;
    const fits = kept !== null && kept.chunk === chunk && kept.capacity >= layout.mostEntries;
    const block = fits ? kept : new Block(chunk, layout.mostEntries);
    this.one = block;
    block.clear();
    layout.walk(block, at);
    layout.reset();
    return block.length > 0 && (layout.looksRight?.(chunk, at) ?? true);
  }

  /** Examines every record of the beginning in this layout. */
  evidence(layout: RossFileLayout): LayoutEvidence {
    const block = this.blockFor(layout);
    const { chunk } = block;
    const end = chunk.length;
    chunk.length = Math.min(end, Math.max(LOOK_BYTES, LOOK_RECORDS * layout.least));
    const found = walkAll(layout, block);
    chunk.length = end;
    layout.reset();
    return found;
  }
}

function walkAll(layout: RossFileLayout, block: Block): LayoutEvidence {
  const { chunk } = block;
  let good = 0;
  let bad = 0;
  let explained = 0;
  let lps = 0;
  let wideLps = 0;
  let at = 0;
  let again = false;
  layout.reset();
  for (;;) {
    block.clear();
    const from = at;
    at = layout.walk(block, from);
    const right = rightIn(block, layout);
    good += right.records;
    explained += right.bytes;
    lps += block.of[LP].count;
    wideLps += block.of[WIDE_LP].count;
    if (block.stop === SHORT) {
      // A head that was cut is no damage: records go on after it.
      const whole = at === chunk.length || chunk.length < chunk.fileSize;
      return { good, bad, explained, whole, lps, wideLps };
    }
    if (again && block.length > 0) bad++;
    if (block.stop !== BAD) {
      again = false;
      continue;
    }
    if (block.length > 0 || !again) {
      // A time that fell below a damaged one: without what came before, it may be correct.
      layout.reset();
      again = true;
      continue;
    }
    again = false;
    bad++;
    if (bad > HOPELESS + good) return { good, bad, explained, whole: false, lps, wideLps };
    at = layout.stride > 0 ? at + layout.stride : nextRecord(layout, block, at);
    if (at < 0 || at > chunk.length) return { good, bad, explained, whole: false, lps, wideLps };
  }
}

/** The next byte at which a record is possible and plausible; -1 for none within reach. */
function nextRecord(layout: RossFileLayout, block: Block, from: number): number {
  const { chunk } = block;
  const last = Math.min(chunk.length - layout.least, from + SEARCH_BYTES);
  for (let at = from + 1; at <= last; at++) {
    block.clear();
    layout.reset();
    layout.walk(block, at);
    if (rightIn(block, layout).records > 1) return at;
  }
  return -1;
}

/** Plausible records of a block, and their bytes without the model's. */
function rightIn(block: Block, layout: RossFileLayout): { records: number; bytes: number } {
  const { each, looksRight, kinds } = layout;
  let records = 0;
  let bytes = 0;
  if (each === null) {
    for (let kind = 0; kind < kinds.length; kind++) {
      const { count } = block.of[kind];
      records += count;
      bytes += count * (kinds[kind]?.head ?? ENGINE_BYTES[kind] ?? 0);
    }
    return { records, bytes };
  }
  const { count, record } = block.of[each];
  const head = kinds[each]?.head ?? layout.least;
  for (let k = 0; k < count; k++) {
    if (looksRight?.(block.chunk, record[k]) === false) continue;
    records++;
    bytes += head;
  }
  return { records, bytes };
}

/** Bytes of the engine's framed samples, by kind: PE, KP, LP, and the wide LP of v8.1. */
const ENGINE_BYTES: Readonly<Record<number, number>> = { 0: 128, 1: 68, 2: 60, 6: 72 };
