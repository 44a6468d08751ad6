/** Graphics processors. */
import { MissingInput } from '../view.ts';
import type { MetricFamily } from './metric.ts';

export const GPU: MetricFamily = {
  title: 'Graphics processors',
  set: 'summary',
  metrics: [
    {
      name: 'avg_gpuutil',
      unit: '%',
      formula:
        'mean over hosts and times, except the first and the last, of the mean utilization of a host’s devices',
      inputs: ['nvidia_gpu.utilization'],
      noQuotient: 'averages samples of a gauge, not differences of a counter',
      note: 'The original adds up the devices of a host: four of them give up to 400 %.',
      compute: (view) => {
        const series = view.series('nvidia_gpu', 'utilization');
        const counts = new Map(
          view
            .having('nvidia_gpu', 'utilization')
            .map(({ host, table }) => [
              host.host,
              table.keys.get('utilization')?.devices.size ?? 1,
            ]),
        );
        const means: number[] = [];
        for (const [host, values] of series) {
          const inner = [...values.subarray(1, -1)].filter((value) => !Number.isNaN(value));
          if (inner.length === 0) continue;
          const sum = inner.reduce((all, value) => all + value, 0);
          means.push(sum / inner.length / (counts.get(host) ?? 1));
        }
        if (means.length === 0) throw new MissingInput('a sample between the first and the last');
        const mean = means.reduce((all, value) => all + value, 0) / means.length;
        view.note('nvidia_gpu.utilization', mean, '%');
        return mean;
      },
    },
  ],
};
