/**
 * Memory controllers of Intel's servers whose counters are in memory. Each channel has a box: control at 0, 64-bit counters from 8
 * on, the counter of clocks at 38h, 32-bit selectors from 40h on, its enable bit at 54h. Never run on hardware. Sources: Intel Xeon Processor
 * Scalable Family (3rd, 4th generation) Uncore Performance Monitoring Reference Manual; Linux, arch/x86/events/intel/uncore_snbep.c.
 */
import { UnavailableError } from '../tree.ts';
import { counter, type NodeType } from '../types/type.ts';
import type { Hardware } from './hardware.ts';
import { boxMetrics, FREEZE, THAW } from './intel-msr-box.ts';
import { boxRegisters, boxWrites, functionsOf } from './intel-pci-box.ts';
import { registerType } from './register-type.ts';

const BITS = 48;
const [COUNTER, CLOCKS, SELECT, CLOCKS_CONTROL] = [0x8, 0x38, 0x40, 0x54];
const COUNTS = 0x400000n;
/** The value read at an address where there is nothing. */
const NOTHING = 0xffffffff;
const PAGE = 0x1000;

/** A channel: its name, and the address of its box. */
interface MemoryChannel {
  readonly device: string;
  readonly at: number;
}

interface ChannelsOptions {
  readonly name: string;
  readonly help: string;
  readonly device: string;
  readonly events: readonly bigint[];
  /** Values written to a box's control before and after its selectors. */
  readonly control?: readonly [before: bigint, after: bigint];
  /** @throws UnavailableError if this machine has none */
  channels(hardware: Hardware): readonly MemoryChannel[];
}

/** Registers in memory are named by their page. */
export const pageOf = (at: number): { readonly space: string; readonly from: number } => ({
  space: `at ${(at - (at % PAGE)).toString(16)}`,
  from: at % PAGE,
});

/** The type for such channels; how a machine tells where they are differs. */
export function memoryChannels(options: ChannelsOptions): NodeType {
  const { name, help, device, events, control: values = [FREEZE, THAW] } = options;
  const words = new Uint32Array(2);
  const boxes = (hardware: Hardware) => {
    const found = options.channels(hardware).map(({ device: channel, at }) => {
      const { space, from } = pageOf(at);
      const layout = { control: from, select: from + SELECT, counter: from + COUNTER };
      return { device: channel, space, from, layout };
    });
    const there = found.filter(({ space: page, from }) => {
      const space = hardware.space(page);
      try {
        space.read(from, 4, words);
        return words[0] !== NOTHING;
      } finally {
        space.close();
      }
    });
    if (there.length > 0) return there;
    throw new UnavailableError('no memory controller says where its counters are');
  };
  return registerType({
    ...{ name, help, device },
    source: '/dev/mem',
    metrics: [...boxMetrics(BITS, ''), counter('FIXED_CTR', 'clocks of the memory', '', BITS)],
    boxes: (hardware) =>
      boxes(hardware).map(({ device: channel, space, from, layout }) => ({
        ...{ device: channel, space },
        registers: [...boxRegisters(layout), { at: from + CLOCKS, width: 8 }],
      })),
    writes: (hardware) =>
      boxes(hardware).flatMap(({ space, from, layout }) => [
        { space, at: from + CLOCKS_CONTROL, width: 4, value: COUNTS },
        ...boxWrites(space, layout, events, values),
      ]),
  });
}

const [BASE, CONTROLLER] = [0xd0, 0xd8];
const BOX = 0x22800;

interface MemoryBoxOptions extends Pick<ChannelsOptions, 'name' | 'help' | 'events' | 'control'> {
  /** Device ids of the function that tells where the boxes are. */
  readonly ids: readonly number[];
  /** Controllers per package, channels per controller, bytes from one channel to the next. */
  readonly controllers: number;
  readonly channels: number;
  readonly step: number;
}

/**
 * Where a function of each package says where the boxes are: bits 0 to 28 of D0h are bits 23 on of the package's base, bits 0
 * to 10 of D8h, DCh, … bits 12 on of each controller's. A channel's box is 22800h after, the next one a step further.
 */
export function intelMemoryBox(options: MemoryBoxOptions): NodeType {
  const { ids, controllers, channels, step, ...rest } = options;
  const words = new Uint32Array(2);
  return memoryChannels({
    ...rest,
    device: 'bus/controller.channel',
    channels: (hardware) =>
      functionsOf(hardware, ids).flatMap(({ name }) => {
        const space = hardware.pci(name);
        const read = (at: number): number => {
          space.read(at, 4, words);
          return words[0];
        };
        try {
          const base = (read(BASE) & 0x1fffffff) * 2 ** 23;
          return Array.from({ length: controllers }, (_, k) => {
            const offset = (read(CONTROLLER + 4 * k) & 0x7ff) * 2 ** 12;
            return Array.from({ length: offset === 0 ? 0 : channels }, (_, channel) => ({
              device: `${name.split('/')[0]}/${k}.${channel}`,
              at: base + offset + BOX + channel * step,
            }));
          }).flat();
        } finally {
          space.close();
        }
      }),
  });
}
