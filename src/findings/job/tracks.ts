/** A job's course in time, host by host: the numbers for sparklines and for the balance between hosts. */
import type { Job } from './job.ts';
import { behindByHost } from './metrics/balance.ts';
import { CPI, FREQUENCY } from './metrics/cpu.ts';
import type { Declaration } from './metrics/declaration.ts';
import { BLOCKS, METADATA_RATE } from './metrics/files.ts';
import { DOUBLE_RATE } from './metrics/flops.ts';
import { WORKING } from './metrics/hpcperfstats.ts';
import { BANDWIDTH, HIGH_WATER } from './metrics/memory.ts';
import { ETHERNET, FABRIC, LNET } from './metrics/network.ts';
import { courseOf } from './metrics/quotient.ts';
import { type HostSeries, JobRows, JobView, MissingInput } from './view.ts';

export interface MetricTrack {
  readonly name: string;
  readonly unit: string;
  /** By host, one value for each interval between two of the job's times, or for each time if `at` says so. */
  readonly hosts: HostSeries;
  readonly at: 'interval' | 'time';
  /** The inputs: `type.key`. */
  readonly inputs: readonly string[];
}

/** The courses of these metrics, by what the page calls them. */
const TRACKS: Readonly<Record<string, Declaration>> = {
  cpu: WORKING,
  cpi: CPI,
  frequency: FREQUENCY,
  flops: DOUBLE_RATE,
  memory: HIGH_WATER,
  'memory bandwidth': BANDWIDTH,
  fabric: FABRIC,
  lnet: LNET,
  ethernet: ETHERNET,
  metadata: METADATA_RATE,
  disks: BLOCKS,
};

/** The tracks whose inputs the job has. */
export function tracksOf(job: Job): readonly MetricTrack[] {
  const rows = new JobRows(job);
  const found: MetricTrack[] = [];
  for (const [name, declaration] of Object.entries(TRACKS)) {
    try {
      const view = new JobView(rows);
      const hosts = courseOf(view, declaration);
      const at = declaration.per === null ? 'time' : 'interval';
      found.push({ name, unit: declaration.unit, at, hosts, inputs: view.asked });
    } catch (error) {
      if (!(error instanceof MissingInput)) throw error;
    }
  }
  return found;
}

/** One host compared with the others. */
export interface HostBalance {
  readonly host: string;
  /** Mean number of cores in user mode. */
  readonly cores: number;
  /** Mean share by which it is behind the busiest host; node_imbalance is the highest of these. */
  readonly behind: number;
}

/** Hosts sorted by how far they are behind, the worst first; empty if there is no user time. */
export function balanceOf(job: Job): readonly HostBalance[] {
  const view = new JobView(new JobRows(job));
  try {
    const { seconds } = view;
    const behind = behindByHost(view);
    const found: HostBalance[] = [];
    for (const [host, devices] of view.deviceTotals('cpu', 'user')) {
      let sum = 0;
      for (const value of devices.values()) sum += value;
      found.push({ host, cores: sum / (100 * seconds), behind: behind.get(host) ?? 0 });
    }
    return found.sort((a, b) => b.behind - a.behind);
  } catch (error) {
    if (!(error instanceof MissingInput)) throw error;
    return [];
  }
}
