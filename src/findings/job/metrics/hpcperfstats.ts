/** The metrics that hpcperfstats stores for a job. It averages over buckets of five minutes; here they are for the whole job. */
import { average, sum } from './declaration.ts';
import { BLOCKS, METADATA_RATE } from './files.ts';
import { declared, type MetricFamily } from './metric.ts';

const CHANNELS = sum('amd64_df', ...[0, 1, 2, 3].map((channel) => `MBW_CHANNEL_${channel}`));

export const WORKING = average('avg_cpuusage', 'cores', sum('cpu', 'user', 'system', 'nice'));

export const HPCPERFSTATS: MetricFamily = {
  title: 'As hpcperfstats defines them',
  set: 'hpcperfstats',
  metrics: declared(
    { ...BLOCKS, note: `${BLOCKS.note} The original labels it GB/s.` },
    WORKING,
    METADATA_RATE,
    average('avg_lustrebw', 'MiB/s', sum('llite', 'read_bytes', 'write_bytes'), {
      note: 'llite counts what read() was asked for in read_bytes, not what it gave: see lustre_read.',
    }),
    average('avg_ibbw', 'MiB/s', sum('ib_ext', 'port_xmit_data', 'port_rcv_data')),
    average('avg_flops', 'GFLOPS', sum('amd64_core', 'SSE_FLOPS'), {
      or: { of: sum('amd64_pmc', 'FLOPS') },
      note: 'amd64_core is of AMD family 10h, amd64_pmc of 17h, 19h and 1Ah.',
    }),
    average('avg_mbw', 'GiB/s', CHANNELS, {
      ...{ optional: Object.keys(CHANNELS), factor: 2 },
      note: 'Twice: half of the channels are counted.',
    }),
  ),
};
