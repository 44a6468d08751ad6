/** GPUs in which nothing runs while the command does. */
import { asRows, counted, type FindingRule, OWN, percent } from './finding.ts';

const IDLE = {
  value: 0.1,
  unit: 'share',
  means: 'of the time or less, a kernel ran on a GPU: notice',
  source: `${OWN}: utilization as NVML reports it`,
};
const LONG = {
  value: 10,
  unit: 's',
  means: 'of samples at least: programs begin by loading their data',
  source: OWN,
};

const SQL = `SELECT host, device, avg(utilization) / 100 AS busy, max(t) - min(t) AS seconds
FROM node_nvidia_gpu WHERE utilization IS NOT NULL GROUP BY host, device
HAVING max(t) - min(t) >= ${LONG.value} ORDER BY busy, host, device`;

interface Gpu {
  readonly host: string;
  readonly device: string;
  readonly busy: number;
}

export const IDLE_GPU: FindingRule = {
  name: 'idle-gpu',
  title: 'GPUs that are not used',
  looks: 'The share of time in which a kernel ran on each GPU, as its driver reports it.',
  needs: ['node_nvidia_gpu.utilization'],
  thresholds: { IDLE, LONG },
  knob: 'Check that the program sees the GPUs (CUDA_VISIBLE_DEVICES, --gpus-per-task) and uses them. If it needs none, ask for a node without GPUs: others can use them, and nothing gets faster.',
  async run({ recording }) {
    const all = await recording.query<Gpu>(SQL);
    const idle = all.filter(({ busy }) => busy <= IDLE.value);
    if (idle.length === 0) return [];
    const [{ host, device, busy }] = idle;
    const which = idle.length === 1 ? `GPU ${device} of ${host}` : counted(idle.length, 'GPU');
    return [
      {
        severity: 'notice',
        sentence: `${which} of ${all.length} worked for ${idle.length === 1 ? '' : 'up to '}${percent(idle.length === 1 ? busy : Math.max(...idle.map((one) => one.busy)))} of the time.`,
        evidence: { sql: SQL, rows: asRows(all) },
        advice: this.knob,
      },
    ];
  },
};
