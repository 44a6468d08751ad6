/** Powers of energies: the slope of a straight line through the last samples, by least squares. */

import type { Tick } from '../tick.ts';
import type { Provider, Signal, SignalDeclaration } from './provider.ts';

/** Samples that the line goes through. */
const WINDOW = 8;

const power = (name: string, energy: string, of: string): Derived => ({
  name,
  energy,
  description: `Power of ${of}: slope of its energy over the last ${WINDOW} samples`,
  unit: 'W',
  domain: 'board',
  behaviour: 'variable',
  aggregation: 'sum',
  format: 'double',
});

type Derived = SignalDeclaration & { readonly energy: string };

const POWERS: readonly Derived[] = [
  power('CPU_POWER', 'CPU_ENERGY', 'the packages'),
  power('DRAM_POWER', 'DRAM_ENERGY', 'the memory'),
  power('GPU_POWER', 'GPU_ENERGY', 'the GPUs'),
  power('BOARD_POWER', 'BOARD_ENERGY', 'the whole board'),
];

const declarationOf = ({ energy: _, ...declaration }: Derived): SignalDeclaration => declaration;

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
  source: 'energies, whoever provides them',
  declares: POWERS.map(declarationOf),
  open({ find }) {
    const signals = POWERS.flatMap((one): Signal[] => {
      const energy = find(one.energy);
      // A power that is measured is better.
      if (energy === null || find(one.name) !== null) return [];
      const open = (index: number, tick: Tick) => {
        const channel = tick.channel(energy, index);
        const slope = new Slope();
        return { read: () => slope.add(tick.time, channel.value) };
      };
      return [
        { ...declarationOf(one), domain: energy.domain, computed: true, warmUp: WINDOW, open },
      ];
    });
    return { signals };
  },
};
