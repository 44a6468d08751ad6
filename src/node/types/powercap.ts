/**
 * `powercap`: energy of packages, memory and the platform by the kernel's power capping framework, where registers cannot
 * be read: zones that `intel_rapl` or `amd64_rapl` tell of here are left out, as are those that count a package once more
 * by another way. The kernel's counters begin again within minutes at `max_energy_range_uj`, which is no power of two:
 * only the daemon collects them, as totals that do not.
 * `powercap_limit`: the energy of zones beside the power that they may draw for long, and that their processor is made for; also
 * where registers tell the energy, as they do not tell the limits. A zone whose limit is switched off has no record.
 * Sources: Documentation/power/powercap/powercap.rst, Documentation/ABI/testing/sysfs-class-powercap;
 * drivers/powercap/intel_rapl_common.c (the greatest power of the first constraint is the processor's thermal design power).
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { type WideCounter, wideCounter } from '../hardware/wide-counter.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { AMD64_RAPL } from './amd64-rapl.ts';
import { alone, digitsAfter, FileFields, fieldsHere, textOf } from './file-fields.ts';
import { INTEL_RAPL } from './intel-rapl.ts';
import { type Collector, counter, gauge, type NodeType } from './type.ts';

const FOLDER = 'sys/class/powercap';
const ENERGY = counter('energy', 'energy used', 'uJ');

const LIMITS = [
  alone(gauge('limit', 'power that it may draw for long', 'uW'), 'constraint_0_power_limit_uw'),
  alone(
    gauge('nominal', 'power that its processor is made for', 'uW'),
    'constraint_0_max_power_uw',
  ),
];

interface Zone {
  readonly device: string;
  readonly file: KernelFile;
  readonly total: WideCounter;
  /** Of zones of `powercap_limit`. */
  readonly limits: { readonly enabled: KernelFile; readonly fields: FileFields } | null;
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

const numberIn = (file: KernelFile) => digitsAfter(textOf(file, file.readPiece()), ['\n']);

/** What limits a zone; null where nothing does. @throws UnavailableError where its files cannot be opened */
function limitsOf(tree: NodeTree, zone: string): Zone['limits'] {
  const folder = `${FOLDER}/${zone}`;
  const isLong = tree.text(`${folder}/constraint_0_name`)?.trim() === 'long_term';
  if (!isLong || fieldsHere(tree, folder, LIMITS).length < LIMITS.length) return null;
  if (!(Number(tree.text(`${folder}/constraint_0_max_power_uw`)) > 0)) return null;
  const fields = new FileFields(tree, folder, LIMITS);
  try {
    return { enabled: tree.open(`${folder}/enabled`), fields };
  } catch (error) {
    fields.close();
    throw error;
  }
}

/** `type`: `powercap`, or `powercap_limit`. @throws UnavailableError where no zone can be read */
function zonesOf(tree: NodeTree, type: string): readonly Zone[] {
  const names = tree.list(FOLDER)?.filter((name) => /^intel-rapl(:[\da-f]+)+$/.test(name)) ?? [];
  if (names.length === 0) throw new UnavailableError(`/${FOLDER} has no zone with energy`);
  const isLimit = type === 'powercap_limit';
  const skips = !isLimit && hasRegisters(tree);
  const zones: Zone[] = [];
  let reason: UnavailableError | null = null;
  for (const zone of names.toSorted()) {
    const device = nameOf(tree, zone);
    const range = Number(tree.text(`${FOLDER}/${zone}/max_energy_range_uj`) ?? Number.NaN);
    if (device === null || !Number.isSafeInteger(range) || range <= 0) continue;
    if (skips && IN_REGISTERS.test(device)) continue;
    try {
      const file = tree.open(`${FOLDER}/${zone}/energy_uj`);
      const limits = isLimit ? limitsOf(tree, zone) : null;
      if (isLimit && limits === null) {
        file.close();
        continue;
      }
      const total = wideCounter(tree.root, type, device, ENERGY, range);
      zones.push({ device, file, total, limits });
    } catch (error) {
      if (!(error instanceof UnavailableError)) throw error;
      reason ??= error;
    }
  }
  if (zones.length > 0) return zones;
  throw (
    reason ??
    new UnavailableError(
      isLimit ? 'no zone has a limit' : 'registers provide the energy of all zones on this machine',
    )
  );
}

class Powercap implements Collector {
  private readonly type: string;
  private readonly zones: readonly Zone[];

  constructor(type: string, zones: readonly Zone[]) {
    this.type = type;
    this.zones = zones;
  }

  private read({ file, total }: Zone): void {
    const digits = numberIn(file);
    if (digits === null) throw new Error(`${file.path} has no number`);
    total.take(Number(digits), performance.now() / 1000);
  }

  between(): void {
    for (const zone of this.zones) this.read(zone);
  }

  collect(writer: RawWriter): void {
    for (const zone of this.zones) {
      this.read(zone);
      const { limits } = zone;
      if (limits !== null && numberIn(limits.enabled) !== '1') continue;
      writer.record(this.type, zone.device);
      writer.bigint(zone.total.total);
      limits?.fields.write(writer);
      writer.endRecord(limits === null ? 1 : 1 + LIMITS.length);
    }
  }

  close(): void {
    for (const { file, limits } of this.zones) {
      file.close();
      limits?.enabled.close();
      limits?.fields.close();
    }
  }
}

/** Only what reads its counters often enough may collect them. */
const ofDaemon = (type: string): Pick<NodeType, 'open' | 'openWide'> => ({
  open: (tree) => {
    new Powercap(type, zonesOf(tree, type)).close();
    throw new UnavailableError('its counters may wrap unnoticed: only node daemon collects them');
  },
  openWide: (tree) => new Powercap(type, zonesOf(tree, type)),
});

export const POWERCAP: NodeType = {
  name: 'powercap',
  help: 'energy of packages, memory and platform without registers',
  device: 'zone, such as package-0/dram',
  source: '/sys/class/powercap/intel-rapl:*/energy_uj',
  metrics: [ENERGY],
  ...ofDaemon('powercap'),
};

export const POWERCAP_LIMIT: NodeType = {
  name: 'powercap_limit',
  help: 'energy of packages and platform beside their power limits',
  device: 'zone, such as package-0',
  source: '/sys/class/powercap/intel-rapl:*/{energy_uj,constraint_0_*}',
  metrics: [ENERGY, ...LIMITS.map(({ metric }) => metric)],
  ...ofDaemon('powercap_limit'),
};
