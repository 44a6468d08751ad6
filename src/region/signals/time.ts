/** TIME: seconds since time zero, the same for every CPU. */
import type { Provider, Signal, SignalDeclaration } from './provider.ts';

const TIME: SignalDeclaration = {
  name: 'TIME',
  description: 'Seconds since time zero: the start of the run, or of the command',
  unit: 's',
  domain: 'cpu',
  behaviour: 'monotone',
  aggregation: 'select_first',
  format: 'double',
};

const ELAPSED: SignalDeclaration = {
  ...TIME,
  name: 'TIME::ELAPSED',
  description: 'The same as TIME, by the name of its source',
};

export const time: Provider = {
  name: 'time',
  source: 'CLOCK_MONOTONIC',
  declares: [TIME, ELAPSED],
  open: () => ({
    signals: [TIME, ELAPSED].map((one): Signal => {
      return { ...one, computed: true, open: (_, tick) => ({ read: () => tick.time }) };
    }),
  }),
};
