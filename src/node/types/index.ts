/** The types that can be collected, in the order of a record group. A new type is a file and a line here. */
import { BLOCK } from './block.ts';
import { CPU } from './cpu.ts';
import { CPU_STEAL } from './cpu-steal.ts';
import { IB } from './ib.ts';
import { LLITE } from './llite.ts';
import { LNET } from './lnet.ts';
import { MDC } from './mdc.ts';
import { MEM } from './mem.ts';
import { NET } from './net.ts';
import { NFS } from './nfs.ts';
import { NUMA } from './numa.ts';
import { OSC } from './osc.ts';
import { PROC } from './proc.ts';
import { PS } from './ps.ts';
import { SYSV_SHM } from './sysv-shm.ts';
import { TMPFS } from './tmpfs.ts';
import type { NodeType } from './type.ts';
import { VFS } from './vfs.ts';
import { VM } from './vm.ts';

export const NODE_TYPES: readonly NodeType[] = [
  BLOCK,
  CPU,
  CPU_STEAL,
  IB,
  LLITE,
  LNET,
  MDC,
  MEM,
  NET,
  NFS,
  NUMA,
  OSC,
  PROC,
  PS,
  SYSV_SHM,
  TMPFS,
  VFS,
  VM,
];
