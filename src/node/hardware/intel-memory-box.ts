/**
 * Memory controllers of Intel's servers whose counters lie in memory: a function of each package (its ids are given) says where: bits
 * 0 to 28 of D0h are bits 23 on of the package's base, bits 0 to 10 of D8h, DCh, … bits 12 on of each controller's. A channel's box
 * is 22800h behind, the next one a step further. In it control at 0, counters of 64 bits from 8 on, selectors of 32 from 40h on, clocks
 * at 38h. Never run on hardware. Sources: Intel Xeon Processor Scalable Family (3rd, 4th generation) Uncore Performance Monitoring
 * Reference Manual; Linux, arch/x86/events/intel/uncore_snbep.c.
 */
import { UnavailableError } from '../tree.ts';
import { counter, type NodeType } from '../types/type.ts';
import type { Hardware } from './hardware.ts';
import { boxMetrics } from './intel-msr-box.ts';
import { boxRegisters, boxWrites, functionsOf } from './intel-pci-box.ts';
import { registerType } from './register-type.ts';

const [BASE, CONTROLLER] = [0xd0, 0xd8];
const BITS = 48;
/** A channel's box begins in the middle of a page. */
const [PAGE_OF_BOX, IN_PAGE] = [0x22000, 0x800];
const LAYOUT = { control: IN_PAGE, select: IN_PAGE + 0x40, counter: IN_PAGE + 0x8 };
const CLOCKS = { at: IN_PAGE + 0x38, width: 8 } as const;
/** What reads from an address where nothing is. */
const NOTHING = 0xffffffff;

interface MemoryBoxOptions {
  readonly name: string;
  readonly help: string;
  /** Device ids of the function that says where. */
  readonly ids: readonly number[];
  /** Controllers of a package, channels of a controller, bytes from a channel to the next. */
  readonly controllers: number;
  readonly channels: number;
  readonly step: number;
  readonly events: readonly bigint[];
}

/** The channels that answer: bus, controller and channel, and the registers' name. @throws UnavailableError */
function channelsOf(hardware: Hardware, options: MemoryBoxOptions) {
  const { ids, controllers, channels, step } = options;
  const words = new Uint32Array(2);
  const read = (name: string, at: number): number => {
    const space = hardware.space(name);
    try {
      space.read(at, 4, words);
      return words[0];
    } finally {
      space.close();
    }
  };
  const found = functionsOf(hardware, ids).flatMap(({ name }) => {
    const base = (read(`pci ${name}`, BASE) & 0x1fffffff) * 2 ** 23;
    return Array.from({ length: controllers }, (_, k) => {
      const offset = (read(`pci ${name}`, CONTROLLER + 4 * k) & 0x7ff) * 2 ** 12;
      return Array.from({ length: offset === 0 ? 0 : channels }, (_, channel) => ({
        device: `${name.split('/')[0]}/${k}.${channel}`,
        space: `at ${(base + offset + PAGE_OF_BOX + channel * step).toString(16)}`,
      }));
    }).flat();
  });
  const there = found.filter(({ space }) => read(space, LAYOUT.control) !== NOTHING);
  if (there.length > 0) return there;
  throw new UnavailableError('no memory controller says where its counters are');
}

export function intelMemoryBox(options: MemoryBoxOptions): NodeType {
  const { name, help, events } = options;
  return registerType({
    name,
    help,
    device: 'bus/controller.channel',
    source: '/dev/mem',
    metrics: [...boxMetrics(BITS, ''), counter('FIXED_CTR', 'clocks of the memory', '', BITS)],
    boxes: (hardware) =>
      channelsOf(hardware, options).map(({ device, space }) => ({
        ...{ device, space },
        registers: [...boxRegisters(LAYOUT), CLOCKS],
      })),
    writes: (hardware) =>
      channelsOf(hardware, options).flatMap(({ space }) => boxWrites(space, LAYOUT, events)),
  });
}
