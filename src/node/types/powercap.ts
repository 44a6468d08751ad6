/**
 * `powercap`: energy of packages, memory and the platform by the kernel's power capping framework, where registers cannot
 * be read: zones that `intel_rapl` or `amd64_rapl` tell of here are left out, as are those that count a package once more
 * by another way. The kernel's counters begin again within minutes at `max_energy_range_uj`, which is no power of two:
 * only the daemon collects them, as totals that do not. Sources: Documentation/power/powercap/powercap.rst,
 * Documentation/ABI/testing/sysfs-class-powercap.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type WideCounter, wideCounter } from '../hardware/wide-counter.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { AMD64_RAPL } from './amd64-rapl.ts';
import { digitsAfter, textOf } from './file-fields.ts';
import { INTEL_RAPL } from './intel-rapl.ts';
import { type Collector, counter, type NodeType } from './type.ts';

const FOLDER = 'sys/class/powercap';
const ENERGY = counter('energy', 'energy used', 'uJ');

interface Zone {
  readonly device: string;
  readonly file: KernelFile;
  readonly total: WideCounter;
}

/** Whether registers tell the energy of packages, cores and memory here. */
const hasRegisters = (tree: NodeTree): boolean =>
  [INTEL_RAPL, AMD64_RAPL].some((type) => {
    try {
      type.open(tree).close();
      return true;
    } catch (error) {
      if (error instanceof UnavailableError) return false;
      throw error;
    }
  });
const IN_REGISTERS = /^package-[^/]+(\/(core|dram))?$/;

/** `package-0/dram` of `intel-rapl:0:1`, whose numbers are in hexadecimal; null where a zone of the way has no name. */
function nameOf(tree: NodeTree, zone: string): string | null {
  const [control, ...numbers] = zone.split(':');
  const names = numbers.map((_, k) =>
    tree.text(`${FOLDER}/${[control, ...numbers.slice(0, k + 1)].join(':')}/name`),
  );
  return names.includes(null) ? null : names.join('/').replace(/[^!-~]+/g, '_');
}

/** @throws UnavailableError where no zone can be read */
function zonesOf(tree: NodeTree): readonly Zone[] {
  const names = tree.list(FOLDER)?.filter((name) => /^intel-rapl(:[\da-f]+)+$/.test(name)) ?? [];
  if (names.length === 0) throw new UnavailableError(`/${FOLDER} has no zone with energy`);
  const skips = hasRegisters(tree);
  const zones: Zone[] = [];
  let reason: UnavailableError | null = null;
  for (const zone of names.toSorted()) {
    const device = nameOf(tree, zone);
    const range = Number(tree.text(`${FOLDER}/${zone}/max_energy_range_uj`) ?? Number.NaN);
    if (device === null || !Number.isSafeInteger(range) || range <= 0) continue;
    if (skips && IN_REGISTERS.test(device)) continue;
    try {
      const file = tree.open(`${FOLDER}/${zone}/energy_uj`);
      const total = wideCounter(tree.root, 'powercap', device, ENERGY, range);
      zones.push({ device, file, total });
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      reason ??= error;
    }
  }
  if (zones.length > 0) return zones;
  throw reason ?? new UnavailableError('registers provide the energy of all zones on this machine');
}

class Powercap implements Collector {
  private readonly zones: readonly Zone[];

  constructor(zones: readonly Zone[]) {
    this.zones = zones;
  }

  private read({ file, total }: Zone): void {
    const digits = digitsAfter(textOf(file, file.readPiece()), ['\n']);
    if (digits === null) throw new Error(`${file.path} has no number`);
    total.take(Number(digits), performance.now() / 1000);
  }

  between(): void {
    for (const zone of this.zones) this.read(zone);
  }

  collect(writer: RawWriter): void {
    for (const zone of this.zones) {
      this.read(zone);
      writer.record('powercap', zone.device);
      writer.bigint(zone.total.total);
      writer.endRecord(1);
    }
  }

  close(): void {
    for (const { file } of this.zones) file.close();
  }
}

export const POWERCAP: NodeType = {
  name: 'powercap',
  help: 'energy of packages, memory and platform without registers',
  device: 'zone, such as package-0/dram',
  source: '/sys/class/powercap/intel-rapl:*/energy_uj',
  metrics: [ENERGY],
  open: (tree) => {
    for (const { file } of zonesOf(tree)) file.close();
    throw new UnavailableError('its counters may wrap unnoticed: only node daemon collects them');
  },
  openWide: (tree) => new Powercap(zonesOf(tree)),
};
