/**
 * Types of the uncore units whose boxes are PCI functions: memory channels, QPI links, home agents, ring to PCIe. In
 * each function's configuration space: control at F4h, 32-bit selectors from D8h on, 64-bit counters from A0h on.
 * The functions are found by their ids. Sources: as `intel-msr-box.ts`.
 */
import { UnavailableError } from '../tree.ts';
import { counter, type NodeType } from '../types/type.ts';
import type { Hardware } from './hardware.ts';
import { boxMetrics, FREEZE, THAW } from './intel-msr-box.ts';
import { INTEL, type PciFunction } from './pci.ts';
import { type RegisterWrite, registerType, type TypeRegister } from './register-type.ts';

const COUNTERS = 4;

/** Where a box's registers are. */
export interface PciLayout {
  readonly control: number;
  readonly select: number;
  readonly counter: number;
}

export const LAYOUT: PciLayout = { control: 0xf4, select: 0xd8, counter: 0xa0 };
const FIXED: TypeRegister = { at: 0xd0, width: 8 };

interface PciBoxOptions {
  readonly name: string;
  readonly help: string;
  /** Device ids. */
  readonly ids: readonly number[];
  readonly bits: number;
  readonly unit?: string;
  /** Help of the counter of clocks; omitted for a box without one. */
  readonly fixed?: string;
  readonly events: readonly bigint[];
}

const hex = (value: number) => value.toString(16).padStart(4, '0');

/** Functions with these ids. @throws UnavailableError if there are none */
export function functionsOf(hardware: Hardware, ids: readonly number[]): PciFunction[] {
  const found = hardware.functions.filter(
    ({ vendor, device }) => vendor === INTEL && ids.includes(device),
  );
  if (found.length > 0) return found;
  throw new UnavailableError(`/proc/bus/pci has no device 8086:${ids.map(hex).join(', ')}`);
}

export function boxRegisters({ select, counter: count }: PciLayout): TypeRegister[] {
  return [
    ...Array.from({ length: COUNTERS }, (_, k): TypeRegister => ({ at: select + 4 * k, width: 4 })),
    ...Array.from({ length: COUNTERS }, (_, k): TypeRegister => ({ at: count + 8 * k, width: 8 })),
  ];
}

export function boxWrites(
  space: string,
  { control, select }: PciLayout,
  events: readonly bigint[],
  [before, after]: readonly [bigint, bigint] = [FREEZE, THAW],
): RegisterWrite[] {
  const write = (at: number, value: bigint): RegisterWrite => ({ space, at, width: 4, value });
  return [
    write(control, before),
    ...events.map((event, k) => write(select + 4 * k, event)),
    write(control, after),
  ];
}

export function intelPciBox(options: PciBoxOptions): NodeType {
  const { name, help, ids, bits, unit = '', fixed, events } = options;
  const registers = fixed === undefined ? boxRegisters(LAYOUT) : [...boxRegisters(LAYOUT), FIXED];
  return registerType({
    name,
    help,
    device: 'PCI function',
    source: '/proc/bus/pci/BB/DD.F',
    metrics: [
      ...boxMetrics(bits, unit),
      ...(fixed === undefined ? [] : [counter('FIXED_CTR', fixed, '', bits)]),
    ],
    boxes: (hardware) =>
      functionsOf(hardware, ids).map(({ name: device }) => ({
        device,
        space: `pci ${device}`,
        registers,
      })),
    writes: (hardware) =>
      functionsOf(hardware, ids).flatMap(({ name: device }) =>
        boxWrites(`pci ${device}`, LAYOUT, events),
      ),
  });
}
