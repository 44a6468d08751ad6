/** Samples of the model's own data, LP by LP. */
import {
  MODEL_FLAGS,
  MODEL_SPECULATIVE,
  ROW_FIELDS,
  ROW_GVT,
  ROW_GVT_INDEX,
  ROW_KIND,
  ROW_MODE,
  ROW_MODEL,
  ROW_PAYLOAD,
  ROW_REAL,
  ROW_VIRTUAL,
  ROW_WORDS,
} from '../../model/schemas/ross-rows.ts';
import type { Pe } from '../pe.ts';
import { type Payload, payloadsOf } from './payload.ts';
import type { SampledEngine, SamplePoint } from './sampler.ts';
import type { SlabWriter } from './slab.ts';

export class ModelSampler {
  private readonly pe: Pe;
  private readonly engine: SampledEngine;
  private readonly slab: SlabWriter;
  private readonly payloads: readonly (Payload | null)[] | null;

  constructor(pe: Pe, engine: SampledEngine, slab: SlabWriter) {
    this.pe = pe;
    this.engine = engine;
    this.slab = slab;
    this.payloads = payloadsOf(pe, 'sample');
  }

  /** Samples every LP whose model has something to say. @param exact states cannot be rolled back */
  take(point: SamplePoint, mode: number, exact: boolean): void {
    const { pe, payloads, slab } = this;
    if (payloads === null) return;
    const { i32, f64 } = slab;
    const now = pe.pool.F[0];
    const kpTimes = this.engine.kpTimes ?? pe.tally?.kpTimes ?? null;
    for (let k = 0; k < payloads.length; k++) {
      const payload = payloads[k];
      if (payload === null) continue;
      const local = exact || kpTimes === null ? -Infinity : kpTimes[pe.kps[k]];
      const virtual = Math.max(point.virtual, local);
      pe.pool.F[0] = virtual;
      if (!payload.fill(pe.contextOf(k).reader.enter(k, 0))) continue;
      const { bytes } = payload.layout;
      const extra = Math.ceil(bytes / 8) * 2;
      const words = ROW_WORDS[ROW_MODEL] + extra;
      if (!slab.ensure(words)) continue;
      const at = slab.at;
      slab.at = at + words;
      i32[at + ROW_KIND] = ROW_MODEL;
      i32[at + ROW_PAYLOAD] = bytes;
      f64[(at + ROW_REAL) >> 1] = point.real;
      f64[(at + ROW_VIRTUAL) >> 1] = virtual;
      f64[(at + ROW_GVT) >> 1] = point.gvt;
      i32[at + ROW_GVT_INDEX] = point.gvtIndex;
      i32[at + ROW_MODE] = mode;
      i32[at + ROW_FIELDS] = pe.number;
      i32[at + ROW_FIELDS + 1] = pe.kps[k];
      i32[at + ROW_FIELDS + 2] = pe.ids[k];
      i32[at + MODEL_FLAGS] = payload.number | (exact ? 0 : MODEL_SPECULATIVE);
      const from = payload.words;
      for (let w = 0; w < extra; w++) i32[at + ROW_WORDS[ROW_MODEL] + w] = from[w];
    }
    pe.pool.F[0] = now;
  }
}
