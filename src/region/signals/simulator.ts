/** What the simulator writes to the region page when `region launch --auto=sim` runs it. */
import { ENGINE_COUNTS } from '../../model/engine-marks.ts';
import { NOTHING, type Provider, type Signal, type SignalDeclaration } from './provider.ts';

/** A process that simulates or has simulated. */
interface Simulating {
  /** The least GVT of its running PEs; NaN if none is running. */
  readonly gvt: number;
  /** ENGINE_COUNTS, summed over its PEs. */
  readonly counts: Float64Array;
}

const GVT: SignalDeclaration = {
  name: 'SIM::GVT',
  description: 'Virtual time that the simulation has reached for good: the least of all PEs',
  unit: '',
  domain: 'board',
  behaviour: 'variable',
  aggregation: 'min',
  format: 'double',
};

const counted = (name: string, description: string): SignalDeclaration => ({
  name: `SIM::${name}`,
  description,
  unit: '',
  domain: 'board',
  behaviour: 'monotone',
  aggregation: 'sum',
  format: 'integer',
});

/** In the order of ENGINE_COUNTS. */
const COUNTED: readonly SignalDeclaration[] = [
  counted('EVENTS_PROCESSED', 'Events handled, those rolled back later included'),
  counted('EVENTS_ROLLED_BACK', 'Events handled and taken back'),
  counted('EVENTS_COMMITTED', 'Events that are final'),
  counted('ROLLBACKS', 'Rollbacks, primary and secondary'),
  counted('GVT_COMPUTATIONS', 'GVT computations, summed over PEs'),
];

/** @param processes those that simulate or have simulated; null if no application is watched */
export function simulatorOf(processes: (() => readonly Simulating[]) | null): Provider {
  return {
    name: 'simulator',
    source: 'region pages of simulations under region launch --auto=sim',
    declares: [GVT, ...COUNTED],
    open() {
      if (processes === null) return NOTHING;
      const gvt = () => leastOf(processes());
      const signals: Signal[] = [{ ...GVT, open: () => ({ read: gvt }) }];
      for (let k = 0; k < ENGINE_COUNTS; k++) {
        signals.push({ ...COUNTED[k], open: () => ({ read: () => sumOf(processes(), k) }) });
      }
      return { signals };
    },
  };
}

function leastOf(processes: readonly Simulating[]): number {
  let least = Number.NaN;
  for (const { gvt } of processes) if (!(gvt >= least)) least = Number.isNaN(gvt) ? least : gvt;
  return least;
}

function sumOf(processes: readonly Simulating[], count: number): number {
  let sum = 0;
  for (const { counts } of processes) sum += counts[count];
  return sum;
}
