/** The metrics that hpcperfstats stores for a job. It averages over buckets of five minutes; here they are for the whole job. */
import { GIB } from '../../../model/bytes.ts';
import { MissingInput } from '../view.ts';
import { average, type MetricFamily } from './metric.ts';
import { METADATA, metadata } from './types.ts';

const CHANNELS = [0, 1, 2, 3].map((channel) => `MBW_CHANNEL_${channel}`);

export const HPCPERFSTATS: MetricFamily = {
  title: 'As hpcperfstats defines them',
  set: 'hpcperfstats',
  metrics: [
    average(
      'avg_blockbw',
      'block',
      ['rd_sectors', 'wr_sectors'],
      'MiB/s',
      'Sectors are 512 B. The original labels it GB/s.',
    ),
    average('avg_cpuusage', 'cpu', ['user', 'system', 'nice'], 'cores'),
    {
      name: 'avg_lustreiops',
      unit: '1/s',
      formula: `Δ(${METADATA.join(' + ')}) / (T N)`,
      inputs: METADATA.map((key) => `llite.${key}`),
      compute: (view) => view.rate('llite', ...metadata(view)),
    },
    average(
      'avg_lustrebw',
      'llite',
      ['read_bytes', 'write_bytes'],
      'MiB/s',
      'llite counts what read() was asked for in read_bytes, not what it gave: see lustre_read.',
    ),
    average('avg_ibbw', 'ib_ext', ['port_xmit_data', 'port_rcv_data'], 'MiB/s'),
    {
      name: 'avg_flops',
      unit: 'GFLOPS',
      formula: 'ΔFLOPS / (10⁹ T N), of AMD families 17h, 19h and 1Ah; ΔSSE_FLOPS of 10h',
      inputs: ['amd64_pmc.FLOPS', 'amd64_core.SSE_FLOPS'],
      compute: (view) =>
        view.has('amd64_core', 'SSE_FLOPS')
          ? view.rate('amd64_core', 'SSE_FLOPS') / 1e9
          : view.rate('amd64_pmc', 'FLOPS') / 1e9,
    },
    {
      name: 'avg_mbw',
      unit: 'GiB/s',
      formula: '2 × 64 Δ(MBW_CHANNEL_0 … MBW_CHANNEL_3) / (2³⁰ T N)',
      inputs: CHANNELS.map((channel) => `amd64_df.${channel}`),
      note: 'Twice: half of the channels are counted.',
      compute: (view) => {
        const there = CHANNELS.filter((channel) => view.has('amd64_df', channel));
        if (there.length === 0) {
          throw new MissingInput(
            view.has('amd64_df') ? `amd64_df.${CHANNELS[0]}` : 'type amd64_df',
          );
        }
        return (2 * view.rate('amd64_df', ...there)) / GIB;
      },
    },
  ],
};
