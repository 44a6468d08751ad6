// Runs with which nothing is wrong: all models and synchronisers, 0.05 to 30 s.
import { RECORDED } from './causes.mjs';

const healthy = (name, model, options) => ({
  name,
  draw: (d) => ({ command: ['sim', 'run', model], options: options(d), recorded: RECORDED }),
});
const two = { pes: 2 };
const conservative = { synch: 2, ...two };

export const HEALTHY = [
  healthy('phold, sequential, very short', 'phold', (d) => ({
    'total-lps': d.pick(8, 16),
    end: 2000,
  })),
  healthy('phold, sequential', 'phold', (d) => ({ 'total-lps': d.pick(512, 1024), end: 4000 })),
  healthy('phold, sequential, long', 'phold', (d) => ({
    'total-lps': 512,
    end: d.whole(150_000, 200_000),
  })),
  healthy('phold, conservative', 'phold', (d) => ({
    'total-lps': d.pick(2048, 4096),
    ...conservative,
    mean: 2,
    end: 4000,
  })),
  healthy('phold, optimistic', 'phold', (d) => ({
    'total-lps': d.pick(2048, 4096),
    ...two,
    mean: 2,
    end: 4000,
  })),
  healthy('phold, optimistic, few LPs', 'phold', (d) => ({
    'total-lps': d.pick(128, 256),
    'start-events': 16,
    ...two,
    mean: 2,
    end: 20_000,
  })),
  healthy('phold, realtime', 'phold', (d) => ({
    'total-lps': d.pick(2048, 4096),
    synch: 5,
    ...two,
    mean: 2,
    end: 2500,
  })),
  healthy('phold, optimistic, one PE', 'phold', (d) => ({
    'total-lps': d.pick(512, 1024),
    synch: 3,
    end: 12_000,
  })),
  healthy('queueing, sequential', 'queueing', (d) => ({
    'total-stations': d.pick(64, 128),
    end: 80_000,
  })),
  healthy('queueing, conservative', 'queueing', (d) => ({
    'total-stations': d.pick(1024, 2048),
    ...conservative,
    end: 8000,
  })),
  healthy('queueing, optimistic', 'queueing', (d) => ({
    'total-stations': d.pick(1024, 2048),
    ...two,
    end: 8000,
  })),
  healthy('queueing, short', 'queueing', (d) => ({ 'total-stations': d.pick(32, 64), end: 400 })),
  healthy('torus, sequential', 'torus', (d) => ({ k: d.pick(8, 16), end: 50_000 })),
  // Links are loaded by half at most: an overloaded network has ever more packets under way.
  healthy('torus, conservative', 'torus', (d) => ({
    k: d.pick(32, 40),
    interval: 200,
    ...conservative,
    lookahead: 17,
    end: 20_000,
  })),
  healthy('torus, optimistic', 'torus', (d) => ({
    k: d.pick(24, 32),
    interval: 200,
    ...two,
    lookahead: 17,
    end: 30_000,
  })),
  healthy('torus, rollback check', 'torus', (d) => ({ k: d.pick(8, 10), synch: 6, end: 5000 })),
  healthy('pcs, sequential', 'pcs', (d) => ({ width: d.pick(16, 32), end: 2000 })),
  healthy('pcs, conservative', 'pcs', (d) => ({
    width: d.pick(48, 64),
    height: 64,
    ...conservative,
    end: 600,
  })),
  healthy('pcs, optimistic', 'pcs', (d) => ({
    width: d.pick(48, 64),
    height: 64,
    ...two,
    end: 800,
  })),
  healthy('pcs, debug', 'pcs', (d) => ({ width: d.pick(8, 10), height: 8, synch: 4, end: 100 })),
];
