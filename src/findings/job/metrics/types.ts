/** Types that measure the same thing on different processors. */
import type { JobView } from '../view.ts';

/** Types of core counters and the nominal frequency of their processors in GHz, as in tacc_stats 2.3.5. */
const NOMINAL: Readonly<Record<string, number>> = {
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
const IMC = [
  'amd64_umc',
  ...['snb', 'ivb', 'hsw', 'bdw', 'skx', 'icx', 'spr', 'gnr'].map((name) => `intel_${name}_imc`),
  'intel_knl_mc_dclk',
];
const CHA = ['intel_skx_cha', 'intel_knl_cha'];

/** Core counters, under the name that formulas use for those of all processors. */
export const PMC = { name: 'pmc', of: (view: JobView): string => pmc(view) };

export const pmc = (view: JobView): string =>
  view.type(Object.keys(NOMINAL), 'core counters (intel_snb, intel_hsw, intel_8pmc3, …)');

/** GHz; NaN if tacc_stats has none. */
export const nominalFrequency = (type: string): number => NOMINAL[type] ?? Number.NaN;

export const imc = (view: JobView): string =>
  view.type(IMC, 'memory controller counters (intel_snb_imc, intel_hsw_imc, …)');

export const cha = (view: JobView): string =>
  view.type(CHA, 'caching agent counters (intel_skx_cha)');

/** The host fabric: InfiniBand, or else Omni-Path, which counts flits of 8 B. `bytes`: the size of one counted unit. */
export function fabric(view: JobView): {
  readonly type: string;
  readonly data: readonly string[];
  readonly packets: readonly string[];
  readonly bytes: number;
} {
  const type = view.type(['ib_ext', 'opa'], 'fabric counters (ib_ext, opa)');
  return type === 'ib_ext'
    ? {
        type,
        data: ['port_xmit_data', 'port_rcv_data'],
        packets: ['port_xmit_pkts', 'port_rcv_pkts'],
        bytes: 1,
      }
    : {
        type,
        data: ['PortXmitData', 'PortRcvData'],
        packets: ['PortXmitPkts', 'PortRcvPkts'],
        bytes: 8,
      };
}

/** Metadata operations of llite, as tacc_stats adds them up. */
export const METADATA: readonly string[] = [
  ...['open', 'close', 'mmap', 'fsync', 'setattr', 'truncate', 'flock', 'getattr', 'statfs'],
  ...['alloc_inode', 'setxattr', 'listxattr', 'removexattr', 'readdir', 'create', 'lookup'],
  ...['link', 'unlink', 'symlink', 'mkdir', 'rmdir', 'mknod', 'rename'],
];

/** The operations that the file has: they depend on the version of Lustre and of the collector. */
export const metadata = (view: JobView): readonly string[] => {
  const there = METADATA.filter((key) => view.has('llite', key));
  return there.length > 0 ? there : METADATA;
};
