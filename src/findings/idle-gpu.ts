/** GPUs that are not used while the command runs. */
import { asRows, counted, type FindingRule, OWN, percent } from './finding.ts';
import { lacking } from './host-rule.ts';

const IDLE = {
  value: 0.1,
  unit: 'share',
  means: 'of the time or less, a kernel ran on a GPU: notice',
  source: `${OWN}: utilization as drivers report it (NVML, amdgpu); of Intel’s GPUs, the part that slept least`,
};
const LONG = {
  value: 10,
  unit: 's',
  means: 'of samples at least: programs begin by loading their data',
  source: OWN,
};

const ofUtilization = (table: string) => ({
  needs: [`${table}.utilization`],
  sql: `SELECT host, device, avg(utilization) / 100 AS busy, max(t) - min(t) AS seconds
FROM ${table} WHERE utilization IS NOT NULL GROUP BY host, device
HAVING max(t) - min(t) >= ${LONG.value} ORDER BY busy, host, device`,
});

const SOURCES = [
  ofUtilization('node_nvidia_gpu'),
  ofUtilization('node_amd_gpu'),
  {
    needs: ['node_intel_gpu_rate.idle'],
    // A GPU has separate engines for computing and for video: it is in use while any of them is.
    sql: `SELECT host, device, max(busy) AS busy, max(seconds) AS seconds FROM (
  SELECT host, split_part(device, '/', 1) AS device, 1 - sum("idle" * (t - t0)) / 1000 / sum(t - t0) AS busy, sum(t - t0) AS seconds
  FROM node_intel_gpu_rate WHERE "idle" IS NOT NULL GROUP BY host, node_intel_gpu_rate.device)
GROUP BY host, device HAVING max(seconds) >= ${LONG.value} ORDER BY busy, host, device`,
  },
];

interface Gpu {
  readonly host: string;
  readonly device: string;
  readonly busy: number;
}

export const IDLE_GPU: FindingRule = {
  name: 'idle-gpu',
  title: 'GPUs that are not used',
  looks: 'The share of time in which a kernel ran on each GPU, as its driver reports it.',
  needs: [],
  thresholds: { IDLE, LONG },
  knob: 'Check that the program sees the GPUs (CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, ZE_AFFINITY_MASK, --gpus-per-task) and uses them. If it needs none, ask for a node without GPUs: others can use them, and nothing gets faster.',
  async run({ recording, has }) {
    const there = SOURCES.filter(({ needs }) => needs.every(has));
    if (there.length === 0) return lacking(SOURCES.map(({ needs }) => needs));
    const tables = await Promise.all(there.map(({ sql }) => recording.query<Gpu>(sql)));
    const all = tables.flat();
    const idle = all.filter(({ busy }) => busy <= IDLE.value);
    if (idle.length === 0) return [];
    const [{ host, device, busy }] = idle;
    const which = idle.length === 1 ? `GPU ${device} of ${host}` : counted(idle.length, 'GPU');
    return [
      {
        severity: 'notice',
        sentence: `${which} of ${all.length} worked for ${idle.length === 1 ? '' : 'up to '}${percent(idle.length === 1 ? busy : Math.max(...idle.map((one) => one.busy)))} of the time.`,
        evidence: {
          sql: there[tables.findIndex((rows) => rows.includes(idle[0]))].sql,
          rows: asRows(tables.find((rows) => rows.includes(idle[0])) ?? []),
        },
        advice: this.knob,
      },
    ];
  },
};
