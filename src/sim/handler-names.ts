/** Names of what handlers get. */
import type { Fields } from '../model/struct.ts';
import type { EventInfo, Lp, Results } from './model.ts';

/** The names of an LP's view; the compiler checks that none is missing. */
const VIEW: Readonly<Record<Exclude<keyof Lp<Fields, Fields, unknown>, keyof typeof ACTS>, true>> =
  {
    id: true,
    type: true,
    pe: true,
    kp: true,
    lps: true,
    now: true,
    end: true,
    warmup: true,
    lookahead: true,
    params: true,
    event: true,
    state: true,
  };
const ACTS = {
  send: true,
  arm: true,
  cancel: true,
  output: true,
  suspend: true,
  requestHook: true,
  stop: true,
  log: true,
  exp: true,
  pow: true,
  sin: true,
  cos: true,
  sqrt: true,
  uniform: true,
  integer: true,
  ulong: true,
  exponential: true,
  binomial: true,
  geometric: true,
  poisson: true,
  gamma: true,
  pareto: true,
  weibull: true,
  normal01: true,
  normalSd: true,
  lognormal: true,
} as const;
const RESULTS: Readonly<Record<keyof Results, true>> = {
  add: true,
  max: true,
  count: true,
  row: true,
};
const EVENT: Readonly<Record<keyof EventInfo, true>> = {
  source: true,
  sendTime: true,
  priority: true,
  bits: true,
};

/** Names in the object that handlers receive. */
export const NAMES = {
  lp: [...Object.keys(VIEW), ...Object.keys(ACTS)],
  view: Object.keys(VIEW),
  acts: Object.keys(ACTS),
  results: Object.keys(RESULTS),
  event: Object.keys(EVENT),
};
