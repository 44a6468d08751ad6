/**
 * `cgroup_*`: what each of Slurm's jobs uses, by its control group of version 2: on shared nodes the only numbers that
 * tell jobs apart. Keys that the kernel does not count are not in the schema. Of each job's group the files have the sums
 * over its steps, those that have ended too. Source: Documentation/admin-guide/cgroup-v2.rst.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { JOBS_PARENT, unifiedJobs } from '../slurm.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { type Device, Devices } from './devices.ts';
import { alone, type FileField, FileFields, fieldsHere, keyed } from './file-fields.ts';
import { pressureFields } from './psi.ts';
import { type Collector, counter, gauge, type NodeType } from './type.ts';

/** Jobs as devices. `open` gets the folder of a job's group, and its name. */
export function jobDevices(
  tree: NodeTree,
  open: (folder: string, job: string) => Device | null,
): Devices {
  let jobs = new Map() as ReturnType<typeof unifiedJobs>;
  const list = () => {
    jobs = unifiedJobs(tree);
    return jobs === null ? null : [...jobs.keys()];
  };
  const device = (job: string) => {
    const folder = jobs?.get(job);
    return folder === undefined ? null : open(folder, job);
  };
  return new Devices(`/${JOBS_PARENT}`, list, device);
}

/** Fields that a job's group has; where no job runs, those of the group above, whose files are the same. */
function fieldsOfJobs(tree: NodeTree, fields: readonly FileField[]): readonly FileField[] {
  for (const folder of [...(unifiedJobs(tree)?.values() ?? []), JOBS_PARENT]) {
    const here = fieldsHere(tree, folder, fields);
    if (here.length > 0) return here;
  }
  const [{ file }] = fields;
  throw new UnavailableError(
    `there is no /${JOBS_PARENT}/${file}, a file of control groups of version 2`,
  );
}

function cgroupType(
  name: string,
  help: string,
  source: string,
  all: readonly FileField[],
): NodeType {
  const open = (tree: NodeTree): Collector => {
    const fields = fieldsOfJobs(tree, all);
    const devices = jobDevices(tree, (folder, job) => {
      const files = new FileFields(tree, folder, fields);
      const write = (writer: RawWriter) => {
        writer.record(name, job);
        files.write(writer);
        writer.endRecord(fields.length);
      };
      return { write, close: () => files.close() };
    });
    const metrics = fields.map(({ metric }) => metric);
    return { metrics, collect: (writer) => devices.collect(writer), close: () => devices.close() };
  };
  const metrics = all.map(({ metric }) => metric);
  return { name, help, device: JOB, source, metrics, open };
}

/** What a device is. */
export const JOB = 'job of Slurm, NODE/JOB where a machine is several nodes';
/** Where its files are. */
export const JOB_FOLDER = '/sys/fs/cgroup/system.slice/slurmstepd.scope/job_ID';

const CPU = [
  counter('usage_usec', 'CPU time', 'us'),
  counter('user_usec', 'CPU time in user mode', 'us'),
  counter('system_usec', 'CPU time in the kernel', 'us'),
  counter('nr_periods', 'periods in which its CPU quota was enforced'),
  counter('nr_throttled', 'of those, in which it had used up its quota'),
  counter('throttled_usec', 'time in which its CPU quota held it up, summed over CPUs', 'us'),
].map((metric) => keyed(metric, 'cpu.stat'));

const MEMORY = [
  alone(gauge('current', 'memory in use', 'B'), 'memory.current'),
  alone(gauge('peak', 'most memory that it has used', 'B'), 'memory.peak'),
  alone(gauge('swap_current', 'swap space in use', 'B'), 'memory.swap.current'),
  ...[
    gauge('anon', 'memory that belongs to no file', 'B'),
    gauge('file', 'memory that caches files, shared memory too', 'B'),
    gauge('kernel', 'memory of the kernel for it', 'B'),
    gauge('shmem', 'shared memory and file systems in memory', 'B'),
    gauge('file_mapped', 'cached files that are mapped', 'B'),
    gauge('file_dirty', 'cached files that are to be written', 'B'),
    gauge('file_writeback', 'cached files that are being written', 'B'),
    gauge('slab', "memory of the kernel's data structures", 'B'),
    counter('pgfault', 'page faults'),
    counter('pgmajfault', 'page faults that needed a disk'),
  ].map((metric) => keyed(metric, 'memory.stat')),
  keyed(
    counter('events_max', 'times that it was about to exceed its limit'),
    'memory.events',
    'max',
  ),
  keyed(counter('oom', 'times that it was at its limit and could not get memory'), 'memory.events'),
  keyed(counter('oom_kill', 'processes killed because memory was short'), 'memory.events'),
];

export const CGROUPS: readonly NodeType[] = [
  cgroupType('cgroup_cpu', 'CPU time of jobs', `${JOB_FOLDER}/cpu.stat`, CPU),
  cgroupType(
    'cgroup_memory',
    'memory of jobs',
    `${JOB_FOLDER}/memory.current, peak, swap.current, stat, events`,
    MEMORY,
  ),
  cgroupType(
    'cgroup_psi',
    'pressure on jobs: time in which their processes waited for a CPU, memory or I/O',
    `${JOB_FOLDER}/*.pressure`,
    pressureFields((resource) => `${resource}.pressure`),
  ),
];
