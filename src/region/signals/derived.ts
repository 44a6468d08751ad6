/** Powers of energies, and other rates: slopes of straight lines through the last samples, by least squares. */

import type { Tick } from '../tick.ts';
import type { Provider, Signal, SignalDeclaration } from './provider.ts';

/** Samples that the line goes through. */
const WINDOW = 8;

type Derived = SignalDeclaration & {
  /** Signals of one domain. */
  readonly from: readonly string[];
  /** What follows from the slopes of these. */
  readonly value: (slopes: readonly number[]) => number;
};

const first = (slopes: readonly number[]) => slopes[0];

const power = (name: string, energy: string, of: string): Derived => ({
  name,
  from: [energy],
  value: first,
  description: `Power of ${of}: slope of its energy over the last ${WINDOW} samples`,
  unit: 'W',
  domain: 'board',
  behaviour: 'variable',
  aggregation: 'sum',
  format: 'double',
});

const DERIVED: readonly Derived[] = [
  power('CPU_POWER', 'CPU_ENERGY', 'the packages'),
  power('DRAM_POWER', 'DRAM_ENERGY', 'the memory'),
  power('GPU_POWER', 'GPU_ENERGY', 'the GPUs'),
  power('BOARD_POWER', 'BOARD_ENERGY', 'the whole board'),
  {
    name: 'MSR::CPU_SCALABILITY_RATIO',
    alias: 'CPU_COMPUTE_ACTIVITY',
    from: ['MSR::PPERF:PCNT', 'MSR::APERF:ACNT'],
    value: ([productive, all]) => (all > 0 ? productive / all : Number.NaN),
    description: `Share of cycles in which instructions make progress, over the last ${WINDOW} samples`,
    unit: '',
    domain: 'cpu',
    behaviour: 'variable',
    aggregation: 'average',
    format: 'double',
  },
  {
    name: 'RESCTRL::MEMORY_BANDWIDTH',
    alias: 'MSR::QM_CTR_SCALED_RATE',
    from: ['RESCTRL::MEMORY_BYTES'],
    value: first,
    description: `Bytes a second between the package and memory, over the last ${WINDOW} samples`,
    unit: '',
    domain: 'package',
    behaviour: 'variable',
    aggregation: 'sum',
    format: 'double',
  },
  {
    name: 'GPU_CORE_ACTIVITY',
    from: ['DRM::GPU_CORE_IDLE_TIME'],
    value: ([idle]) => Math.min(1, Math.max(0, 1 - idle)),
    description: `Share of time in which the GPU's cores were not idle, over the last ${WINDOW} samples`,
    unit: '',
    domain: 'gpu_chip',
    behaviour: 'variable',
    aggregation: 'average',
    format: 'double',
  },
];

const declarationOf = ({ from: _f, value: _v, ...declaration }: Derived): SignalDeclaration =>
  declaration;

/** The last `WINDOW` points of a curve. */
class Slope {
  private readonly x = new Float64Array(WINDOW);
  private readonly y = new Float64Array(WINDOW);
  private count = 0;

  /** Adds a point; the slope so far, NaN of a single one. */
  add(x: number, y: number): number {
    if (Number.isNaN(y)) return Number.NaN;
    this.x[this.count % WINDOW] = x;
    this.y[this.count % WINDOW] = y;
    this.count++;
    const n = Math.min(this.count, WINDOW);
    // Relative to the newest point: squares of large numbers would eat the digits of small differences.
    let [sx, sy, sxx, sxy] = [0, 0, 0, 0];
    for (let k = 0; k < n; k++) {
      const [dx, dy] = [this.x[k] - x, this.y[k] - y];
      sx += dx;
      sy += dy;
      sxx += dx * dx;
      sxy += dx * dy;
    }
    const spread = n * sxx - sx * sx;
    return spread > 0 ? (n * sxy - sx * sy) / spread : Number.NaN;
  }
}

export const derived: Provider = {
  name: 'derived',
  source: 'other signals, whoever provides them',
  declares: DERIVED.map(declarationOf),
  open({ find }) {
    const signals = DERIVED.flatMap((one): Signal[] => {
      const parts = one.from.flatMap((name) => find(name) ?? []);
      // What is measured is better.
      const isMeasured = find(one.name) !== null || (one.alias && find(one.alias) !== null);
      if (parts.length < one.from.length || isMeasured) return [];
      const open = (index: number, tick: Tick) => {
        const channels = parts.map((part) => tick.channel(part, index));
        const slopes = channels.map(() => new Slope());
        const read = () =>
          one.value(slopes.map((slope, k) => slope.add(tick.time, channels[k].value)));
        return { read };
      };
      const { domain } = parts[0];
      return [{ ...declarationOf(one), domain, computed: true, warmUp: WINDOW, open }];
    });
    return { signals };
  },
};
