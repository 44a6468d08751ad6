/** The types that can be collected, in the order of a record group. A new type is a file and a line here. */
import { CPU } from './cpu.ts';
import { CPU_STEAL } from './cpu-steal.ts';
import type { NodeType } from './type.ts';

export const NODE_TYPES: readonly NodeType[] = [CPU, CPU_STEAL];
