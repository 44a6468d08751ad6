/**
 * Walks over the packed records of 2016 and 2017: one record is a sampling point of a PE, its KPs and LPs.
 *
 * The files tell neither their form nor the numbers of KPs and LPs; the text beside them tells
 * the latter. A record is accepted if its PE exists, its times are times, and its GVT is not below the last one of
 * its PE.
 */

import { TIMES } from '../packed-fields.ts';
import { LITTLE_ENDIAN } from '../write/layout.ts';
import { type Block, type Chunk, FULL, KP, LP, PE } from './chunk.ts';
import type { RossFileLayout } from './layouts.ts';
import {
  KP_PART,
  LP_PART,
  type PackedForm,
  type PartOffsets,
  packedKinds,
  packedPlaces,
} from './packed-forms.ts';
import type { ReadmeFacts } from './readme.ts';

/** Bits of the float that is infinite, and of 100. */
const INFINITE = 0x7f800000;
const HUNDRED = 0x42c80000;

function eraOf({ mode, realTime, detailed }: PackedForm): string {
  const what = mode === 'gvt' ? 'GVT samples' : 'real-time samples';
  const when = realTime ? '2017-06 to 2017-07' : '2016-12 to 2017-04';
  return `ROSS ${mode === 'gvt' ? when : '2016-12 to 2017-07'}, ${what}${detailed ? ' with KPs and LPs' : ''}`;
}

/** Bits of 1e-30: smaller times are small integers read as floats. */
const TINY = 0x0da24260;
/** More reductions than there are between two samples: a float read as a count. */
const MANY = 1 << 23;

/**
 * GVT samples with and without a real time differ by 4 bytes: each looks strange when read as the other. Zeros look like neither:
 * there was a reduction, or time passed. In the other byte order small counts are large, and times are tiny.
 */
function looksRight(
  { mode, realTime }: PackedForm,
  places: PartOffsets,
  chunk: Chunk,
  at: number,
): boolean {
  if (mode === 'gvt') {
    const reductions = chunk.bits(at + places.counters);
    if (!realTime) return reductions > 0 && reductions < MANY;
    const real = chunk.bits(at + places.real);
    return reductions < MANY && (real > TINY || (real === 0 && chunk.bits(at + places.gvt) > 0));
  }
  const real = chunk.bits(at + places.real);
  if (real > 0 && real <= TINY) return false;
  let large = 0;
  for (let word = at + places.counters; word < at + places.end; word += 4) {
    const count = chunk.bits(word);
    if (count > 0) large += count < MANY ? -1 : 1;
  }
  return large <= 0;
}

/** First LP of each PE. */
function firstLps(lps: readonly number[]): number[] {
  let next = 0;
  return lps.map((count) => {
    next += count;
    return next - count;
  });
}

/** `facts` null: PEs only, their number unknown. */
export function packedLayout(
  form: PackedForm,
  facts: ReadmeFacts | null,
  little: boolean,
): RossFileLayout {
  const { detailed, mode } = form;
  const kps = facts?.kps ?? 0;
  const lps = facts?.lps ?? [];
  const pes = Math.min(facts?.pes ?? 65536, 65536);
  const [places, peFields] = packedPlaces(form, kps);
  const kpParts = mode === 'rt' || detailed ? kps : 0;
  /** Bits of the last GVT of each PE. */
  const lastGvt = new Uint32Array(pes);
  const first = firstLps(lps);
  const fixed = places.end + (detailed ? KP_PART * kps : 0);
  const most = detailed ? lps.reduce((a, b) => Math.max(a, b), 0) : 0;
  const fewest = detailed ? lps.reduce((a, b) => Math.min(a, b), most) : 0;

  /** What is wrong with a whole record; '' if nothing is. Floats are judged by their bits. */
  const fault = ({ chunk }: Block, at: number, pe: number): string => {
    const gvt = chunk.bits(at + places.gvt);
    if (gvt > INFINITE) return 'GVT is no time';
    if (gvt < lastGvt[pe]) return `GVT of PE ${pe} falls`;
    if (places.real >= 0 && chunk.bits(at + places.real) >= INFINITE) return 'real time is no time';
    // ROSS did not prevent efficiency from being infinite, or not a number, if net events were 0.
    if (places.efficiency >= 0) {
      const efficiency = chunk.bits(at + places.efficiency);
      if (efficiency > HUNDRED && efficiency < INFINITE) return 'efficiency is above 100 %';
    }
    if (places.times >= 0) {
      for (let k = 0; k < TIMES.length; k++) {
        if (chunk.bits(at + places.times + 4 * k) >= INFINITE)
          return 'an activity’s time is no time';
      }
      for (let k = 0; k < kps; k++) {
        if ((chunk.bits(at + places.ahead + 4 * k) & 0x7fffffff) > INFINITE) {
          return 'time ahead of GVT is not a number';
        }
      }
    }
    lastGvt[pe] = gvt;
    return '';
  };

  const addParts = (block: Block, record: number, pe: number): void => {
    let part = record + places.end;
    for (let k = 0; k < kpParts; k++) {
      block.addPart(KP, record, detailed ? part + KP_PART * k : record, k, 0);
    }
    if (!detailed) return;
    part += KP_PART * kps;
    // ROSS deals LPs out to KPs in blocks of equal size, the last one smaller.
    const perKp = Math.max(1, Math.ceil(lps[pe] / Math.max(1, kps)));
    for (let k = 0; k < lps[pe]; k++) {
      block.addPart(LP, record, part + LP_PART * k, Math.floor(k / perKp), first[pe] + k);
    }
  };

  const mostEntries = 1 + kpParts + most;
  /**
   * GVT records of PEs only, at multiples of 2 in this machine's byte order, that are beyond doubt. Stops at any other:
   * then the walk below decides.
   */
  const walkHalves = (block: Block, from: number): number => {
    const { chunk, capacity, of, kinds } = block;
    const { u16, length } = chunk;
    const index = of[PE];
    const { record, size } = index;
    const first = block.length;
    const start = index.count;
    const most = capacity - first;
    const real = places.real >> 1;
    const efficiency = places.efficiency >> 1;
    const last = length - fixed;
    let at = from;
    let n = 0;
    for (; n < most && at <= last; n++, at += fixed) {
      const half = at >>> 1;
      const pe = u16[half];
      const gvt = u16[half + 1] | (u16[half + 2] << 16);
      // Bits of floats that are not negative fit in 31 bits.
      if (pe >= pes || gvt < 0 || gvt > INFINITE || gvt < lastGvt[pe]) break;
      if (real > 0 && u16[half + real + 1] >= INFINITE >>> 16) break;
      const high = u16[half + efficiency + 1];
      if (high >= HUNDRED >>> 16 && high < 0x8000) {
        if ((u16[half + efficiency] | (high << 16)) !== HUNDRED) break;
      }
      lastGvt[pe] = gvt;
      record[start + n] = at;
      size[start + n] = 0;
    }
    index.count = start + n;
    kinds.fill(PE, first, first + n);
    block.length = first + n;
    // The place decides how columns are copied: at least one of them is no multiple of 4 if records are not.
    block.stride = first === 0 ? fixed : 0;
    if (n > 0) block.places |= from | (n > 1 ? fixed : 0);
    return at;
  };

  const hasHalves = mode === 'gvt' && mostEntries === 1 && little && LITTLE_ENDIAN;
  const walk = (block: Block, from: number): number => {
    const { chunk, capacity } = block;
    const { view, length } = chunk;
    let at = from;
    block.stop = FULL;
    while (block.length + mostEntries <= capacity) {
      if (hasHalves && (at & 1) === 0) {
        at = walkHalves(block, at);
        if (block.length === capacity) break;
      }
      if (length - at < 2) {
        block.short(2);
        break;
      }
      const pe = view.getUint16(at, little);
      if (pe >= pes) {
        block.bad(`expected a record of PE 0 to ${pes - 1}, found PE ${pe}`);
        break;
      }
      const bytes = detailed ? fixed + LP_PART * lps[pe] : fixed;
      if (length - at < bytes) {
        block.short(bytes);
        break;
      }
      const wrong = fault(block, at, pe);
      if (wrong !== '') {
        block.bad(wrong);
        break;
      }
      block.add(PE, at, 0);
      if (mostEntries > 1) addParts(block, at, pe);
      at += bytes;
    }
    return at;
  };

  return {
    era: eraOf(form),
    little,
    kinds: packedKinds(form, places, peFields),
    walk,
    reset: () => {
      lastGvt.fill(0);
    },
    fork: () => packedLayout(form, facts, little),
    each: PE,
    mostEntries,
    stride: fewest === most ? fixed + LP_PART * most : 0,
    looksRight: (chunk, at) => looksRight(form, places, chunk, at),
    least: fixed + LP_PART * fewest,
    mode,
    changes: ['num_gvts'],
  };
}
