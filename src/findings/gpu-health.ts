/** GPUs that heat or hardware slows down, and GPUs whose memory has errors. */
import { OWN, percent, whole } from './finding.ts';
import { type HostValue, hostRule } from './host-rule.ts';

const SOME = {
  value: 0.1,
  unit: 'share',
  means: 'of the samples, or of the time, found its clock held down: notice',
  source: `${OWN}: the reasons that drivers report (NVIDIA, Intel, AMD); power limits, which are set on purpose, do not count`,
};
const MUCH = { value: 0.5, unit: 'share', means: 'of them: problem', source: OWN };

/** The share of samples in which one of the two flags was set. */
const held = (table: string) => ({
  needs: [`${table}.held_by_heat`, `${table}.held_by_hardware`],
  sql: `SELECT host, device, avg(CAST(held_by_heat > 0 OR held_by_hardware > 0 AS INTEGER)) AS value
FROM ${table} WHERE held_by_heat IS NOT NULL AND held_by_hardware IS NOT NULL
GROUP BY host, device ORDER BY value DESC, host, device`,
});

/** The throttle reasons of `amd_gpu_throttle` that come from heat; PROCHOT, too, means that some part is hot. */
export const MI300_HEAT = ['by_signal', 'by_socket_heat', 'by_regulator_heat', 'by_memory_heat'];
/** For MI300: the reason that limited the clock longest. Several may do so at once, so this is a lower bound of the share. */
const HELD_TIME = {
  needs: ['node_amd_gpu_throttle_rate.ticks'],
  sql: `SELECT host, device, greatest(${MI300_HEAT.map((key) => `sum(${key} * (t - t0))`).join(', ')}) / sum(ticks * (t - t0)) AS value
FROM node_amd_gpu_throttle_rate WHERE ticks > 0 GROUP BY host, device ORDER BY value DESC, host, device`,
  says: ({ host, device, value }: HostValue) =>
    `Heat held the clock of GPU ${device} of ${host} down for ${percent(value)} of the time, at least`,
};

export const GPU_THROTTLED = hostRule({
  name: 'gpu-throttled',
  title: 'GPUs whose clock is held down by heat or hardware',
  looks:
    'The share of samples in which a GPU reported that it was throttled by heat or by its hardware; of AMD’s MI300, the share of time.',
  ...held('node_nvidia_gpu_state'),
  also: [held('node_intel_gpu_state'), held('node_amd_gpu_state'), HELD_TIME],
  thresholds: { SOME, MUCH },
  some: SOME,
  much: MUCH,
  knob: 'Have its cooling and power supply checked (nvidia-smi -q -d PERFORMANCE, xpu-smi stats, amd-smi metric); until then leave the host out (--exclude).',
  says: ({ host, device, value }) =>
    `Heat or hardware held the clock of GPU ${device} of ${host} down in ${percent(value)} of the samples`,
});

const ERROR = {
  value: 1,
  unit: '{error}',
  means: 'of its memory that could not be corrected: problem',
  source: `${OWN}: results may be wrong, and the driver ends the program`,
};

const uncorrected = (table: string) => ({
  needs: [`${table}.uncorrected`],
  sql: `SELECT host, device, round(sum(uncorrected * (t - t0))) AS value
FROM ${table} WHERE uncorrected IS NOT NULL GROUP BY host, device
ORDER BY value DESC, host, device`,
});

export const GPU_ERRORS = hostRule({
  name: 'gpu-errors',
  title: 'GPUs with memory errors that could not be corrected',
  looks: 'Counts a GPU’s memory errors that could not be corrected (ECC).',
  ...uncorrected('node_nvidia_gpu_ecc_rate'),
  also: [uncorrected('node_amd_gpu_ecc_rate')],
  thresholds: { ERROR },
  some: ERROR,
  much: ERROR,
  knob: 'Repeat what ran there, and have the GPU tested or replaced; until then leave the host out (--exclude).',
  says: ({ host, device, value }) =>
    `GPU ${device} of ${host} had ${whole(value)} memory ${value === 1 ? 'error' : 'errors'} that could not be corrected`,
});
