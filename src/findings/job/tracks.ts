/** A job's course in time, host by host: the numbers for sparklines and for the balance between hosts. */
import { GIB } from '../../model/bytes.ts';
import type { Job } from './job.ts';
import { behindByHost } from './metrics/balance.ts';
import { DOUBLE_WIDTHS } from './metrics/flops.ts';
import { inUse } from './metrics/memory.ts';
import { ratesIn } from './metrics/metric.ts';
import { fabric, imc, metadata, nominalFrequency, pmc } from './metrics/types.ts';
import { type HostSeries, JobRows, JobView, MissingInput } from './view.ts';

export interface Track {
  readonly name: string;
  readonly unit: string;
  /** By host, one value for each interval between two of the job's times, or for each time if `at` says so. */
  readonly hosts: HostSeries;
  readonly at: 'interval' | 'time';
  /** The inputs: `type.key`. */
  readonly inputs: readonly string[];
}

const LINE = 64;

const scaled = (series: HostSeries, factor: number): HostSeries =>
  new Map([...series].map(([host, values]) => [host, values.map((value) => value * factor)]));

/** The ratio of two core counters in each interval; missing where the second did not count. */
function ratio(view: JobView, over: string, under: string): HostSeries {
  const type = pmc(view);
  const below = view.rates(type, under);
  const found = new Map<string, Float64Array>();
  for (const [host, values] of view.rates(type, over)) {
    const other = below.get(host);
    if (other === undefined) continue;
    found.set(
      host,
      values.map((value, k) => (other[k] > 0 ? value / other[k] : Number.NaN)),
    );
  }
  return found;
}

function gflops(view: JobView): HostSeries {
  const type = pmc(view);
  const events = Object.keys(DOUBLE_WIDTHS).filter((event) => view.has(type, event));
  if (events.length === 0) throw new MissingInput('events of double precision');
  const sums = new Map<string, Float64Array>();
  for (const event of events) {
    for (const [host, rates] of view.rates(type, event)) {
      const sum = sums.get(host) ?? new Float64Array(rates.length);
      for (let k = 0; k < sum.length; k++) sum[k] += (rates[k] * DOUBLE_WIDTHS[event]) / 1e9;
      sums.set(host, sum);
    }
  }
  return sums;
}

const TRACKS: readonly (Omit<Track, 'hosts' | 'inputs'> & { series(view: JobView): HostSeries })[] =
  [
    {
      name: 'cpu',
      unit: 'cores',
      at: 'interval',
      series: (view) => view.rates('cpu', 'user', 'nice', 'system'),
    },
    {
      name: 'cpi',
      unit: 'cycles/instruction',
      at: 'interval',
      series: (view) => ratio(view, 'CLOCKS_UNHALTED_CORE', 'INSTRUCTIONS_RETIRED'),
    },
    {
      name: 'frequency',
      unit: 'GHz',
      at: 'interval',
      series: (view) => {
        const nominal = nominalFrequency(pmc(view));
        if (Number.isNaN(nominal)) throw new MissingInput('the nominal frequency');
        return scaled(ratio(view, 'CLOCKS_UNHALTED_CORE', 'CLOCKS_UNHALTED_REF'), nominal);
      },
    },
    { name: 'flops', unit: 'GFLOPS', at: 'interval', series: gflops },
    { name: 'memory', unit: 'GiB', at: 'time', series: (view) => scaled(inUse(view), 1 / GIB) },
    {
      name: 'memory bandwidth',
      unit: 'GiB/s',
      at: 'interval',
      series: (view) => scaled(view.rates(imc(view), 'CAS_READS', 'CAS_WRITES'), LINE),
    },
    {
      name: 'fabric',
      unit: 'MiB/s',
      at: 'interval',
      series: (view) => {
        const { type, data, bytes } = fabric(view);
        return scaled(view.rates(type, ...data), bytes);
      },
    },
    {
      name: 'lnet',
      unit: 'MiB/s',
      at: 'interval',
      series: (view) => view.rates('lnet', 'rx_bytes', 'tx_bytes'),
    },
    {
      name: 'ethernet',
      unit: 'MiB/s',
      at: 'interval',
      series: (view) => view.rates('net', 'rx_bytes', 'tx_bytes'),
    },
    {
      name: 'metadata',
      unit: '1/s',
      at: 'interval',
      series: (view) => view.rates('llite', ...metadata(view)),
    },
    {
      name: 'disks',
      unit: 'MiB/s',
      at: 'interval',
      series: (view) => view.rates('block', 'rd_sectors', 'wr_sectors'),
    },
  ];

/** The tracks whose inputs the job has. */
export function tracksOf(job: Job): readonly Track[] {
  const rows = new JobRows(job);
  const found: Track[] = [];
  for (const { series, ...track } of TRACKS) {
    try {
      const view = new JobView(rows);
      const hosts = ratesIn(track.unit, series(view));
      found.push({ ...track, hosts, inputs: view.asked });
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
