/** Jobs that are held back by their control groups on shared hosts: a used-up CPU quota, or refused memory. */
import { CPU_QUOTA } from './cpu-quota.ts';
import { OWN, percent, whole } from './finding.ts';
import { hostRule } from './host-rule.ts';

const { SOME, OFTEN } = CPU_QUOTA.thresholds;

export const JOB_QUOTA = hostRule({
  name: 'job-quota',
  title: 'a CPU quota that throttles a job',
  looks:
    'Counts the periods in which the CPU quota of a job’s control group was used up, on each host (cpu.stat).',
  needs: ['node_cgroup_cpu_rate.nr_periods', 'node_cgroup_cpu_rate.nr_throttled'],
  sql: `SELECT host, device, sum(nr_throttled * (t - t0)) / sum(nr_periods * (t - t0)) AS value
FROM node_cgroup_cpu_rate GROUP BY host, device HAVING sum(nr_periods * (t - t0)) > 0
ORDER BY value DESC, host, device`,
  thresholds: { SOME, OFTEN },
  some: SOME,
  much: OFTEN,
  knob: 'Ask for as many CPUs as the job has threads that compute (--cpus-per-task), or start fewer threads (OMP_NUM_THREADS).',
  says: ({ host, device, value }) =>
    `Job ${device} had used up its CPU quota on ${host} in ${percent(value)} of its periods`,
});

const KILLED = {
  value: 1,
  unit: '{process}',
  means: 'killed because memory was short: problem',
  source: `${OWN}: its result is missing`,
};

export const OUT_OF_MEMORY = hostRule({
  name: 'out-of-memory',
  title: 'processes of jobs that were killed because memory was short',
  looks: 'Counts processes that the kernel killed in a job’s control group (memory.events).',
  needs: ['node_cgroup_memory_rate.oom_kill'],
  sql: `SELECT host, device, round(sum(oom_kill * (t - t0))) AS value
FROM node_cgroup_memory_rate WHERE oom_kill IS NOT NULL GROUP BY host, device
ORDER BY value DESC, host, device`,
  thresholds: { KILLED },
  some: KILLED,
  much: KILLED,
  knob: 'Ask for more memory (--mem, --mem-per-cpu), or use less on each host.',
  says: ({ host, device, value }) =>
    `The kernel killed ${whole(value)} ${value === 1 ? 'process' : 'processes'} of job ${device} on ${host} because memory was short`,
});
