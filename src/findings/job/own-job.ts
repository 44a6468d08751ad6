/** A job as its own user may see it: without data about those who shared its hosts. */
import type { HostJob } from './host-job.ts';
import type { Job } from './job.ts';
import { Processes } from './processes.ts';

/** Types whose devices are processes and jobs of any user. */
const OF_ALL = /^(proc|cgroup_.*)$/;

const alone = (host: HostJob): HostJob =>
  host.others.length === 0
    ? host
    : {
        ...host,
        others: [],
        oddities: [],
        types: new Map([...host.types].filter(([type]) => !OF_ALL.test(type))),
        processes: new Processes(),
      };

/** The job without other jobs' names and other users' processes on hosts that it shared. Counters of a whole host stay. */
export const withoutOthers = (job: Job): Job => {
  const shared = new Set(
    job.hosts.filter(({ others }) => others.length > 0).map(({ host }) => host),
  );
  return {
    ...job,
    hosts: job.hosts.map(alone),
    oddities: job.oddities.filter(({ host }) => !shared.has(host)),
  };
};
