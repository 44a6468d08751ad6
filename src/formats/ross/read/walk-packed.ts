/**
 * Walks over the packed records of 2016 and 2017: one record is a sampling point of a PE, its KPs and LPs.
 *
 * The files do not say which of their forms they have, nor how many KPs and LPs there are; the text beside them says
 * the latter. A record is believed where its PE exists, its times are times, and its GVT is not below the last one of
 * its PE.
 */
import { type Block, FULL, KP, LP, PE } from './chunk.ts';
import type { RossFileLayout } from './layouts.ts';
import {
  KP_PART,
  LP_PART,
  type PackedForm,
  packedKinds,
  packedPlaces,
  TIMES,
} from './packed-forms.ts';
import type { ReadmeFacts } from './readme.ts';

const FLOAT_MAX = 3.5e38;

function eraOf({ mode, realTime, detailed }: PackedForm): string {
  const what = mode === 'gvt' ? 'GVT samples' : 'real-time samples';
  const when = realTime ? '2017-06 to 2017-07' : '2016-12 to 2017-04';
  return `ROSS ${mode === 'gvt' ? when : '2016-12 to 2017-07'}, ${what}${detailed ? ' with KPs and LPs' : ''}`;
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
  const lastGvt = new Float64Array(pes);
  const first = firstLps(lps);
  const fixed = places.end + (detailed ? KP_PART * kps : 0);
  const most = detailed ? lps.reduce((a, b) => Math.max(a, b), 0) : 0;
  const fewest = detailed ? lps.reduce((a, b) => Math.min(a, b), most) : 0;

  /** What is wrong with a whole record; '' for nothing. */
  const fault = (block: Block, at: number, pe: number): string => {
    const { view } = block.chunk;
    const gvt = view.getFloat32(at + places.gvt, little);
    if (!(gvt >= 0)) return `GVT ${gvt} is no time`;
    if (gvt < lastGvt[pe]) return `GVT of PE ${pe} falls from ${lastGvt[pe]} to ${gvt}`;
    if (places.real >= 0) {
      const real = view.getFloat32(at + places.real, little);
      if (!(real >= 0 && real < FLOAT_MAX)) return `real time ${real} is no time`;
    }
    // Nothing kept efficiency from being infinite, or no number, where net events were 0.
    if (places.efficiency >= 0) {
      const efficiency = view.getFloat32(at + places.efficiency, little);
      if (efficiency > 100 && efficiency < FLOAT_MAX) return 'efficiency is above 100 %';
    }
    if (places.times >= 0) {
      for (let k = 0; k < TIMES.length; k++) {
        const time = view.getFloat32(at + places.times + 4 * k, little);
        if (!(time >= 0 && time < FLOAT_MAX)) return 'an activity’s time is no time';
      }
      for (let k = 0; k < kps; k++) {
        if (Number.isNaN(view.getFloat32(at + places.ahead + 4 * k, little))) {
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
  const walk = (block: Block, from: number): number => {
    const { chunk, capacity } = block;
    const { view, length } = chunk;
    let at = from;
    block.stop = FULL;
    while (block.length + mostEntries <= capacity) {
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
    mostEntries,
    least: fixed + LP_PART * fewest,
    mode,
    changes: ['num_gvts'],
  };
}
