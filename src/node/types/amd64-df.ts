/** `amd64_df`: the data fabric of AMD families 17h, 19h and 1Ah: traffic of four memory channels per package. */
import {
  FABRIC_EVENTS,
  FABRIC_SELECT,
  isZen,
  requireFabricEvents,
} from '../hardware/amd-events.ts';
import type { Hardware } from '../hardware/hardware.ts';
import { modelName } from '../hardware/processor.ts';
import { registerType, row } from '../hardware/register-type.ts';
import { UnavailableError } from '../tree.ts';
import { control, counter } from './type.ts';

const COUNT = FABRIC_EVENTS.length;
const REGISTERS = [...row(FABRIC_SELECT, COUNT, 2), ...row(FABRIC_SELECT + 1, COUNT, 2)];

/** The first CPU of each package. @throws UnavailableError */
function cpusOf(hardware: Hardware): number[] {
  if (!isZen(hardware.processor)) {
    throw new UnavailableError(
      `for AMD families 17h, 19h and 1Ah; this is ${modelName(hardware.processor)}`,
    );
  }
  return hardware.packages.map(({ cpus }) => cpus[0]);
}

export const AMD64_DF = registerType({
  name: 'amd64_df',
  help: 'data fabric of AMD processors: traffic of memory channels',
  device: 'the first CPU of a package',
  source: '/dev/cpu/N/msr',
  metrics: [
    ...FABRIC_EVENTS.map((_, k) => control(`CTL${k}`, `what counter ${k} counts`)),
    ...FABRIC_EVENTS.map((_, k) => counter(`CTR${k}`, `events that CTL${k} selects`, '', 48)),
  ],
  boxes: (hardware) =>
    cpusOf(hardware).map((cpu) => ({
      device: String(cpu),
      space: `msr ${cpu}`,
      registers: REGISTERS,
    })),
  writes: (hardware) => {
    const cpus = cpusOf(hardware);
    requireFabricEvents(hardware.processor);
    return cpus.flatMap((cpu) =>
      FABRIC_EVENTS.map((value, k) => ({
        space: `msr ${cpu}`,
        at: FABRIC_SELECT + 2 * k,
        width: 8,
        value,
      })),
    );
  },
});
