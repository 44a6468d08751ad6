/** The metrics that hpcperfstats keeps of a job. It averages buckets of five minutes; here it is the whole job. */
import { MissingInput } from '../view.ts';
import type { MetricFamily } from './metric.ts';
import { METADATA, metadata } from './types.ts';

const MB = 2 ** 20;
const GB = 2 ** 30;
const CHANNELS = [0, 1, 2, 3].map((channel) => `MBW_CHANNEL_${channel}`);

export const HPCPERFSTATS: MetricFamily = {
  title: 'As hpcperfstats has them',
  set: 'hpcperfstats',
  metrics: [
    {
      name: 'avg_blockbw',
      unit: 'MiB/s',
      formula: 'Δ(rd_sectors + wr_sectors) in B / (2²⁰ T N)',
      inputs: ['block.rd_sectors', 'block.wr_sectors'],
      note: 'The original labels it GB/s.',
      compute: (view) => view.rate('block', 'rd_sectors', 'wr_sectors') / MB,
    },
    {
      name: 'avg_cpuusage',
      unit: 'cores',
      formula: 'Δ(user + system + nice) / (100 T N)',
      inputs: ['cpu.user', 'cpu.system', 'cpu.nice'],
      compute: (view) => view.rate('cpu', 'user', 'system', 'nice') / 100,
    },
    {
      name: 'avg_lustreiops',
      unit: '1/s',
      formula: `Δ(${METADATA.join(' + ')}) / (T N)`,
      inputs: METADATA.map((key) => `llite.${key}`),
      compute: (view) => view.rate('llite', ...metadata(view)),
    },
    {
      name: 'avg_lustrebw',
      unit: 'MiB/s',
      formula: 'Δ(read_bytes + write_bytes) / (2²⁰ T N)',
      inputs: ['llite.read_bytes', 'llite.write_bytes'],
      note: 'llite counts what read() was asked for in read_bytes, not what it gave: see lustre_read.',
      compute: (view) => view.rate('llite', 'read_bytes', 'write_bytes') / MB,
    },
    {
      name: 'avg_ibbw',
      unit: 'MiB/s',
      formula: 'Δ(port_xmit_data + port_rcv_data) / (2²⁰ T N)',
      inputs: ['ib_ext.port_xmit_data', 'ib_ext.port_rcv_data'],
      compute: (view) => view.rate('ib_ext', 'port_xmit_data', 'port_rcv_data') / MB,
    },
    {
      name: 'avg_flops',
      unit: 'GFLOPS',
      formula: 'ΔFLOPS / (10⁹ T N), of AMD families 17h and 19h; ΔSSE_FLOPS of 10h',
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
        return (2 * view.rate('amd64_df', ...there)) / GB;
      },
    },
  ],
};
