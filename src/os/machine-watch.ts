/**
 * Samples what all programs of a machine share: network links, and how far heat slows the processors down. Source: the
 * kernel's Documentation/ABI (sysfs-class-net, sysfs-class-infiniband), admin-guide/thermal/intel_powerclamp and
 * drivers/thermal/intel/therm_throt.c.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Batch } from '../model/metric.ts';
import { RowBatch } from '../model/rows.ts';
import { PROCESS_HEAT, PROCESS_LINK } from '../model/schemas/process.ts';
import { ProcFile, textOf } from './proc-file.ts';

interface Link {
  readonly name: string;
  /** Bytes per second in each direction. */
  readonly speed: number;
  readonly received: ProcFile;
  readonly sent: ProcFile;
  /** Bytes per unit of the files' counters. */
  readonly unit: bigint;
}

interface Package {
  readonly id: number;
  readonly throttles: ProcFile;
  readonly time: ProcFile;
}

export interface MachineOptions {
  readonly host: string;
  /** Seconds since the run's start. */
  readonly now: () => number;
  /** Folder with a recorded `sys`. */
  readonly machine?: string;
}

const namesIn = (folder: string): string[] => {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
};

/** Converts Mbit/s of sysfs-class-net to bytes per second. */
const MBIT = 1e6 / 8;
/** InfiniBand ports count words of four bytes. */
const WORD = 4n;

/** The whole number that a file consists of; null if it is none. */
function countIn(file: ProcFile): bigint | null {
  const text = file.read()?.trim() ?? '';
  return /^\d+$/.test(text) ? BigInt(text) : null;
}

function interfaces(sys: string): Link[] {
  return namesIn(join(sys, 'class/net')).flatMap((name) => {
    const folder = join(sys, 'class/net', name);
    const speed = MBIT * Number(textOf(join(folder, 'speed')) ?? -1);
    if (!(speed > 0) || textOf(join(folder, 'operstate'))?.trim() !== 'up') return [];
    const file = (key: string) => new ProcFile(join(folder, 'statistics', key));
    return [{ name, speed, received: file('rx_bytes'), sent: file('tx_bytes'), unit: 1n }];
  });
}

function ports(sys: string): Link[] {
  const adapters = join(sys, 'class/infiniband');
  return namesIn(adapters).flatMap((adapter) =>
    namesIn(join(adapters, adapter, 'ports')).flatMap((port) => {
      const folder = join(adapters, adapter, 'ports', port);
      const [, gigabits] = /^([\d.]+) Gb\/sec/.exec(textOf(join(folder, 'rate')) ?? '') ?? [];
      if (gigabits === undefined) return [];
      const file = (key: string) => new ProcFile(join(folder, 'counters', key));
      const files = { received: file('port_rcv_data'), sent: file('port_xmit_data') };
      return [
        { name: `${adapter}/${port}`, speed: 1000 * MBIT * Number(gigabits), unit: WORD, ...files },
      ];
    }),
  );
}

/** The first CPU of each package stands for the package: all CPUs of a package count the same slowdowns. */
function packages(sys: string): Package[] {
  const found = new Map<number, Package>();
  const cpus = join(sys, 'devices/system/cpu');
  for (const cpu of namesIn(cpus).filter((name) => /^cpu\d+$/.test(name))) {
    const folder = join(cpus, cpu, 'thermal_throttle');
    const id = Number(textOf(join(cpus, cpu, 'topology/physical_package_id')) ?? -1);
    if (!(id >= 0) || found.has(id)) continue;
    if (textOf(join(folder, 'package_throttle_count')) === null) continue;
    const file = (key: string) => new ProcFile(join(folder, key));
    const time = file('package_throttle_total_time_ms');
    found.set(id, { id, throttles: file('package_throttle_count'), time });
  }
  return [...found.values()];
}

export class MachineWatch {
  private readonly options: MachineOptions;
  private readonly links: readonly Link[];
  private readonly packages: readonly Package[];

  constructor(options: MachineOptions) {
    this.options = options;
    const sys = join(options.machine ?? '/', 'sys');
    this.links = [...interfaces(sys), ...ports(sys)];
    this.packages = packages(sys);
  }

  sample(): Batch[] {
    const { host, now } = this.options;
    const [links, heat] = [new RowBatch(PROCESS_LINK), new RowBatch(PROCESS_HEAT)];
    for (const { name, speed, received, sent, unit } of this.links) {
      const [got, gave] = [countIn(received), countIn(sent)];
      if (got !== null && gave !== null) {
        links.add([now(), host, name, speed, unit * got, unit * gave]);
      }
    }
    for (const { id, throttles, time } of this.packages) {
      const [times, milliseconds] = [countIn(throttles), countIn(time)];
      if (times !== null && milliseconds !== null) {
        heat.add([now(), host, id, times, milliseconds]);
      }
    }
    return [links, heat].flatMap((some) => some.take() ?? []);
  }

  close(): void {
    for (const { received, sent } of this.links) for (const file of [received, sent]) file.close();
    for (const { throttles, time } of this.packages)
      for (const file of [throttles, time]) file.close();
  }
}
