/**
 * `amd64_rapl`: energy of AMD packages and of their cores, as the registers count it. The cores' counters of 32 bits
 * are summed modulo 2^32, which rolls over as each of them does. The unit register stands beside them, as in
 * `intel_rapl`. Source: processor programming reference of family 17h.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { Metric } from '../../model/metric.ts';
import {
  AMD_ENERGY_CORE,
  AMD_ENERGY_PACKAGE,
  AMD_ENERGY_UNIT,
  isZen,
} from '../hardware/amd-events.ts';
import { hardwareOf } from '../hardware/hardware.ts';
import { modelName } from '../hardware/processor.ts';
import type { RegisterSpace } from '../hardware/registers.ts';
import { isNarrow, type WideCounter, wideCounter, widened } from '../hardware/wide-counter.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
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
  readonly metrics: readonly Metric[];
  private readonly sockets: readonly Socket[];
  private readonly words = new Uint32Array(2);
  /** By socket: totals of the cores and of the package; null: values are written as read. */
  private readonly wide: readonly (readonly WideCounter[])[] | null;

  /** `root`: of the tree, where counters are to be totals. */
  constructor(sockets: readonly Socket[], root: string | null) {
    this.sockets = sockets;
    this.metrics = root === null ? METRICS : widened(METRICS);
    const narrow = METRICS.filter(isNarrow);
    this.wide =
      root === null
        ? null
        : sockets.map(({ device }) =>
            narrow.map((metric) => wideCounter(root, 'amd64_rapl', device, metric)),
          );
  }

  /** Energy of a socket's cores, or of its package. */
  private read(socket: number, part: number): bigint {
    const words = this.words;
    const { cores } = this.sockets[socket];
    let sum = 0;
    for (const core of part === 0 ? cores : cores.slice(0, 1)) {
      core.read(part === 0 ? AMD_ENERGY_CORE : AMD_ENERGY_PACKAGE, 8, words);
      sum = (sum + words[0]) >>> 0;
    }
    const wide = this.wide?.[socket][part];
    if (wide === undefined) return BigInt(sum);
    words.set([sum, 0]);
    wide.step(words, performance.now() / 1000);
    return wide.total;
  }

  between(): void {
    for (const [k] of this.sockets.entries()) for (const part of [0, 1]) this.read(k, part);
  }

  collect(writer: RawWriter): void {
    const words = this.words;
    for (const [k, { device, cores }] of this.sockets.entries()) {
      writer.record('amd64_rapl', device);
      for (const part of [0, 1]) writer.bigint(this.read(k, part));
      cores[0].read(AMD_ENERGY_UNIT, 8, words);
      writer.words(words[1], words[0]);
      writer.endRecord(METRICS.length);
    }
  }

  close(): void {
    for (const { cores } of this.sockets) for (const core of cores) core.close();
  }
}

function open(tree: NodeTree, wide: boolean): Collector {
  const hardware = hardwareOf(tree);
  if (!isZen(hardware.processor)) {
    throw new UnavailableError(
      `for AMD families 17h, 19h and 1Ah; this is ${modelName(hardware.processor)}`,
    );
  }
  const words = new Uint32Array(2);
  const sockets = hardware.packages.map(({ id, firstOfCore }) => ({
    device: String(id),
    cores: firstOfCore.map((cpu) => hardware.msr(cpu)),
  }));
  const energy = new AmdEnergy(sockets, wide ? tree.root : null);
  try {
    for (const at of [AMD_ENERGY_UNIT, AMD_ENERGY_PACKAGE, AMD_ENERGY_CORE]) {
      for (const { cores } of sockets) cores[0].read(at, 8, words);
    }
  } catch (error) {
    energy.close();
    throw error;
  }
  return energy;
}

export const AMD64_RAPL: NodeType = {
  name: 'amd64_rapl',
  help: 'energy of AMD processors',
  device: 'package',
  source: '/dev/cpu/N/msr',
  metrics: METRICS,
  open: (tree) => open(tree, false),
  openWide: (tree) => open(tree, true),
};
