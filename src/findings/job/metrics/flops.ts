/** Floating-point operations: events times the numbers that one instruction works on. */
import type { Weights } from '../../../model/measures/index.ts';
import { average, type Declaration } from './declaration.ts';
import { declared, type MetricFamily } from './metric.ts';

const DOUBLE: Weights = {
  'pmc.FP_ARITH_INST_RETIRED_SCALAR_DOUBLE': 1,
  'pmc.FP_ARITH_INST_RETIRED_128B_PACKED_DOUBLE': 2,
  'pmc.FP_ARITH_INST_RETIRED_256B_PACKED_DOUBLE': 4,
  'pmc.FP_ARITH_INST_RETIRED_512B_PACKED_DOUBLE': 8,
  'pmc.SSE_DOUBLE_SCALAR': 1,
  'pmc.SSE_DOUBLE_PACKED': 2,
  'pmc.SSE_DOUBLE_ALL': 1,
  'pmc.SIMD_DOUBLE_256': 4,
};
const SINGLE: Weights = {
  'pmc.FP_ARITH_INST_RETIRED_SCALAR_SINGLE': 1,
  'pmc.FP_ARITH_INST_RETIRED_128B_PACKED_SINGLE': 4,
  'pmc.FP_ARITH_INST_RETIRED_256B_PACKED_SINGLE': 8,
  'pmc.FP_ARITH_INST_RETIRED_512B_PACKED_SINGLE': 16,
};

const each = (widths: Weights, weightOf: (width: number) => number): Weights =>
  Object.fromEntries(Object.entries(widths).map(([event, width]) => [event, weightOf(width)]));

/** Operations a second; the share of those of instructions that work on more than one number; operations of an instruction. */
function of(
  bits: string,
  widths: Weights,
  note: string,
): readonly [Declaration, Declaration, Declaration] {
  const rate = average(`avg_flops_${bits}`, 'GFLOPS', widths, {
    ...{ optional: Object.keys(widths), note },
  });
  const vector = each(widths, (width) => (width > 1 ? width : 0));
  return [
    rate,
    {
      ...{ ...rate, name: `vecpercent_${bits}`, unit: '%', of: vector },
      ...{ per: widths, factor: 100 },
    },
    {
      ...{ ...rate, name: `avg_vector_width_${bits}`, unit: 'flops/instruction' },
      per: each(widths, () => 1),
    },
  ];
}

const DOUBLES = of(
  '64b',
  DOUBLE,
  'SSE_DOUBLE_ALL counts scalar and packed instructions together: a lower bound of 1 each. The original 2.3.5 has no width for that name, and leaves it out.',
);
export const [DOUBLE_RATE, DOUBLE_VECTORS] = DOUBLES;

export const FLOPS: MetricFamily = {
  title: 'Floating point',
  set: 'summary',
  metrics: declared(...DOUBLES, ...of('32b', SINGLE, '')),
};
