/**
 * `amd64_pmc`: core counters of AMD's processors: four of family 10h (Opteron), six and three that always count the
 * same of families 17h, 19h and 1Ah (Zen 2 to Zen 5). Of family 10h, not all CPUs count the same events: the selectors say which.
 */
import {
  isZen,
  OPTERON_COUNTER,
  OPTERON_ROWS,
  OPTERON_SELECT,
  ZEN_COUNTERS,
  ZEN_FIXED,
  ZEN_GLOBAL,
  ZEN_GLOBAL_COUNTERS,
  ZEN_HWCR,
  ZEN_HWCR_INSTRUCTIONS,
  ZEN_SELECT,
  zenGeneration,
} from '../hardware/amd-events.ts';
import type { Hardware } from '../hardware/hardware.ts';
import { modelName } from '../hardware/processor.ts';
import { type RegisterWrite, registerType, row } from '../hardware/register-type.ts';
import { UnavailableError } from '../tree.ts';
import { control, counter } from './type.ts';

const BITS = 48;

const counters = (count: number) => [
  ...Array.from({ length: count }, (_, k) => control(`CTL${k}`, `what counter ${k} counts`)),
  ...Array.from({ length: count }, (_, k) =>
    counter(`CTR${k}`, `events that CTL${k} selects`, '', BITS),
  ),
];

const OPTERON = counters(4);
const OPTERON_REGISTERS = [...row(OPTERON_SELECT, 4), ...row(OPTERON_COUNTER, 4)];
const ZEN = [
  ...counters(ZEN_COUNTERS),
  counter('INST_RETIRED', 'instructions retired', '', BITS),
  counter('APERF', 'clocks of the core', '', BITS),
  counter('MPERF', 'clocks at the nominal frequency', '', BITS),
];
const ZEN_REGISTERS = [
  ...row(ZEN_SELECT, ZEN_COUNTERS, 2),
  ...row(ZEN_SELECT + 1, ZEN_COUNTERS, 2),
  ...ZEN_FIXED.flatMap((at) => row(at, 1)),
];

/** Whether this is family 10h. @throws UnavailableError where it is no family of this type */
function isOpteron(hardware: Hardware): boolean {
  const { vendor, family } = hardware.processor;
  if (vendor === 'amd' && family === 0x10) return true;
  if (isZen(hardware.processor)) return false;
  throw new UnavailableError(
    `for AMD families 10h, 17h, 19h and 1Ah; this is ${modelName(hardware.processor)}`,
  );
}

function writesFor(hardware: Hardware, cpu: number): RegisterWrite[] {
  const write = (at: number, value: bigint): RegisterWrite => ({
    space: `msr ${cpu}`,
    at,
    width: 8,
    value,
  });
  if (isOpteron(hardware)) {
    return OPTERON_ROWS[cpu % 4].map((event, k) => write(OPTERON_SELECT + k, event));
  }
  const { events, global } = zenGeneration(hardware.processor);
  return [
    ...events.map((event, k) => write(ZEN_SELECT + 2 * k, event)),
    { ...write(ZEN_HWCR, ZEN_HWCR_INSTRUCTIONS), keep: true },
    ...(global ? [{ ...write(ZEN_GLOBAL, ZEN_GLOBAL_COUNTERS), keep: true } as const] : []),
  ];
}

export const AMD64_PMC = registerType({
  name: 'amd64_pmc',
  help: 'core counters of AMD processors',
  device: 'CPU',
  source: '/dev/cpu/N/msr',
  metrics: OPTERON,
  metricsOn: (hardware) => (isOpteron(hardware) ? OPTERON : ZEN),
  boxes: (hardware) => {
    const registers = isOpteron(hardware) ? OPTERON_REGISTERS : ZEN_REGISTERS;
    return hardware.cpus.map((cpu) => ({ device: String(cpu), space: `msr ${cpu}`, registers }));
  },
  writes: (hardware) => hardware.cpus.flatMap((cpu) => writesFor(hardware, cpu)),
});
