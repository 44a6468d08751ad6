/**
 * Names of regions on the page. Threads that name a region at the same moment each fill a slot; all of them then use the
 * first slot with that name, and the other slots stay without visits.
 */

import { regionHash } from '../model/region-hash.ts';
import { H, HINTS, R, REGION_BYTES } from '../model/region-layout.ts';
import type { PageMemory } from './page-file.ts';

/** A region's slot. */
export interface NamedSlot {
  readonly index: number;
  readonly hash: number;
  /** Number of its hint (HINTS): that of the first call. */
  readonly hintCode: number;
}

const utf8 = new TextEncoder();
/** A byte order mark is part of a name. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/**
 * Milliseconds for which a reserved slot may have no name. A thread fills it in a few microseconds, unless it loses its CPU; a
 * thread that was killed in between never does.
 */
const NAMELESS_MS = 500;

/** Nobody wakes who waits here. */
const NOTHING = new Int32Array(new SharedArrayBuffer(4));

/** Slots by name, as far as this thread has seen them. */
export class Names {
  private readonly page: PageMemory;
  private readonly known = new Map<string, NamedSlot>();
  private seen = 0;

  constructor(page: PageMemory) {
    this.page = page;
  }

  /** Reads the names in slots before `end`: if several slots have one name, the first counts. */
  private catchUp(end: number): void {
    const { u32, bytes } = this.page;
    for (; this.seen < end; this.seen++) {
      const at = u32[H.regions >> 2] + this.seen * REGION_BYTES;
      if (!this.isNamed(at)) continue;
      const from = u32[H.names >> 2] + u32[(at + R.name) >> 2];
      const name = decoder.decode(bytes.subarray(from, from + u32[(at + R.nameBytes) >> 2]));
      if (this.known.has(name)) continue;
      const hash = u32[(at + R.hash) >> 2];
      this.known.set(name, { index: this.seen, hash, hintCode: u32[(at + R.hint) >> 2] });
    }
  }

  /** Whether a slot gets its name soon. */
  private isNamed(at: number): boolean {
    const state = (at + R.state) >> 2;
    const { u32 } = this.page;
    if (Atomics.load(u32, state) !== 0) return true;
    const until = performance.now() + NAMELESS_MS;
    while (Atomics.load(u32, state) === 0) {
      if (performance.now() > until) return false;
      Atomics.wait(NOTHING, 0, 0, 1);
    }
    return true;
  }

  /** Slot of `name`; that of region 0 (which counts it) if there is no room for another name. */
  find(name: string, hint: number): NamedSlot {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const { u32 } = this.page;
    this.catchUp(Math.min(Atomics.load(u32, H.regionsUsed >> 2), u32[H.regionCapacity >> 2]));
    return this.known.get(name) ?? this.add(name, hint);
  }

  /** Name of a slot, to be shown. */
  nameOf(index: number): string {
    const { u32, bytes } = this.page;
    const at = u32[H.regions >> 2] + index * REGION_BYTES;
    const from = u32[H.names >> 2] + u32[(at + R.name) >> 2];
    return decoder.decode(bytes.subarray(from, from + u32[(at + R.nameBytes) >> 2]));
  }

  hashOf(index: number): number {
    const { u32 } = this.page;
    return u32[(u32[H.regions >> 2] + index * REGION_BYTES + R.hash) >> 2];
  }

  private add(name: string, hint: number): NamedSlot {
    const { u32, bytes } = this.page;
    const encoded = utf8.encode(name);
    const capacity = u32[H.regionCapacity >> 2];
    const room = u32[H.nameCapacity >> 2];
    const full = Atomics.load(u32, H.regionsUsed >> 2) >= capacity;
    const longer = Atomics.load(u32, H.namesUsed >> 2) + encoded.length > room;
    // Two threads may pass this check together; the numbers that they get decide which one was too late.
    const offset = full || longer ? room : Atomics.add(u32, H.namesUsed >> 2, encoded.length);
    const fits = offset + encoded.length <= room && offset < room;
    const index = fits ? Atomics.add(u32, H.regionsUsed >> 2, 1) : capacity;
    if (index >= capacity) {
      Atomics.add(u32, H.regionsRefused >> 2, 1);
      const at = u32[H.regions >> 2];
      return { index: 0, hash: u32[(at + R.hash) >> 2], hintCode: u32[(at + R.hint) >> 2] };
    }
    bytes.set(encoded, u32[H.names >> 2] + offset);
    const at = u32[H.regions >> 2] + index * REGION_BYTES;
    const hash = regionHash(encoded);
    u32[(at + R.hash) >> 2] = hash;
    u32[(at + R.hint) >> 2] = hint;
    u32[(at + R.name) >> 2] = offset;
    u32[(at + R.nameBytes) >> 2] = encoded.length;
    Atomics.store(u32, (at + R.state) >> 2, 1);
    this.catchUp(index + 1);
    return this.known.get(name) ?? { index, hash, hintCode: hint };
  }
}

/** Number of a hint. @throws RangeError */
export function hintNumber(hint: string): number {
  const number = HINTS.indexOf(hint as (typeof HINTS)[number]);
  if (number < 0) throw new RangeError(`hint '${hint}': must be one of ${HINTS.join(', ')}`);
  return number;
}
