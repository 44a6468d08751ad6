/** Threads that are ready to run and get no CPU: the command has too many threads, others use the CPU, or a hypervisor takes it. */
import {
  counted,
  expecting,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  percent,
} from './finding.ts';
import {
  capital,
  ENOUGH,
  lostOf,
  namesOf,
  stretchOfThread,
  THREADS,
  threadRows,
  threadsOf,
} from './threads.ts';
import { when } from './when.ts';

const WAITS = {
  value: 0.1,
  unit: 'share',
  means: 'of its time, a thread waited for a CPU or a hypervisor took its CPU: notice',
  source: `${OWN}: smaller shares are kernel threads and ticks`,
};
const MUCH = {
  value: 0.25,
  unit: 'share',
  means: 'of its time: problem',
  source: OWN,
};
const STOLEN = {
  value: 0.05,
  unit: 'share',
  means: 'of its CPU’s time was stolen: the finding names the hypervisor',
  source: OWN,
};

const CROWDED = {
  value: 1.1,
  unit: '',
  means: 'times the number of CPUs: the command has too many threads of its own',
  source: `${OWN}: helper threads need a little more`,
};

/** CPUs of the hosts on which threads wait, and how many CPUs the threads need. */
const CPUS =
  "SELECT split_part(host, '.', 1) AS host, count(DISTINCT device)::DOUBLE AS cpus FROM node_cpu GROUP BY ALL";

export const WAITING_THREADS: FindingRule = {
  name: 'waiting-threads',
  title: 'threads that wait for a CPU',
  looks:
    'Measures, for each thread, the time for which it was ready to run but had no CPU (schedstat) and its part of the time that a hypervisor took; names what used that CPU meanwhile, and counts the command’s threads that need CPUs.',
  needs: ['rank_on_node'],
  thresholds: { WAITS, MUCH, STOLEN, CROWDED, ENOUGH },
  knob: 'Run no more busy threads than there are CPUs (OMP_NUM_THREADS, mpirun -np), bind them (--bind-to core, OMP_PROC_BIND), and keep other work off the CPUs (taskset, an exclusive job).',
  async run(subject) {
    const all = await threadsOf(subject);
    const late = all
      .filter((one) => lostOf(one) >= WAITS.value)
      .sort((a, b) => lostOf(b) - lostOf(a));
    if (late.length === 0) return [];
    const [worst] = late;
    const severity = graded(lostOf(worst), WAITS, MUCH);
    if (severity === null) return [];
    const host = worst.host.split('.')[0];
    const cpus = subject.has('node_cpu')
      ? await subject.recording.query<{ host: string; cpus: number }>(CPUS)
      : [];
    const there = cpus.find((one) => one.host === host)?.cpus ?? null;
    // The CPUs that threads need: the time in which they ran, plus the time in which they waited.
    const wanted = all
      .filter((one) => one.host === worst.host)
      .reduce((sum, one) => sum + one.running + (one.waiting ?? 0), 0);
    const why: string[] = [];
    if ((worst.stolen ?? 0) >= STOLEN.value) {
      why.push(`${percent(worst.stolen ?? 0)} of CPU ${worst.cpu} was stolen by the hypervisor`);
    }
    if (there !== null && wanted >= CROWDED.value * there) {
      why.push(
        `the command’s threads need ${wanted.toFixed(1)} CPUs, but ${host} has ${counted(there, 'CPU')}`,
      );
    }
    if (worst.others !== null && worst.others >= WAITS.value) {
      why.push(`other threads and processes used ${percent(worst.others)} of CPU ${worst.cpu}`);
    }
    const stretch = await stretchOfThread(subject, worst, 'cpu');
    const range = late.length > 1 ? 'up to ' : '';
    const sentence = `${capital(namesOf(late))} could not run for ${range}${percent(lostOf(worst))} of the time${when(stretch)}${why.length > 0 ? `: ${why.join('; ')}` : ''}.`;
    const found: FindingParts = {
      severity,
      sentence,
      evidence: { sql: THREADS, rows: threadRows(late, stretch) },
      ...expecting(this.knob, lostOf(worst), 'so long it was ready to run and had no CPU'),
    };
    return [found];
  },
};
