/**
 * `amd64_rapl`: energy of AMD packages and of their cores, as the registers count it. The cores' counters of 32 bits
 * are summed modulo 2^32, which rolls over as each of them does. The unit register stands beside them, as in
 * `intel_rapl`. Source: processor programming reference of family 17h.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import {
  AMD_ENERGY_CORE,
  AMD_ENERGY_PACKAGE,
  AMD_ENERGY_UNIT,
  isZen,
} from '../hardware/amd-events.ts';
import { hardwareOf } from '../hardware/hardware.ts';
import { modelName } from '../hardware/processor.ts';
import type { RegisterSpace } from '../hardware/registers.ts';
import { UnavailableError } from '../tree.ts';
import { type Collector, control, counter, type NodeType } from './type.ts';

const BITS = 32;
const METRICS = [
  counter('MSR_CORE_ENERGY_STAT', 'energy of the cores, summed', '', BITS),
  counter('MSR_PKG_ENERGY_STAT', 'energy of the package', '', BITS),
  control('RAPL_PWR_UNIT', 'units of the energies: one count is 2^-E J, E in bits 8 to 12'),
];

interface Socket {
  readonly device: string;
  /** One CPU of each core. */
  readonly cores: readonly RegisterSpace[];
}

class AmdEnergy implements Collector {
  readonly #sockets: readonly Socket[];
  readonly #words = new Uint32Array(2);

  constructor(sockets: readonly Socket[]) {
    this.#sockets = sockets;
  }

  collect(writer: RawWriter): void {
    const words = this.#words;
    for (const { device, cores } of this.#sockets) {
      let sum = 0;
      for (const core of cores) {
        core.read(AMD_ENERGY_CORE, 8, words);
        sum = (sum + words[0]) >>> 0;
      }
      writer.record('amd64_rapl', device);
      writer.number(sum);
      cores[0].read(AMD_ENERGY_PACKAGE, 8, words);
      writer.number(words[0]);
      cores[0].read(AMD_ENERGY_UNIT, 8, words);
      writer.words(words[1], words[0]);
      writer.endRecord(METRICS.length);
    }
  }

  close(): void {
    for (const { cores } of this.#sockets) for (const core of cores) core.close();
  }
}

export const AMD64_RAPL: NodeType = {
  name: 'amd64_rapl',
  help: 'energy of AMD processors',
  device: 'package',
  source: '/dev/cpu/N/msr',
  metrics: METRICS,
  open: (tree) => {
    const hardware = hardwareOf(tree);
    if (!isZen(hardware.processor)) {
      throw new UnavailableError(
        `for AMD families 17h and 19h; this is ${modelName(hardware.processor)}`,
      );
    }
    const words = new Uint32Array(2);
    const sockets = hardware.packages.map(({ id, firstOfCore }) => ({
      device: String(id),
      cores: firstOfCore.map((cpu) => hardware.msr(cpu)),
    }));
    const energy = new AmdEnergy(sockets);
    try {
      for (const at of [AMD_ENERGY_UNIT, AMD_ENERGY_PACKAGE, AMD_ENERGY_CORE]) {
        for (const { cores } of sockets) cores[0].read(at, 8, words);
      }
    } catch (error) {
      energy.close();
      throw error;
    }
    return energy;
  },
};
