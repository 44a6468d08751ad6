/** Samples what holds processes back: limits of their control groups, stalls, network links, heat of the machine. */
import { join } from 'node:path';
import type { Batch } from '../model/metric.ts';
import { RowBatch } from '../model/rows.ts';
import {
  PROCESS_LIMIT,
  PROCESS_PRESSURE,
  PROCESS_QUOTA,
  PROCESS_REFAULT,
  PROCESS_WEIGHT,
} from '../model/schemas/process.ts';
import {
  cgroupFolders,
  memoryLimitOf,
  quotaOf,
  RESOURCES,
  stallsOf,
  USUAL_WEIGHT,
  weightOf,
} from './cgroup.ts';
import { textOf } from './proc-file.ts';

interface LimitOptions {
  readonly host: string;
  /** Seconds since the run's start. */
  readonly now: () => number;
  /** Folder with a recorded `proc` and `sys`. */
  readonly machine?: string;
}

export class LimitWatch {
  private readonly options: LimitOptions;
  private readonly proc: string;
  private readonly groups: string;

  constructor(options: LimitOptions) {
    this.options = options;
    const { machine = '/' } = options;
    this.proc = join(machine, 'proc');
    this.groups = join(machine, 'sys/fs/cgroup');
  }

  /** @param processes their folders in /proc */
  sample(processes: readonly string[]): Batch[] {
    const { host, now } = this.options;
    const [quotas, weights] = [new RowBatch(PROCESS_QUOTA), new RowBatch(PROCESS_WEIGHT)];
    const [stalls, limits] = [new RowBatch(PROCESS_PRESSURE), new RowBatch(PROCESS_LIMIT)];
    const refaults = new RowBatch(PROCESS_REFAULT);
    const real = now();
    const folders = new Set(processes.flatMap((one) => cgroupFolders(one, this.groups)));
    for (const folder of folders) {
      const quota = quotaOf(folder, this.groups);
      if (quota !== null) {
        const { cgroup, cpus, periods, throttledPeriods, throttled } = quota;
        quotas.add([real, host, cgroup, cpus, periods, throttledPeriods, throttled]);
      }
      const memory = memoryLimitOf(folder, this.groups);
      if (memory !== null) {
        const { cgroup, limit, used, killed, charged, refaulted } = memory;
        limits.add([real, host, cgroup, limit, used, killed, charged]);
        if (refaulted !== null) refaults.add([real, host, cgroup, refaulted]);
      }
      const weight = weightOf(folder);
      if (weight !== null && weight !== USUAL_WEIGHT) {
        weights.add([real, host, folder.slice(this.groups.length), weight]);
      }
    }
    for (const resource of RESOURCES) {
      const stall = stallsOf(textOf(join(this.proc, 'pressure', resource)));
      if (stall !== null) stalls.add([real, host, resource, stall.some, stall.full]);
    }
    return [quotas, weights, limits, refaults, stalls].flatMap((some) => some.take() ?? []);
  }
}
