/** Uncore units of Intel's Xeon E5 and Scalable that several types share, by generation of the processor. */
import type { NodeType } from '../types/type.ts';
import { MICROARCHITECTURE_NAMES, type Microarchitecture } from './intel-models.ts';
import { intelMsrBox } from './intel-msr-box.ts';
import { intelPciBox } from './intel-pci-box.ts';

/** Caching agent: occupancy of the receive queue, lookups of the last-level cache, occupancy of counter 0, clocks. */
const CBO_V1 = [0x1400334n, 0x1400534n, 0x1400f1en, 0x140001fn];
const CBO_V2 = [0x1400111n, 0x1400334n, 0x1400f1en, 0x1400534n];
/** Power control: cycles limited by temperature, power, I/O, snoops. */
const PCU = [0x1400004n, 0x1400005n, 0x1400081n, 0x1400082n];
const RESIDENCY = [
  ['FIXED_CTR0', 'clocks with all cores in C3', 0x3fc],
  ['FIXED_CTR1', 'clocks with all cores in C6', 0x3fd],
] as const;

/** Caching agents of Sandy and Ivy Bridge (`v1`), of Haswell and Broadwell (`v2`). */
export function cachingAgent(is: Microarchitecture, version: 'v1' | 'v2'): NodeType {
  return intelMsrBox({
    name: `intel_${is}_cbo`,
    help: `caching agents of ${MICROARCHITECTURE_NAMES[is]}`,
    for: [is],
    device: 'package/core',
    ...(version === 'v1'
      ? {
          bits: 44,
          control: 0xd04,
          filters: [[0xd14, 0x7c0000n]],
          select: 0xd10,
          counter: 0xd16,
          perCore: 32,
          events: CBO_V1,
        }
      : {
          bits: 48,
          control: 0xe00,
          filters: [
            [0xe05, 0xfc0000n],
            [0xe06, 0n],
          ],
          select: 0xe01,
          counter: 0xe08,
          perCore: 16,
          events: CBO_V2,
        }),
  });
}

/** Power control of Sandy and Ivy Bridge (`v1`), of Haswell and Broadwell (`v2`). */
export function powerControl(is: Microarchitecture, version: 'v1' | 'v2'): NodeType {
  return intelMsrBox({
    name: `intel_${is}_pcu`,
    help: `power control of ${MICROARCHITECTURE_NAMES[is]}`,
    for: [is],
    device: 'package',
    bits: 48,
    filters: [],
    fixed: RESIDENCY,
    events: PCU,
    ...(version === 'v1'
      ? { control: 0xc24, select: 0xc30, counter: 0xc36 }
      : { control: 0x710, select: 0x711, counter: 0x717, fixedBits: 64 }),
  });
}

/** Memory controller, per channel: reads and writes of columns, activations, precharges. */
export function memoryController(
  is: Microarchitecture,
  ids: readonly number[],
  activations: bigint,
): NodeType {
  return intelPciBox({
    name: `intel_${is}_imc`,
    help: `memory channels of ${MICROARCHITECTURE_NAMES[is]}`,
    ids,
    bits: 48,
    fixed: 'clocks of the memory',
    events: [0x1400304n, 0x1400c04n, activations, 0x1400102n],
  });
}

/** Links between packages: flits of snoops, home, data, data that is not coherent. */
export function link(is: Microarchitecture, ids: readonly number[]): NodeType {
  return intelPciBox({
    name: `intel_${is}_qpi`,
    help: `QPI links of ${MICROARCHITECTURE_NAMES[is]}`,
    ids,
    bits: 48,
    unit: 'flt',
    events: [0x600100n, 0x600400n, 0x600802n, 0x600403n],
  });
}

/** Home agents: reads, writes, clocks, writes to memory. */
export function homeAgent(is: Microarchitecture, ids: readonly number[]): NodeType {
  return intelPciBox({
    name: `intel_${is}_hau`,
    help: `home agents of ${MICROARCHITECTURE_NAMES[is]}`,
    ids,
    bits: 48,
    events: [0x1400301n, 0x1400c01n, 0x1400000n, 0x1400f1an],
  });
}

/** Ring to PCI Express: inserts, then use of the data, address and acknowledge rings. */
export function ringToPci(is: Microarchitecture, ids: readonly number[]): NodeType {
  return intelPciBox({
    name: `intel_${is}_r2pci`,
    help: `ring to PCI Express of ${MICROARCHITECTURE_NAMES[is]}`,
    ids,
    bits: 44,
    events: [0x1400424n, 0x1400f09n, 0x1400f07n, 0x1400f08n],
  });
}
