/**
 * Reads the events of a trace in JSON chunk by chunk: each result is independent of what comes after it.
 *
 * ```
 * {"displayTimeUnit":"ns","traceEvents":[{…},{…},{…}],"metadata":{…}}
 *                                        from ───────► to
 * ```
 */
import type { FileSource } from '../format.ts';

/** Bytes that are read at a time. */
const CHUNK_BYTES = 1 << 20;
/** Most bytes of an event: a longer one is no event, but the result of a missing quotation mark. */
const LONGEST_BYTES = 1 << 24;

const [QUOTE, BACKSLASH, COMMA, SPACE] = [0x22, 0x5c, 0x2c, 0x20];
const [OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Most levels of lists and objects within each other. */
const DEEPEST = 1000;

/** What the scan of a list of events passes on. */
export interface EventVisitor {
  /** An item of the list, whatever JSON it is. */
  event(value: unknown): void;
  /** The item that begins at this byte is not valid JSON; the items after it follow. */
  lost(at: number): void;
}

/** How far a list was read. */
export interface EventsRead {
  /** The byte at which it breaks off; null if it is whole. */
  readonly cut: number | null;
  /** The byte after the list. */
  readonly to: number;
}

/** An item of the list, as places in a chunk. */
interface Item {
  /** After the bracket that ends it; -1 if it has none. */
  readonly close: number;
  /** At the comma after it, or at the bracket that ends the list. */
  readonly end: number;
}

/** Where items end in a chunk, and whether that is the end of the list. */
class Boundaries {
  private depth = 0;
  private quoted = false;
  private escaped = false;
  readonly items: Item[] = [];
  /** Of the item that has not ended: see `Item`. */
  close = -1;
  closed = false;
  /** A line break in a text, a bracket that closes nothing, or too many that open. */
  broken = false;

  /** Goes on through `bytes` from `from` on. */
  go(bytes: Uint8Array, from: number, to: number): void {
    let { depth, quoted, escaped } = this;
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      if (quoted) {
        if (escaped) escaped = false;
        else if (byte === QUOTE) quoted = false;
        else if (byte === BACKSLASH) escaped = true;
        else if (byte < SPACE) {
          this.broken = true;
          return;
        }
      } else if (byte === QUOTE) quoted = true;
      else if (byte === OPEN || byte === OPEN_LIST) {
        if (++depth <= DEEPEST) continue;
        this.broken = true;
        return;
      } else if (byte === COMMA) {
        if (depth === 0) this.end(at);
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        depth--;
        if (depth === 0 && this.close < 0) this.close = at + 1;
        if (depth >= 0) continue;
        this.closed = byte === CLOSE_LIST;
        this.broken = byte === CLOSE;
        if (this.closed) this.end(at);
        return;
      }
    }
    this.depth = depth;
    this.quoted = quoted;
    this.escaped = escaped;
  }

  private end(at: number): void {
    this.items.push({ close: this.close, end: at });
    this.close = -1;
  }

  /** What was before this place has been passed on: the chunk begins there now. */
  forget(place: number): void {
    this.items.length = 0;
    if (this.close >= 0) this.close -= place;
  }
}

/** Passes on items of a chunk, the first of which begins at `from`. */
class Teller {
  private readonly visitor: EventVisitor;

  constructor(visitor: EventVisitor) {
    this.visitor = visitor;
  }

  /** @param at the byte of the file at which the chunk begins */
  tell(bytes: Buffer, items: readonly Item[], at: number): void {
    const last = items.at(-1)?.end ?? 0;
    if (this.all(`[${bytes.toString('utf8', 0, last)}]`)) return;
    let begin = 0;
    for (const item of items) {
      const behind = this.one(bytes, begin, item);
      if (behind !== null) this.visitor.lost(at + behind);
      begin = item.end + 1;
    }
  }

  /** Whether a list is valid JSON: its items are passed on. */
  private all(list: string): boolean {
    let items: unknown;
    try {
      items = JSON.parse(list);
    } catch {
      return false;
    }
    if (Array.isArray(items)) for (const item of items) this.visitor.event(item);
    return true;
  }

  /** Passes on one item; returns null, or the place from which on it is invalid. */
  one(bytes: Buffer, begin: number, { close, end }: Item): number | null {
    if (this.all(`[${bytes.toString('utf8', begin, end)}]`)) return null;
    const isWhole = close >= 0 && this.all(`[${bytes.toString('utf8', begin, close)}]`);
    return isWhole ? close : begin;
  }
}

/** Reads the list of events whose first item begins at byte `from`. */
export function scanEvents(source: FileSource, from: number, visitor: EventVisitor): EventsRead {
  let bytes = Buffer.alloc(CHUNK_BYTES);
  /** Bytes of an item that has not ended yet, at the beginning of `bytes`. */
  let kept = 0;
  /** The byte of the file at which `bytes` begins. */
  let at = from;
  const boundaries = new Boundaries();
  const teller = new Teller(visitor);
  for (;;) {
    if (kept === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * kept, LONGEST_BYTES));
    const to = kept + source.read(at + kept, bytes.subarray(kept));
    boundaries.go(bytes, kept, to);
    const { items, broken, closed } = boundaries;
    teller.tell(bytes, items, at);
    const behind = (items.at(-1)?.end ?? -1) + 1;
    if (closed) return { cut: null, to: at + behind };
    boundaries.forget(behind);
    const isOver = to === kept;
    kept = to - behind;
    bytes.copyWithin(0, behind, to);
    at += behind;
    // If a tracer was killed, the closing brackets are missing, and maybe half an event.
    if (broken || isOver || kept >= LONGEST_BYTES) {
      const cut = teller.one(bytes, 0, { close: boundaries.close, end: kept });
      return { cut: at + (cut ?? kept), to: at + kept };
    }
  }
}
