/**
 * What parts of NVIDIA GPUs do (Hopper and later), and what goes over their links, through NVML. Sources: NVML API reference, GPM
 * functions (structures of version 1) and field values.
 */
import { koffi } from './koffi.ts';
import { callOf, type loadLibrary } from './library.ts';

type Library = ReturnType<typeof loadLibrary>;

/** Metrics of a GPU between two samples, in percent: how much of it was busy, by nvmlGpmMetricId_t. */
export const ACTIVITIES = {
  sm_active: 2,
  sm_occupancy: 3,
  tensor_active: 5,
  dram_active: 10,
} as const;
export type GpuActivity = keyof typeof ACTIVITIES;
const NAMES = Object.keys(ACTIVITIES) as GpuActivity[];

/** Fields with totals of all links (scope −1), in KiB: payload sent and received. */
export const LINKS = { nvlink_tx: 138, nvlink_rx: 139 } as const;

/** nvmlGpmMetricsGet_t: version, number, two samples, then metrics of 40 bytes; there is room for more than any version has. */
const [METRICS_AT, METRIC_BYTES, ROOM] = [24, 40, 512];
/** nvmlFieldValue_t. */
const FIELD_BYTES = 40;
const [FIELD_STATUS, FIELD_VALUE] = [28, 32];
const ALL_LINKS = 0xffffffff;
/** Milliseconds between the first two samples. */
const FIRST_MS = 100;

/** Reads both of GPUs by their handles. Values are NaN where a GPU does not tell. */
export class NvmlActivity {
  private readonly samplesOf = new Map<unknown, [unknown, unknown]>();
  private readonly last = new Map<unknown, Readonly<Record<GpuActivity, number>>>();
  private readonly alloc: (...words: unknown[]) => number;
  private readonly take: (...words: unknown[]) => number;
  private readonly metrics: (...words: unknown[]) => number;
  private readonly fields: (...words: unknown[]) => number;
  private readonly question = Buffer.alloc(METRICS_AT + METRIC_BYTES * ROOM);

  constructor(lib: Library) {
    this.alloc = callOf(lib, 'int nvmlGpmSampleAlloc(_Out_ void **)');
    this.take = callOf(lib, 'int nvmlGpmSampleGet(void *, void *)');
    this.metrics = callOf(lib, 'int nvmlGpmMetricsGet(_Inout_ uint8_t *)');
    this.fields = callOf(lib, 'int nvmlDeviceGetFieldValues(void *, int, _Inout_ uint8_t *)');
  }

  /**
   * How busy a part was, in percent. The first of NAMES measures all of them, over the time since it was asked for before; at
   * first over a tenth of a second.
   */
  activity(handle: unknown, what: GpuActivity): number {
    if (what === NAMES[0]) this.last.set(handle, this.measure(handle));
    return this.last.get(handle)?.[what] ?? Number.NaN;
  }

  link(handle: unknown, what: keyof typeof LINKS): number {
    const field = Buffer.alloc(FIELD_BYTES);
    field.writeUInt32LE(LINKS[what], 0);
    field.writeUInt32LE(ALL_LINKS, 4);
    if (this.fields(handle, 1, field) !== 0 || field.readUInt32LE(FIELD_STATUS) !== 0) {
      return Number.NaN;
    }
    return Number(field.readBigUInt64LE(FIELD_VALUE));
  }

  private measure(handle: unknown): Readonly<Record<GpuActivity, number>> {
    const nothing = { sm_active: NaN, sm_occupancy: NaN, tensor_active: NaN, dram_active: NaN };
    let samples = this.samplesOf.get(handle);
    if (samples === undefined) {
      const [a, b]: [[unknown], [unknown]] = [[null], [null]];
      if (this.alloc(a) !== 0 || this.alloc(b) !== 0) return nothing;
      samples = [a[0], b[0]];
      if (this.take(handle, samples[0]) !== 0) return nothing;
      this.samplesOf.set(handle, samples);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, FIRST_MS);
    }
    const [before, now] = samples;
    if (this.take(handle, now) !== 0) return nothing;
    this.samplesOf.set(handle, [now, before]);
    const { question } = this;
    question.fill(0);
    question.writeUInt32LE(1, 0);
    question.writeUInt32LE(NAMES.length, 4);
    question.writeBigUInt64LE(koffi().address(before), 8);
    question.writeBigUInt64LE(koffi().address(now), 16);
    for (const [k, name] of NAMES.entries()) {
      question.writeUInt32LE(ACTIVITIES[name], METRICS_AT + k * METRIC_BYTES);
    }
    if (this.metrics(question) !== 0) return nothing;
    const values = NAMES.map((name, k) => {
      const at = METRICS_AT + k * METRIC_BYTES;
      const status = question.readUInt32LE(at + 4);
      return [name, status === 0 ? question.readDoubleLE(at + 8) : Number.NaN];
    });
    return Object.fromEntries(values) as Readonly<Record<GpuActivity, number>>;
  }
}
