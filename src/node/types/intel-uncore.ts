/** `intel_uncore`: the uncore of Nehalem and Westmere, one per package. Source: Intel SDM, vol. 3B, 19.3.1.2. */
import { requireIntel } from '../hardware/intel-models.ts';
import { type RegisterWrite, registerType, row } from '../hardware/register-type.ts';
import { control, counter } from './type.ts';

const BITS = 48;
const GLOBAL_CONTROL = 0x391;
const FIXED_CONTROL = 0x395;
const COUNTER = 0x3b0;
const SELECT = 0x3c0;
const ENABLE = 1 << 22;
/** Event and unit mask: hits and misses of the last-level cache (read, write, probe), lines brought in, lines out. */
const EVENTS = [
  [0x08, 0x01],
  [0x08, 0x02],
  [0x08, 0x04],
  [0x09, 0x01],
  [0x09, 0x02],
  [0x09, 0x04],
  [0x0a, 0x0f],
  [0x0b, 0x1f],
].map(([event, umask]) => BigInt(event | (umask << 8) | ENABLE));
const COUNT = EVENTS.length;
/** Enables all eight counters and the counter of clocks. */
const ENABLED = (1n << 32n) | 0xffn;

const MODELS = ['nhm', 'wtm'] as const;
const REGISTERS = [...row(GLOBAL_CONTROL, 6), ...row(COUNTER, COUNT), ...row(SELECT, COUNT)];

export const INTEL_UNCORE = registerType({
  name: 'intel_uncore',
  help: 'uncore of Nehalem and Westmere: last-level cache',
  device: 'the first CPU of a package',
  source: '/dev/cpu/N/msr',
  metrics: [
    control('PERF_GLOBAL_CTRL', 'which counters run'),
    control('PERF_GLOBAL_STATUS', 'which counters rolled over'),
    control('PERF_GLOBAL_OVF_CTRL', 'clears marks of rollover'),
    counter('FIXED_CTR0', 'clocks of the uncore', '', BITS),
    control('FIXED_CTR_CTRL', 'whether clocks are counted'),
    control('ADDR_OPCODE_MATCH', 'address or opcode that events are limited to'),
    ...EVENTS.map((_, k) => counter(`PMC${k}`, `events that PERFEVTSEL${k} selects`, '', BITS)),
    ...EVENTS.map((_, k) => control(`PERFEVTSEL${k}`, `what counter ${k} counts`)),
  ],
  boxes: (hardware) => {
    requireIntel(hardware, MODELS);
    return hardware.packages.map(({ cpus }) => ({
      device: String(cpus[0]),
      space: `msr ${cpus[0]}`,
      registers: REGISTERS,
    }));
  },
  writes: (hardware) => {
    requireIntel(hardware, MODELS);
    return hardware.packages.flatMap(({ cpus }): RegisterWrite[] => {
      const write = (at: number, value: bigint): RegisterWrite => ({
        space: `msr ${cpus[0]}`,
        at,
        width: 8,
        value,
      });
      return [
        write(GLOBAL_CONTROL, 0n),
        ...EVENTS.map((event, k) => write(SELECT + k, event)),
        write(FIXED_CONTROL, 1n),
        write(GLOBAL_CONTROL, ENABLED),
      ];
    });
  },
});
