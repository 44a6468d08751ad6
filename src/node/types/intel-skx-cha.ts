/** `intel_skx_cha`: caching and home agents of Skylake, one per core. */
import { intelMsrBox } from '../hardware/intel-msr-box.ts';

/** Evictions of the snoop filter, local lookups of the last-level cache, bypasses, writes to that cache. */
const EVENTS = [0x40073dn, 0x403334n, 0x400757n, 0x400534n];
/** Lets the counters of the whole package run. */
const GLOBAL_CONTROL = 0x700;

export const INTEL_SKX_CHA = intelMsrBox({
  name: 'intel_skx_cha',
  help: 'caching and home agents of Skylake',
  for: ['skx'],
  device: 'package/core',
  bits: 48,
  control: 0xe00,
  filters: [
    [0xe05, 0x1e20000n],
    [0xe06, 0x3bn],
  ],
  select: 0xe01,
  counter: 0xe08,
  perCore: 16,
  events: EVENTS,
  after: [GLOBAL_CONTROL, 1n << 61n],
});
