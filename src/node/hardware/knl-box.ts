/**
 * Types of Knights Landing's memory controllers: PCI functions at fixed places on the uncore's bus. Each function has boxes of
 * one clock domain. Source: Intel Xeon Phi uncore performance monitoring reference manual, vol. 2 (334480).
 */
import { UnavailableError } from '../tree.ts';
import type { NodeType } from '../types/type.ts';
import type { Hardware } from './hardware.ts';
import { requireIntel } from './intel-models.ts';
import { boxMetrics } from './intel-msr-box.ts';
import { boxRegisters, boxWrites, LAYOUT, type PciLayout } from './intel-pci-box.ts';
import { registerType } from './register-type.ts';

const BUS = 'ff';
const INTEL_VENDOR = 0x8086;

/** Clock of the memory controller's fabric, of the memory outside the package, of the memory in the package. */
export const KNL_LAYOUTS = {
  uclk: { counter: 0x400, select: 0x420, control: 0x430 },
  dclk: LAYOUT,
  eclk: { counter: 0xa00, select: 0xa20, control: 0xa30 },
} as const satisfies Readonly<Record<string, PciLayout>>;

/** Functions of one kind: all pairs of these devices and functions. */
interface KnlFunctions {
  readonly layout: PciLayout;
  readonly devices: readonly number[];
  readonly functions: readonly number[];
  readonly events: readonly bigint[];
}

interface KnlOptions {
  readonly name: string;
  readonly help: string;
  readonly boxes: readonly KnlFunctions[];
}

const ENABLE = 1n << 22n;
export const knlEvent = (number: number, umask: number) => BigInt(number | (umask << 8)) | ENABLE;

interface Place {
  readonly device: string;
  readonly space: string;
  readonly of: KnlFunctions;
}

function placesOf(hardware: Hardware, kinds: readonly KnlFunctions[]): Place[] {
  requireIntel(hardware, ['knl']);
  const words = new Uint32Array(2);
  const all = kinds.flatMap((of) =>
    of.devices.flatMap((device) =>
      of.functions.map((fn): Place => {
        const name = `${BUS}/${device.toString(16).padStart(2, '0')}.${fn}`;
        return { device: name, space: hardware.functionAt(name), of };
      }),
    ),
  );
  let reason = `no function of the memory controllers on PCI bus ${BUS}`;
  const found = all.filter(({ space: name }) => {
    try {
      const space = hardware.space(name);
      try {
        space.read(0, 4, words);
      } finally {
        space.close();
      }
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      reason = error.message;
      return false;
    }
    // All bits are set if nothing answers.
    return (words[0] & 0xffff) === INTEL_VENDOR;
  });
  if (found.length > 0) return found;
  throw new UnavailableError(reason);
}

export function knlBox({ name, help, boxes: kinds }: KnlOptions): NodeType {
  return registerType({
    name,
    help,
    device: 'PCI function',
    source: '/proc/bus/pci/ff/DD.F, or /dev/mem',
    metrics: boxMetrics(48),
    boxes: (hardware) =>
      placesOf(hardware, kinds).map(({ device, space, of }) => ({
        device,
        space,
        registers: boxRegisters(of.layout),
      })),
    writes: (hardware) =>
      placesOf(hardware, kinds).flatMap(({ space, of }) => boxWrites(space, of.layout, of.events)),
  });
}
