/**
 * Made-up values for a machine that shows no energy: 50 W per package, 5 W for its memory, all CPUs at 80 % of
 * 2.6 GHz, 40 °C. Their descriptions say so, and they never replace a real signal.
 */
import type { Provider, Signal, SignalDeclaration } from './provider.ts';

const PACKAGE_WATTS = 50;
const DRAM_WATTS = 5;
const STICKER_HZ = 2.6e9;
const ACTIVE = 0.8;
const CELSIUS = 40;

type Demo = SignalDeclaration & { readonly at: (seconds: number) => number };

const DEMOS: readonly Demo[] = [
  {
    name: 'SYNTHETIC::CPU_ENERGY',
    alias: 'CPU_ENERGY',
    description: 'Demo value, not measured: 50 W in each package',
    unit: 'J',
    domain: 'package',
    behaviour: 'monotone',
    aggregation: 'sum',
    format: 'double',
    at: (seconds) => PACKAGE_WATTS * seconds,
  },
  {
    name: 'SYNTHETIC::DRAM_ENERGY',
    alias: 'DRAM_ENERGY',
    description: 'Demo value, not measured: 5 W in the memory of each package',
    unit: 'J',
    domain: 'package',
    behaviour: 'monotone',
    aggregation: 'sum',
    format: 'double',
    at: (seconds) => DRAM_WATTS * seconds,
  },
  {
    name: 'SYNTHETIC::CPU_CYCLES_REFERENCE',
    alias: 'CPU_CYCLES_REFERENCE',
    description: 'Demo value, not measured: 2.6e9 cycles a second',
    unit: '',
    domain: 'cpu',
    behaviour: 'monotone',
    aggregation: 'sum',
    format: 'double',
    at: (seconds) => STICKER_HZ * seconds,
  },
  {
    name: 'SYNTHETIC::CPU_CYCLES_THREAD',
    alias: 'CPU_CYCLES_THREAD',
    description: 'Demo value, not measured: 80 % of the reference cycles',
    unit: '',
    domain: 'cpu',
    behaviour: 'monotone',
    aggregation: 'sum',
    format: 'double',
    at: (seconds) => ACTIVE * STICKER_HZ * seconds,
  },
  {
    name: 'SYNTHETIC::CPU_FREQUENCY_STICKER',
    alias: 'CPU_FREQUENCY_STICKER',
    description: 'Demo value, not measured: 2.6 GHz',
    unit: 'Hz',
    domain: 'board',
    behaviour: 'constant',
    aggregation: 'expect_same',
    format: 'double',
    at: () => STICKER_HZ,
  },
  {
    name: 'SYNTHETIC::CPU_FREQUENCY_STATUS',
    alias: 'CPU_FREQUENCY_STATUS',
    description: 'Demo value, not measured: 80 % of 2.6 GHz',
    unit: 'Hz',
    domain: 'cpu',
    behaviour: 'variable',
    aggregation: 'average',
    format: 'double',
    at: () => ACTIVE * STICKER_HZ,
  },
  {
    name: 'SYNTHETIC::CPU_CORE_TEMPERATURE',
    alias: 'CPU_CORE_TEMPERATURE',
    description: 'Demo value, not measured: 40 degrees',
    unit: 'Celsius',
    domain: 'core',
    behaviour: 'variable',
    aggregation: 'average',
    format: 'double',
    at: () => CELSIUS,
  },
];

const declarationOf = ({ at: _, ...declaration }: Demo): SignalDeclaration => declaration;

const signalOf = (demo: Demo): Signal => ({
  ...declarationOf(demo),
  computed: true,
  open: (_, tick) => ({ read: () => demo.at(tick.time) }),
});

export const syntheticProvider: Provider = {
  name: 'synthetic',
  source: 'nothing: demo values, with --synthetic only',
  declares: DEMOS.map(declarationOf),
  open({ find }) {
    const isMissing = ({ alias = '' }: Demo) => find(alias) === null;
    const cycles = DEMOS.some((demo) => demo.unit === '' && isMissing(demo));
    return {
      signals: DEMOS.flatMap((demo): Signal[] => {
        // The share of cycles and the frequency to which it refers belong together.
        if (cycles && demo.behaviour === 'constant') return [{ ...signalOf(demo), claims: true }];
        return isMissing(demo) ? [signalOf(demo)] : [];
      }),
    };
  },
};
