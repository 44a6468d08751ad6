/** Samples of the model's own data, LP by LP. */
import { isPacked } from '../../formats/ross/write/index.ts';
import {
  MODE_VT,
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
import type { InstrumentConfig } from './config.ts';
import { type Payload, payloadsOf } from './payload.ts';
import type { SampledEngine, SamplePoint } from './pe-recorder.ts';
import type { SlabWriter } from './slab.ts';

/** Bytes of the metadata between a model sample's frame and its payload. */
const MODEL_BYTES = 24;

export class ModelSampler {
  private readonly pe: Pe;
  private readonly engine: SampledEngine;
  private readonly slab: SlabWriter;
  private readonly payloads: readonly (Payload | null)[] | null;

  private readonly direct: boolean;
  private readonly packed: boolean;
  private readonly doubles = new Float64Array(16);
  private readonly halves = new Int32Array(this.doubles.buffer);

  constructor(pe: Pe, engine: SampledEngine, slab: SlabWriter, config: InstrumentConfig) {
    // Whether rows have the form of the file.
    this.direct = config.direct;
    this.packed = isPacked(config.layout);
    this.pe = pe;
    this.engine = engine;
    this.slab = slab;
    this.payloads = payloadsOf(pe, 'sample');
  }

  /** Samples every LP whose model has something to record. @param exact states cannot be rolled back */
  take(point: SamplePoint, mode: number, exact: boolean): void {
    const { pe, payloads } = this;
    if (payloads === null) return;
    const now = pe.pool.F[0];
    const kpTimes = this.engine.kpTimes ?? pe.tally?.kpTimes ?? null;
    for (let k = 0; k < payloads.length; k++) {
      const payload = payloads[k];
      if (payload === null) continue;
      const local = exact || kpTimes === null ? -Infinity : kpTimes[pe.kps[k]];
      const virtual = Math.max(point.virtual, local);
      pe.pool.F[0] = virtual;
      const reader = pe.contextOf(k).reader.enter(k, 0);
      const rows = payload.rows(reader);
      for (let row = 0; row < rows; row++) {
        if (!payload.fill(reader, row)) continue;
        if (this.direct) this.fileRow(payload, k, point.real, virtual, point.gvt, mode);
        else this.neutralRow(payload, k, point, virtual, mode, exact);
      }
    }
    pe.pool.F[0] = now;
  }

  private neutralRow(
    payload: Payload,
    lp: number,
    point: SamplePoint,
    virtual: number,
    mode: number,
    exact: boolean,
  ): void {
    const { pe, slab } = this;
    const bytes = this.packed ? payload.layout.size : payload.layout.bytes;
    const extra = Math.ceil(bytes / 8) * 2;
    const words = ROW_WORDS[ROW_MODEL] + extra;
    if (!slab.ensure(words)) return;
    const { i32, f64 } = slab;
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
    i32[at + ROW_FIELDS + 1] = pe.kps[lp];
    i32[at + ROW_FIELDS + 2] = pe.ids[lp];
    i32[at + MODEL_FLAGS] = payload.number | (exact ? 0 : MODEL_SPECULATIVE);
    for (let w = 0; w < extra; w++) i32[at + ROW_WORDS[ROW_MODEL] + w] = payload.words[w];
  }

  /** In the form of the file: seed 000's frame and model metadata, or the header of virtual-time samples. */
  private fileRow(
    payload: Payload,
    lp: number,
    real: number,
    virtual: number,
    gvt: number,
    mode: number,
  ): void {
    const { pe, slab, doubles, halves } = this;
    const { bytes } = payload.layout;
    const words = 12 + bytes / 4;
    if (!slab.ensure(words)) return;
    const { i32, f32 } = slab;
    const at = slab.at;
    slab.at = at + words;
    doubles[0] = virtual;
    doubles[1] = real;
    if (mode === MODE_VT) {
      i32[at] = pe.ids[lp];
      i32[at + 1] = 0;
      i32[at + 2] = pe.kps[lp];
      i32[at + 3] = 0;
      i32[at + 4] = pe.number;
      i32[at + 5] = 0;
      for (let w = 0; w < 4; w++) i32[at + 6 + w] = halves[w];
      i32[at + 10] = bytes;
      i32[at + 11] = ROW_MODEL;
    } else {
      i32[at] = ROW_MODEL;
      i32[at + 1] = MODEL_BYTES;
      for (let w = 0; w < 4; w++) i32[at + 2 + w] = halves[w];
      i32[at + 6] = pe.number;
      i32[at + 7] = pe.kps[lp];
      i32[at + 8] = pe.ids[lp];
      f32[at + 9] = gvt;
      i32[at + 10] = mode;
      i32[at + 11] = bytes;
    }
    for (let w = 0; w < bytes / 4; w++) i32[at + 12 + w] = payload.words[w];
  }
}
