/**
 * `amd64_umc`: memory controllers of Zen 4 and Zen 5 (AMD families 19h from model 10h on, and 1Ah): reads and writes of columns,
 * activations, clocks. Never run on hardware. Sources: Processor Programming Reference of family 19h, model 11h, UMC performance
 * monitors; Linux, arch/x86/events/amd/uncore.c and tools/perf/pmu-events/arch/x86/amdzen4/memory-controller.json.
 */
import type { Hardware } from '../hardware/hardware.ts';
import { modelName, type Processor } from '../hardware/processor.ts';
import { type RegisterWrite, registerType, row } from '../hardware/register-type.ts';
import { UnavailableError } from '../tree.ts';
import { control, counter } from './type.ts';

const BITS = 48;
const SELECT = 0xc0010800;
const COUNTERS = 4;
/** Registers of a controller: a selector and a counter of each. */
const STEP = 2 * COUNTERS;
/** Most controllers of a package; the registers of those that it lacks cannot be read. */
const MOST = 12;
const ENABLE = 1n << 31n;
/** Filter for commands to columns: only reads (1), only writes (2). */
const only = (which: bigint) => which << 8n;
const EVENTS = [0x0an | only(1n), 0x0an | only(2n), 0x05n, 0x00n].map((event) => event | ENABLE);

const hasControllers = ({ vendor, family, model }: Processor): boolean =>
  vendor === 'amd' && ((family === 0x19 && model >= 0x10 && !isZen3(model)) || family === 0x1a);
/** Models of family 19h before Zen 4. */
const isZen3 = (model: number): boolean => model >= 0x20 && model <= 0x5f;

/** A package's controllers: its first CPU, and where their registers begin. @throws UnavailableError */
function controllers(hardware: Hardware) {
  if (!hasControllers(hardware.processor)) {
    throw new UnavailableError(`for Zen 4 and Zen 5; this is ${modelName(hardware.processor)}`);
  }
  return hardware.packages.flatMap(({ id, cpus }) =>
    Array.from({ length: MOST }, (_, k) => ({
      device: `${id}/${k}`,
      space: `msr ${cpus[0]}`,
      first: SELECT + k * STEP,
    })),
  );
}

/** Controllers whose registers can be read. */
function present(hardware: Hardware) {
  const words = new Uint32Array(2);
  return controllers(hardware).filter(({ space, first }) => {
    const registers = hardware.space(space);
    try {
      registers.read(first, 8, words);
      return true;
    } catch (error) {
      if (error instanceof UnavailableError) return false;
      throw error;
    } finally {
      registers.close();
    }
  });
}

export const AMD64_UMC = registerType({
  name: 'amd64_umc',
  help: 'memory controllers of Zen 4 and Zen 5',
  device: 'package/controller',
  source: '/dev/cpu/N/msr',
  metrics: [
    ...EVENTS.map((_, k) => control(`CTL${k}`, `what counter ${k} counts`)),
    ...EVENTS.map((_, k) => counter(`CTR${k}`, `events that CTL${k} selects`, '', BITS)),
  ],
  boxes: (hardware) =>
    controllers(hardware).map(({ device, space, first }) => ({
      ...{ device, space },
      registers: [...row(first, COUNTERS, 2), ...row(first + 1, COUNTERS, 2)],
    })),
  writes: (hardware) =>
    present(hardware).flatMap(({ space, first }) =>
      EVENTS.map((value, k): RegisterWrite => ({ space, at: first + 2 * k, width: 8, value })),
    ),
});
