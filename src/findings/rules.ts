/** All rules. To add a finding, write its file and a line here. */
import { CATASTROPHE } from './catastrophe.ts';
import { CPU_QUOTA } from './cpu-quota.ts';
import { DEVICE_WAIT } from './device-wait.ts';
import { EFFICIENCY } from './efficiency.ts';
import { ENERGY_PER_EVENT } from './energy-per-event.ts';
import { ENERGY_PER_REGION } from './energy-per-region.ts';
import { FALSE_ROLLBACKS } from './false-rollbacks.ts';
import type { FindingRule } from './finding.ts';
import { FULL_LINK } from './full-link.ts';
import { GPU_ERRORS, GPU_THROTTLED } from './gpu-health.ts';
import { GVT_INTERVAL } from './gvt-interval.ts';
import { HEAT } from './heat.ts';
import { HIGH_CPI } from './high-cpi.ts';
import { IDLE_GPU } from './idle-gpu.ts';
import { IDLE_NODES } from './idle-nodes.ts';
import { IMBALANCE } from './imbalance.ts';
import { INSTRUMENTATION } from './instrumentation.ts';
import { JOB_QUOTA, OUT_OF_MEMORY } from './job-limits.ts';
import type { JobFindingRule } from './job-rule.ts';
import { JOB_FLAGS, JOB_GAUGES } from './job-verdict.ts';
import { LATE_RANK } from './late-rank.ts';
import { LOOKAHEAD } from './lookahead.ts';
import { LOW_FREQUENCY } from './low-frequency.ts';
import { MEMORY_BOUND } from './memory-bound.ts';
import { MEMORY_LIMIT } from './memory-limit.ts';
import { MEMORY_PRESSURE } from './memory-pressure.ts';
import { MEMORY_STALL } from './memory-stall.ts';
import { METADATA_STORM } from './metadata-storm.ts';
import { MIGRATING_THREADS } from './migrating-threads.ts';
import { MPI_SHARE } from './mpi-share.ts';
import { NETWORK_BOUND } from './network-bound.ts';
import { NODE_MEMORY } from './node-memory.ts';
import { OPTIMISM } from './optimism.ts';
import { PAGE_FAULTS } from './page-faults.ts';
import { PAUSE } from './pause.ts';
import { POWER_LIMIT } from './power-limit.ts';
import { HOST_IO_PRESSURE, HOST_MEMORY_PRESSURE } from './pressure.ts';
import { RANK_IMBALANCE } from './rank-imbalance.ts';
import { REGION_ALIGNMENT } from './region-alignment.ts';
import { ROLLBACK_CHAINS } from './rollback-chains.ts';
import { ROLLBACK_CULPRITS } from './rollback-culprits.ts';
import { SECONDARY_ROLLBACKS } from './secondary-rollbacks.ts';
import { SLOW_HANDLERS } from './slow-handlers.ts';
import { SLOW_LINK } from './slow-link.ts';
import { SLOW_LUSTRE } from './slow-lustre.ts';
import { SLOW_NFS } from './slow-nfs.ts';
import { STOLEN_CPU } from './stolen-cpu.ts';
import { SUSPECT_DATA } from './suspect-data.ts';
import { SWAP } from './swap.ts';
import { TEMPERATURE } from './temperature.ts';
import { TOO_MANY_KPS } from './too-many-kps.ts';
import { WAITING_THREADS } from './waiting-threads.ts';
import { WRONG_INTERCONNECT } from './wrong-interconnect.ts';

/** Rules that read nothing but a job's records. */
export const JOB_RULES: readonly JobFindingRule[] = [
  ...[JOB_GAUGES, JOB_FLAGS, CATASTROPHE, IDLE_NODES, HIGH_CPI, MEMORY_BOUND],
  ...[WRONG_INTERCONNECT, METADATA_STORM],
];

/** Groups of rules by topic, in the order in which findings of one severity are listed. */
export const RULE_GROUPS: readonly {
  readonly title: string;
  /** Names of tables: the rules apply if one of these exists. */
  readonly tables: RegExp;
  readonly rules: readonly FindingRule[];
}[] = [
  { title: 'The recording itself', tables: /^sim_/, rules: [SUSPECT_DATA, INSTRUMENTATION, PAUSE] },
  { title: 'The simulator and its CPUs', tables: /^sim_thread/, rules: [STOLEN_CPU] },
  {
    title: 'The simulator',
    tables: /^ross_[pkl]/,
    rules: [
      ...[SLOW_LINK, MEMORY_PRESSURE, SLOW_HANDLERS, IMBALANCE, LOOKAHEAD, OPTIMISM],
      FALSE_ROLLBACKS,
      ...[GVT_INTERVAL, TOO_MANY_KPS, NETWORK_BOUND],
      ...[EFFICIENCY, ROLLBACK_CULPRITS, SECONDARY_ROLLBACKS, ROLLBACK_CHAINS],
    ],
  },
  {
    title: 'Processes and threads of a command',
    tables: /^process_thread/,
    rules: [
      MEMORY_LIMIT,
      MEMORY_STALL,
      HEAT,
      FULL_LINK,
      LATE_RANK,
      WAITING_THREADS,
      CPU_QUOTA,
      DEVICE_WAIT,
      MIGRATING_THREADS,
      PAGE_FAULTS,
    ],
  },
  {
    title: 'Regions and energy',
    tables: /^geopm_region$/,
    rules: [
      ...[RANK_IMBALANCE, MPI_SHARE],
      ...[REGION_ALIGNMENT, ENERGY_PER_REGION, ENERGY_PER_EVENT, LOW_FREQUENCY],
    ],
  },
  {
    title: 'Jobs on their hosts',
    tables: /^node_/,
    rules: [
      ...JOB_RULES,
      ...[SWAP, NODE_MEMORY, HOST_MEMORY_PRESSURE, HOST_IO_PRESSURE, OUT_OF_MEMORY, JOB_QUOTA],
      ...[SLOW_LUSTRE, SLOW_NFS, IDLE_GPU, GPU_THROTTLED, GPU_ERRORS, TEMPERATURE, POWER_LIMIT],
    ],
  },
];

export const FINDINGS: readonly FindingRule[] = RULE_GROUPS.flatMap(({ rules }) => rules);
