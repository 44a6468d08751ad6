// Runs with which nothing is wrong: all models and synchronisers, 0.05 to 30 s.
import { RECORDED } from './causes.mjs';

const run = (model, options, recorded = RECORDED) => ({
  command: ['sim', 'run', model],
  options,
  recorded,
});
const simulation = (name, model, options) => ({
  name,
  draw: (d) => run(model, typeof options === 'function' ? options(d) : options),
});

export const HEALTHY = [
  simulation('phold, sequential, short', 'phold', (d) => ({
    'total-lps': d.pick(64, 256),
    end: 1000,
  })),
  simulation('queueing, sequential', 'queueing', (d) => ({
    'total-stations': d.pick(64, 128),
    end: 4000,
  })),
  simulation('phold, optimistic', 'phold', (d) => ({
    'total-lps': d.pick(2048, 4096),
    pes: 2,
    end: 800,
  })),
  simulation('torus, conservative', 'torus', (d) => ({
    k: d.pick(16, 24),
    synch: 2,
    pes: 2,
    end: 2000,
  })),
];
