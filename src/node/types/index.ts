/** The types that can be collected, in the order of a record group. A new type is a file and a line here. */
import { AMD64_DF } from './amd64-df.ts';
import { AMD64_PMC } from './amd64-pmc.ts';
import { AMD64_RAPL } from './amd64-rapl.ts';
import { BLOCK } from './block.ts';
import { CPU } from './cpu.ts';
import { CPU_STEAL } from './cpu-steal.ts';
import { IB } from './ib.ts';
import { IB_EXT } from './ib-ext.ts';
import { IB_SW } from './ib-sw.ts';
import { INTEL_4PMC3 } from './intel-4pmc3.ts';
import { INTEL_8PMC3 } from './intel-8pmc3.ts';
import { INTEL_BDW } from './intel-bdw.ts';
import { INTEL_BDW_CBO } from './intel-bdw-cbo.ts';
import { INTEL_BDW_HAU } from './intel-bdw-hau.ts';
import { INTEL_BDW_IMC } from './intel-bdw-imc.ts';
import { INTEL_BDW_PCU } from './intel-bdw-pcu.ts';
import { INTEL_BDW_QPI } from './intel-bdw-qpi.ts';
import { INTEL_BDW_R2PCI } from './intel-bdw-r2pci.ts';
import { INTEL_HSW } from './intel-hsw.ts';
import { INTEL_HSW_CBO } from './intel-hsw-cbo.ts';
import { INTEL_HSW_HAU } from './intel-hsw-hau.ts';
import { INTEL_HSW_HT } from './intel-hsw-ht.ts';
import { INTEL_HSW_IMC } from './intel-hsw-imc.ts';
import { INTEL_HSW_PCU } from './intel-hsw-pcu.ts';
import { INTEL_HSW_QPI } from './intel-hsw-qpi.ts';
import { INTEL_HSW_R2PCI } from './intel-hsw-r2pci.ts';
import { INTEL_IVB } from './intel-ivb.ts';
import { INTEL_IVB_CBO } from './intel-ivb-cbo.ts';
import { INTEL_IVB_HAU } from './intel-ivb-hau.ts';
import { INTEL_IVB_IMC } from './intel-ivb-imc.ts';
import { INTEL_IVB_PCU } from './intel-ivb-pcu.ts';
import { INTEL_IVB_QPI } from './intel-ivb-qpi.ts';
import { INTEL_IVB_R2PCI } from './intel-ivb-r2pci.ts';
import { INTEL_KNL } from './intel-knl.ts';
import { INTEL_KNL_EDC } from './intel-knl-edc.ts';
import { INTEL_KNL_MC } from './intel-knl-mc.ts';
import { INTEL_NHM } from './intel-nhm.ts';
import { INTEL_RAPL } from './intel-rapl.ts';
import { INTEL_SKX } from './intel-skx.ts';
import { INTEL_SKX_CHA } from './intel-skx-cha.ts';
import { INTEL_SKX_IMC } from './intel-skx-imc.ts';
import { INTEL_SNB } from './intel-snb.ts';
import { INTEL_SNB_CBO } from './intel-snb-cbo.ts';
import { INTEL_SNB_HAU } from './intel-snb-hau.ts';
import { INTEL_SNB_IMC } from './intel-snb-imc.ts';
import { INTEL_SNB_PCU } from './intel-snb-pcu.ts';
import { INTEL_SNB_QPI } from './intel-snb-qpi.ts';
import { INTEL_SNB_R2PCI } from './intel-snb-r2pci.ts';
import { INTEL_UNCORE } from './intel-uncore.ts';
import { INTEL_WTM } from './intel-wtm.ts';
import { LLITE } from './llite.ts';
import { LNET } from './lnet.ts';
import { MDC } from './mdc.ts';
import { MEM } from './mem.ts';
import { MIC } from './mic.ts';
import { NET } from './net.ts';
import { NFS } from './nfs.ts';
import { NUMA } from './numa.ts';
import { NVIDIA_GPU } from './nvidia-gpu.ts';
import { OPA } from './opa.ts';
import { OSC } from './osc.ts';
import { PROC } from './proc.ts';
import { PS } from './ps.ts';
import { SYSV_SHM } from './sysv-shm.ts';
import { TMPFS } from './tmpfs.ts';
import type { NodeType } from './type.ts';
import { VFS } from './vfs.ts';
import { VM } from './vm.ts';

export const NODE_TYPES: readonly NodeType[] = [
  AMD64_DF,
  AMD64_PMC,
  AMD64_RAPL,
  BLOCK,
  CPU,
  CPU_STEAL,
  IB,
  IB_EXT,
  IB_SW,
  INTEL_4PMC3,
  INTEL_8PMC3,
  INTEL_BDW,
  INTEL_BDW_CBO,
  INTEL_BDW_HAU,
  INTEL_BDW_IMC,
  INTEL_BDW_PCU,
  INTEL_BDW_QPI,
  INTEL_BDW_R2PCI,
  INTEL_HSW,
  INTEL_HSW_CBO,
  INTEL_HSW_HAU,
  INTEL_HSW_HT,
  INTEL_HSW_IMC,
  INTEL_HSW_PCU,
  INTEL_HSW_QPI,
  INTEL_HSW_R2PCI,
  INTEL_IVB,
  INTEL_IVB_CBO,
  INTEL_IVB_HAU,
  INTEL_IVB_IMC,
  INTEL_IVB_PCU,
  INTEL_IVB_QPI,
  INTEL_IVB_R2PCI,
  INTEL_KNL,
  INTEL_KNL_EDC,
  INTEL_KNL_MC,
  INTEL_NHM,
  INTEL_RAPL,
  INTEL_SKX,
  INTEL_SKX_CHA,
  INTEL_SKX_IMC,
  INTEL_SNB,
  INTEL_SNB_CBO,
  INTEL_SNB_HAU,
  INTEL_SNB_IMC,
  INTEL_SNB_PCU,
  INTEL_SNB_QPI,
  INTEL_SNB_R2PCI,
  INTEL_UNCORE,
  INTEL_WTM,
  LLITE,
  LNET,
  MDC,
  MEM,
  MIC,
  NET,
  NFS,
  NUMA,
  NVIDIA_GPU,
  OPA,
  OSC,
  PROC,
  PS,
  SYSV_SHM,
  TMPFS,
  VFS,
  VM,
];
