/** TIME: seconds since time zero, the same for every CPU. */
import type { Provider, SignalDeclaration } from './provider.ts';

const TIME: SignalDeclaration = {
  name: 'TIME',
  description: 'Seconds since time zero: the start of the run, or of the command',
  unit: 's',
  domain: 'cpu',
  behaviour: 'monotone',
  aggregation: 'select_first',
  format: 'double',
};

export const time: Provider = {
  name: 'time',
  source: 'CLOCK_MONOTONIC',
  declares: [TIME],
  open: () => ({
    signals: [{ ...TIME, computed: true, open: (_, tick) => ({ read: () => tick.time }) }],
  }),
};
