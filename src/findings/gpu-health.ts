/** GPUs that are held down by heat or their hardware, and whose memory has errors. */
import { OWN, percent, whole } from './finding.ts';
import { hostRule } from './host-rule.ts';

const SOME = {
  value: 0.1,
  unit: 'share',
  means: 'of the samples found its clock held down: notice',
  source: `${OWN}: the throttle reasons of NVML; power limits, which are set on purpose, do not count`,
};
const MUCH = { value: 0.5, unit: 'share', means: 'of the samples: problem', source: OWN };

export const GPU_THROTTLED = hostRule({
  name: 'gpu-throttled',
  title: 'GPUs whose clock is held down by heat or hardware',
  looks:
    'The share of samples in which a GPU said that heat, or its hardware, holds its clock down.',
  needs: ['node_nvidia_gpu_state.held_by_heat', 'node_nvidia_gpu_state.held_by_hardware'],
  sql: `SELECT host, device, avg(CAST(held_by_heat > 0 OR held_by_hardware > 0 AS INTEGER)) AS value
FROM node_nvidia_gpu_state WHERE held_by_heat IS NOT NULL AND held_by_hardware IS NOT NULL
GROUP BY host, device ORDER BY value DESC, host, device`,
  thresholds: { SOME, MUCH },
  some: SOME,
  much: MUCH,
  knob: 'Have its cooling and power supply looked at (nvidia-smi -q -d PERFORMANCE); until then leave the host out (--exclude).',
  says: ({ host, device, value }) =>
    `Heat or hardware held the clock of GPU ${device} of ${host} down in ${percent(value)} of the samples`,
});

const ERROR = {
  value: 1,
  unit: '{error}',
  means: 'of its memory that could not be corrected: problem',
  source: `${OWN}: results may be wrong, and the driver ends the program`,
};

export const GPU_ERRORS = hostRule({
  name: 'gpu-errors',
  title: 'GPUs with errors of memory that could not be corrected',
  looks: 'Counts a GPU’s errors of memory that could not be corrected (ECC).',
  needs: ['node_nvidia_gpu_ecc_rate.uncorrected'],
  sql: `SELECT host, device, round(sum(uncorrected * (t - t0))) AS value
FROM node_nvidia_gpu_ecc_rate WHERE uncorrected IS NOT NULL GROUP BY host, device
ORDER BY value DESC, host, device`,
  thresholds: { ERROR },
  some: ERROR,
  much: ERROR,
  knob: 'Run what ran there again, and have the GPU tested or replaced; until then leave the host out (--exclude).',
  says: ({ host, device, value }) =>
    `GPU ${device} of ${host} had ${whole(value)} ${value === 1 ? 'error' : 'errors'} of memory that could not be corrected`,
});
