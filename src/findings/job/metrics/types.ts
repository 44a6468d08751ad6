/** Types that measure the same thing on different processors. */
import type { JobView } from '../view.ts';

/** Types of core counters and the nominal frequency of their processors in GHz, as in tacc_stats 2.3.5. */
export const NOMINAL: Readonly<Record<string, number>> = {
  intel_snb: 2.7,
  intel_ivb: 2.8,
  intel_hsw: 2.3,
  intel_hsw_ht: 2.3,
  intel_bdw: 2.6,
  intel_knl: 1.4,
  intel_skx: 2.1,
  intel_8pmc3: 2.7,
  intel_4pmc3: 2.7,
  intel_nhm: Number.NaN,
  intel_wtm: Number.NaN,
  intel_pmc3: Number.NaN,
};

const models = (unit: string, names: readonly string[]) =>
  names.map((name) => `intel_${name}_${unit}`);

/** By the name that formulas use: the types of all processors, and what they are. */
const FAMILIES: Readonly<
  Record<string, { readonly types: readonly string[]; readonly what: string }>
> = {
  pmc: {
    types: Object.keys(NOMINAL),
    what: 'core counters (intel_snb, intel_hsw, intel_8pmc3, …)',
  },
  imc: {
    types: [
      'amd64_umc',
      ...models('imc', ['snb', 'ivb', 'hsw', 'bdw', 'skx', 'icx', 'spr', 'gnr']),
      'intel_knl_mc_dclk',
    ],
    what: 'memory controller counters (intel_snb_imc, intel_hsw_imc, …)',
  },
  cha: { types: models('cha', ['skx', 'knl']), what: 'caching agent counters (intel_skx_cha)' },
  pcu: {
    types: [...models('pcu', ['snb', 'ivb', 'hsw', 'bdw']), 'intel_pcu'],
    what: 'power control counters',
  },
};

/** The type of this name, or the job's type of the family of this name. @throws MissingInput */
export function typeIn(view: JobView, name: string): string {
  const family = FAMILIES[name];
  return family === undefined ? name : view.type(family.types, family.what);
}

/** Metadata operations of llite, as tacc_stats adds them up. */
export const METADATA: readonly string[] = [
  ...['open', 'close', 'mmap', 'fsync', 'setattr', 'truncate', 'flock', 'getattr', 'statfs'],
  ...['alloc_inode', 'setxattr', 'listxattr', 'removexattr', 'readdir', 'create', 'lookup'],
  ...['link', 'unlink', 'symlink', 'mkdir', 'rmdir', 'mknod', 'rename'],
];
