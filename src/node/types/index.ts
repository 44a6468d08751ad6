/** The types that can be collected. A new type is a file and a line here. */

import { AMD_GPU } from './amd-gpu.ts';
import { AMD_GPU_ECC } from './amd-gpu-ecc.ts';
import { AMD_GPU_THROTTLES } from './amd-gpu-throttle.ts';
import { AMD64_DF } from './amd64-df.ts';
import { AMD64_PMC } from './amd64-pmc.ts';
import { AMD64_RAPL } from './amd64-rapl.ts';
import { AMD64_UMC } from './amd64-umc.ts';
import { BLOCK } from './block.ts';
import { CGROUPS } from './cgroup.ts';
import { CGROUP_IO } from './cgroup-io.ts';
import { CPU } from './cpu.ts';
import { CPU_STEAL } from './cpu-steal.ts';
import { HWMON } from './hwmon.ts';
import { IB } from './ib.ts';
import { IB_EXT } from './ib-ext.ts';
import { IB_SW } from './ib-sw.ts';
import { INTEL_CORES } from './intel-cores.ts';
import { INTEL_E5_UNITS } from './intel-e5.ts';
import { INTEL_GNR_IMC } from './intel-gnr-imc.ts';
import { INTEL_GPU, INTEL_GPU_STATE } from './intel-gpu.ts';
import { INTEL_ICX_IMC } from './intel-icx-imc.ts';
import { INTEL_KNL_EDC } from './intel-knl-edc.ts';
import { INTEL_KNL_MC } from './intel-knl-mc.ts';
import { INTEL_RAPL } from './intel-rapl.ts';
import { INTEL_SKX_CHA } from './intel-skx-cha.ts';
import { INTEL_SKX_IMC } from './intel-skx-imc.ts';
import { INTEL_SPR_IMC } from './intel-spr-imc.ts';
import { INTEL_UNCORE } from './intel-uncore.ts';
import { LLITE } from './llite.ts';
import { LNET } from './lnet.ts';
import { MDC } from './mdc.ts';
import { MEM } from './mem.ts';
import { MIC } from './mic.ts';
import { NET } from './net.ts';
import { NFS, NFS4 } from './nfs.ts';
import { NUMA } from './numa.ts';
import { NVIDIA_GPUS } from './nvidia-gpu.ts';
import { OPA } from './opa.ts';
import { OSC } from './osc.ts';
import { POWERCAP, POWERCAP_LIMIT } from './powercap.ts';
import { PROC } from './proc.ts';
import { PS } from './ps.ts';
import { PSI } from './psi.ts';
import { SYSV_SHM } from './sysv-shm.ts';
import { TMPFS } from './tmpfs.ts';
import type { NodeType } from './type.ts';
import { VFS } from './vfs.ts';
import { VM } from './vm.ts';

const ALL: readonly NodeType[] = [
  AMD64_DF,
  AMD64_PMC,
  AMD64_RAPL,
  AMD64_UMC,
  AMD_GPU,
  AMD_GPU_ECC,
  ...AMD_GPU_THROTTLES,
  BLOCK,
  ...CGROUPS,
  CGROUP_IO,
  CPU,
  CPU_STEAL,
  ...HWMON,
  IB,
  IB_EXT,
  IB_SW,
  ...INTEL_CORES,
  ...INTEL_E5_UNITS,
  INTEL_GNR_IMC,
  INTEL_GPU,
  INTEL_GPU_STATE,
  INTEL_ICX_IMC,
  INTEL_KNL_EDC,
  INTEL_KNL_MC,
  INTEL_RAPL,
  INTEL_SKX_CHA,
  INTEL_SKX_IMC,
  INTEL_SPR_IMC,
  INTEL_UNCORE,
  LLITE,
  LNET,
  MDC,
  MEM,
  MIC,
  NET,
  NFS,
  NFS4,
  NUMA,
  ...NVIDIA_GPUS,
  OPA,
  OSC,
  POWERCAP,
  POWERCAP_LIMIT,
  PROC,
  PS,
  PSI,
  SYSV_SHM,
  TMPFS,
  VFS,
  VM,
];

/** By name: the order of a record group. */
export const NODE_TYPES: readonly NodeType[] = ALL.toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** What the keys of all types mean: by table of raw stats, by column. */
export const keyHelp = (): Record<string, Record<string, string>> =>
  Object.fromEntries(
    NODE_TYPES.map(({ name, metrics }) => [
      `node_${name}`,
      Object.fromEntries(metrics.map(({ key, help }) => [key, help])),
    ]),
  );
