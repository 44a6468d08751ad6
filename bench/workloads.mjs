// The four PHOLD workloads on which ROSS's own figures were taken (remote 0.25, mean 1), with ROSS's best
// rate on each in Mev/s (v7.2.1, -march=native, no timing, best of its options), and what a naive
// JavaScript heap reached on that machine: the yardstick between that machine and this one.

export const WORKLOADS = {
  S: {
    lps: 16,
    startEvents: 1,
    lookahead: 1,
    end: 100000,
    long: 400000,
    ross: 10.2,
    naive: 5.8,
    reach: 10,
    aim: 14,
  },
  M: {
    lps: 1024,
    startEvents: 1,
    lookahead: 0.1,
    end: 1000,
    long: 6000,
    ross: 3.72,
    naive: 4.3,
    reach: 11,
    aim: 16,
  },
  L: {
    lps: 16384,
    startEvents: 10,
    lookahead: 0.1,
    end: 20,
    long: 60,
    ross: 0.88,
    naive: 2.8,
    reach: 5,
    aim: 7,
  },
  XL: {
    lps: 131072,
    startEvents: 16,
    lookahead: 0.1,
    end: 3,
    long: 3,
    ross: 0.26,
    naive: 1.7,
    reach: 2.6,
    aim: 4,
  },
};

// Two PEs: the options with which ROSS was best, and those that were best here.
export const PARALLEL = {
  M: {
    ...WORKLOADS.M,
    long: 12000,
    ross: 6.01,
    reach: 9,
    aim: 12.5,
    options: ['--batch=64', '--gvt-interval=64'],
  },
  L: {
    ...WORKLOADS.L,
    long: 70,
    ross: 1.49,
    reach: 6,
    aim: 7,
    options: ['--batch=64', '--gvt-interval=64'],
  },
};

export function arguments_(w, end, more = []) {
  return [
    'sim',
    'run',
    'phold',
    `--total-lps=${w.lps}`,
    `--start-events=${w.startEvents}`,
    '--mean=1',
    '--remote=0.25',
    `--lookahead=${w.lookahead}`,
    `--end=${end}`,
    ...more,
    '--json',
  ];
}
