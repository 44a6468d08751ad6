/** Floating-point operations: events times the numbers that one instruction works on. */
import { type JobView, MissingInput } from '../view.ts';
import type { JobMetric, MetricFamily } from './metric.ts';
import { pmc } from './types.ts';

type Widths = Readonly<Record<string, number>>;

export const DOUBLE_WIDTHS: Widths = {
  FP_ARITH_INST_RETIRED_SCALAR_DOUBLE: 1,
  FP_ARITH_INST_RETIRED_128B_PACKED_DOUBLE: 2,
  FP_ARITH_INST_RETIRED_256B_PACKED_DOUBLE: 4,
  FP_ARITH_INST_RETIRED_512B_PACKED_DOUBLE: 8,
  SSE_DOUBLE_SCALAR: 1,
  SSE_DOUBLE_PACKED: 2,
  SSE_DOUBLE_ALL: 1,
  SIMD_DOUBLE_256: 4,
};
const SINGLE: Widths = {
  FP_ARITH_INST_RETIRED_SCALAR_SINGLE: 1,
  FP_ARITH_INST_RETIRED_128B_PACKED_SINGLE: 4,
  FP_ARITH_INST_RETIRED_256B_PACKED_SINGLE: 8,
  FP_ARITH_INST_RETIRED_512B_PACKED_SINGLE: 16,
};

interface Work {
  readonly flops: number;
  /** Operations of instructions that work on more than one number. */
  readonly vector: number;
  readonly instructions: number;
}

/** @throws MissingInput if no counter counts such events */
export function workOf(view: JobView, widths: Widths, what: string): Work {
  const type = pmc(view);
  let [flops, vector, instructions] = [0, 0, 0];
  const events = Object.keys(widths).filter((event) => view.has(type, event));
  if (events.length === 0) throw new MissingInput(`${what} events among the counters of ${type}`);
  for (const event of events) {
    const count = view.total(type, event);
    instructions += count;
    flops += count * widths[event];
    if (widths[event] > 1) vector += count * widths[event];
  }
  return { flops, vector, instructions };
}

export const doubles = (view: JobView): Work => workOf(view, DOUBLE_WIDTHS, 'double-precision');

const list = (widths: Widths) =>
  Object.entries(widths)
    .map(([event, width]) => `${width} ${event}`)
    .join(', ');

const SSE_ALL =
  'SSE_DOUBLE_ALL counts scalar and packed instructions together: a lower bound of 1 each. The original 2.3.5 has no width for that name, and leaves it out.';

const BITS = [
  { bits: '64b', widths: DOUBLE_WIDTHS, note: SSE_ALL, what: 'double-precision' },
  { bits: '32b', widths: SINGLE, note: '', what: 'single-precision' },
] as const;

const families = BITS.map(({ bits, widths, note, what }): readonly JobMetric[] => {
  const work = (view: JobView) => workOf(view, widths, what);
  const inputs = Object.keys(widths).map((event) => `pmc.${event}`);
  return [
    {
      name: `avg_flops_${bits}`,
      unit: 'GFLOPS',
      formula: `Σ width Δevent / (10⁹ T N), widths: ${list(widths)}`,
      inputs,
      note,
      compute: (view) => work(view).flops / (view.seconds * view.hostCount * 1e9),
    },
    {
      name: `vecpercent_${bits}`,
      unit: '%',
      formula: '100 × flops of widths above 1 / all flops',
      inputs,
      note,
      compute: (view) => {
        const { flops, vector } = work(view);
        return (100 * vector) / flops;
      },
    },
    {
      name: `avg_vector_width_${bits}`,
      unit: 'flops/instruction',
      formula: 'Σ width Δevent / Σ Δevent',
      inputs,
      note,
      compute: (view) => {
        const { flops, instructions } = work(view);
        return flops / instructions;
      },
    },
  ];
});

export const FLOPS: MetricFamily = {
  title: 'Floating point',
  set: 'summary',
  metrics: families.flat(),
};
