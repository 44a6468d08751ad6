/** Memory: how much, and how fast. */
import { GIB } from '../../../model/bytes.ts';
import { MEMORY_IN_USE } from '../../../model/measures/index.ts';
import { type HostSeries, highest, type JobView, MissingInput } from '../view.ts';
import type { MetricFamily } from './metric.ts';
import { imc } from './types.ts';

const LINE = 64;

/** The bytes that programs had in use: for each host at the aligned times. */
export function inUse(view: JobView): HostSeries {
  const sums = new Map<string, Float64Array>();
  for (const [key, weight] of Object.entries(MEMORY_IN_USE.of)) {
    for (const [host, values] of view.series('mem', key)) {
      const sum = sums.get(host) ?? new Float64Array(values.length);
      sums.set(
        host,
        sum.map((one, k) => one + weight * values[k]),
      );
    }
  }
  return sums;
}

/** The highest value of `inUse` on any host, in B. */
export function highWater(view: JobView): number {
  const most = highest(inUse(view));
  if (Number.isNaN(most)) throw new MissingInput('a sample of mem');
  view.note('mem.MemUsed - Slab - FilePages', most, 'B');
  return most;
}

/** The bytes that memory controllers moved, over all hosts. */
export const controllerBytes = (view: JobView): number =>
  LINE * view.total(imc(view), 'CAS_READS', 'CAS_WRITES');

const EDC = 'intel_knl_edc_eclk';
const EDC_CACHE = 'intel_knl_edc_uclk';
const DDR = 'intel_knl_mc_dclk';

export const MEMORY: MetricFamily = {
  title: 'Memory',
  set: 'summary',
  metrics: [
    {
      name: 'mem_hwm',
      unit: 'GiB',
      formula: 'max over hosts and times of (MemUsed - Slab - FilePages) / 2³⁰',
      inputs: ['mem.MemUsed', 'mem.Slab', 'mem.FilePages'],
      note: 'More memory may have been in use between two samples.',
      compute: (view) => highWater(view) / GIB,
    },
    {
      name: 'avg_mbw',
      unit: 'GiB/s',
      formula: '64 Δ(CAS_READS + CAS_WRITES) / (2³⁰ T N)',
      inputs: ['imc.CAS_READS', 'imc.CAS_WRITES'],
      compute: (view) => controllerBytes(view) / (GIB * view.seconds * view.hostCount),
    },
    {
      name: 'avg_page_hitrate',
      unit: '',
      formula: '(ΔCAS - ΔACT_COUNT) / ΔCAS, CAS = CAS_READS + CAS_WRITES',
      inputs: ['imc.CAS_READS', 'imc.CAS_WRITES', 'imc.ACT_COUNT'],
      compute: (view) => {
        const type = imc(view);
        const cas = view.total(type, 'CAS_READS', 'CAS_WRITES');
        return (cas - view.total(type, 'ACT_COUNT')) / cas;
      },
    },
    {
      name: 'avg_mcdrambw',
      unit: 'GiB/s',
      formula:
        '64 Δ(RPQ_INSERTS + WPQ_INSERTS - EDC_MISS_CLEAN - EDC_MISS_DIRTY - CAS_READS) / (2³⁰ T N); in a queue with “flat” in its name 64 Δ(RPQ_INSERTS + WPQ_INSERTS) / (2³⁰ T N)',
      inputs: [
        `${EDC}.RPQ_INSERTS`,
        `${EDC}.WPQ_INSERTS`,
        `${EDC_CACHE}.EDC_MISS_CLEAN`,
        `${EDC_CACHE}.EDC_MISS_DIRTY`,
        `${DDR}.CAS_READS`,
      ],
      compute: (view) => {
        let lines = view.total(EDC, 'RPQ_INSERTS', 'WPQ_INSERTS');
        if (!/flat/i.test(view.job.accounted?.queue ?? '')) {
          lines -= view.total(EDC_CACHE, 'EDC_MISS_CLEAN', 'EDC_MISS_DIRTY');
          lines -= view.total(DDR, 'CAS_READS');
        }
        return (LINE * lines) / (GIB * view.seconds * view.hostCount);
      },
    },
  ],
};
