/** The packed records of 2016 and 2017: which fields they have, and where. */
import { GVT_DETAILED, GVT_PE, RT_DETAILED, RT_PE, TIMES } from '../packed-fields.ts';
import { KP, LP, PE } from './chunk.ts';
import { at, byKind, type FieldAt, type KindLayout, words } from './layouts.ts';

export interface PackedForm {
  readonly mode: 'gvt' | 'rt';
  /** GVT samples: with a real time (June 2017 on), or without (December 2016 to April 2017). */
  readonly realTime: boolean;
  /** With KPs and LPs (granularity 1). */
  readonly detailed: boolean;
}

/** Bytes at which parts of a record are; -1: it has none. */
export interface PartOffsets {
  readonly gvt: number;
  readonly real: number;
  /** First of the PE's counters, 4 bytes each. */
  readonly counters: number;
  /** KPs' times ahead of GVT. */
  readonly ahead: number;
  /** First activity time. */
  readonly times: number;
  readonly efficiency: number;
  /** After the PE's fields: KPs' rollbacks, if there are any. */
  readonly end: number;
}

export const LP_PART = 20;
export const KP_PART = 8;

function realTimePlaces(detailed: boolean, kps: number): [PartOffsets, FieldAt[]] {
  const times = 10 + 4 * kps;
  const counters = times + 4 * TIMES.length;
  const names = detailed ? RT_DETAILED : RT_PE;
  const fields = [
    at('virtual_time', 'f32', 6),
    at('real_time', 'f32', 2),
    at('pe_id', 'u16', 0),
    ...words(names, 'u32', counters),
    ...words(TIMES, 'f32', times),
  ];
  const end = counters + 4 * names.length;
  return [{ gvt: 6, real: 2, counters, ahead: 10, times, efficiency: -1, end }, fields];
}

/** Places of a record's parts and the fields of its PE. `kps`: KPs of each PE. */
export function packedPlaces(form: PackedForm, kps: number): [PartOffsets, FieldAt[]] {
  const { mode, realTime, detailed } = form;
  if (mode === 'rt') return realTimePlaces(detailed, kps);
  const counters = realTime ? 10 : 6;
  const names = detailed ? GVT_DETAILED : GVT_PE;
  let next = counters + 4 * names.length;
  const fields = [
    at('virtual_time', 'f32', 2),
    ...(realTime ? [at('real_time', 'f32', 6)] : []),
    at('pe_id', 'u16', 0),
    ...words(names, 'u32', counters),
  ];
  const extra = !detailed ? 'remote_events' : realTime ? 'net_events' : '';
  if (extra !== '') {
    fields.push(at(extra, 'i32', next));
    next += 4;
  }
  fields.push(at('efficiency', 'f32', next));
  const real = realTime ? 6 : -1;
  const places = { gvt: 2, real, counters, ahead: -1, times: -1, efficiency: next, end: next + 4 };
  return [places, fields];
}

/** What a record yields: a PE, and its KPs and LPs if it has them. */
export function packedKinds(
  form: PackedForm,
  places: PartOffsets,
  pe: readonly FieldAt[],
): (KindLayout | null)[] {
  const isTime = ({ key }: FieldAt) => key === 'virtual_time' || key === 'real_time';
  const ids = [...pe.filter(isTime), at('pe_id', 'u16', 0), at('kp_id', 'u32', 0, 'kp')];
  const layouts: Record<number, KindLayout> = { [PE]: { fields: pe } };
  // Real-time samples hold every KP's time ahead of GVT, whatever the granularity.
  if (form.mode === 'rt' || form.detailed) {
    layouts[KP] = {
      fields: [
        ...ids,
        ...(form.detailed
          ? words(['total_rollbacks', 'secondary_rollbacks'], 'u32', 0, 'part')
          : []),
        ...(form.mode === 'rt' ? [at('time_ahead_gvt', 'f32', places.ahead, 'per-kp')] : []),
      ],
    };
  }
  if (form.detailed) {
    const counters = ['events_processed', 'events_rolled_back', 'network_sends'];
    counters.push('network_receives');
    layouts[LP] = {
      fields: [
        ...ids,
        at('lp_id', 'u32', 0, 'lp'),
        ...words(counters, 'u32', 0, 'part'),
        at('remote_events', 'i32', 16, 'part'),
      ],
    };
  }
  return byKind(layouts);
}
