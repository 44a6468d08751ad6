/**
 * Listed jobs, read together: each host's files are read once for all jobs of a batch, and a job is handed on as soon as
 * its last host is done, so that memory holds the jobs that run at one time and those of the batch that wait for a host.
 */
import type { AccountedJob } from './accounting.ts';
import { jobTimes } from './align.ts';
import type { ArchiveFile } from './archive.ts';
import { readHostFiles, type Work } from './host-files.ts';
import type { HostJob, WantedJob } from './host-job.ts';
import type { Job } from './job.ts';
import type { ListedJob } from './job-list.ts';

/** A job to be read, as it was listed. */
export interface JobToRead {
  readonly listed: ListedJob;
  readonly accounted: AccountedJob | null;
}

export interface ReadJobsOptions {
  /** Take record groups that another host wrote, too. */
  readonly foreign: boolean;
  readonly work?: Work;
  /** Ends the reading: its reason is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Parts, one a job and host, and record groups of jobs of several hosts that a batch may hold. */
  readonly limits?: BatchLimits;
}

interface BatchLimits {
  readonly parts: number;
  readonly groups: number;
}

/** A part of a host of 128 processors takes about 1 MB. */
const LIMITS: BatchLimits = { parts: 400, groups: 40_000 };
/** Jobs of a batch: those of one host are done one after the other, and take no room before they begin. */
const MOST_JOBS = 50_000;

function* batchesOf(
  jobs: readonly JobToRead[],
  { parts: mostParts, groups: mostGroups }: BatchLimits,
): Generator<readonly JobToRead[]> {
  let batch: JobToRead[] = [];
  let parts = 0;
  let groups = 0;
  for (const job of jobs) {
    const { hosts } = job.listed;
    const waiting = hosts.size > 1;
    if (waiting) {
      parts += hosts.size;
      groups += job.listed.groups;
    }
    if (
      batch.length > 0 &&
      (parts > mostParts || groups > mostGroups || batch.length >= MOST_JOBS)
    ) {
      yield batch;
      batch = [];
      parts = waiting ? hosts.size : 0;
      groups = waiting ? job.listed.groups : 0;
    }
    batch.push(job);
  }
  if (batch.length > 0) yield batch;
}

interface HostOfBatch {
  readonly jobs: WantedJob[];
  readonly files: Set<ArchiveFile>;
}

function hostsOf(batch: readonly JobToRead[]): ReadonlyMap<string, HostOfBatch> {
  const hosts = new Map<string, HostOfBatch>();
  for (const { listed } of batch) {
    for (const [host, { groups }] of listed.hosts) {
      const of = hosts.get(host) ?? { jobs: [], files: new Set() };
      hosts.set(host, of);
      of.jobs.push({ id: listed.id, from: listed.first, to: listed.last, groups });
    }
    for (const file of listed.files) hosts.get(file.host)?.files.add(file);
  }
  return hosts;
}

const timeOf = ({ from }: ArchiveFile) => from ?? Number.POSITIVE_INFINITY;
/** As an archive lists them. */
const inOrder = (files: Iterable<ArchiveFile>): ArchiveFile[] =>
  [...files].sort((a, b) =>
    timeOf(a) === timeOf(b) ? (a.path < b.path ? -1 : 1) : timeOf(a) - timeOf(b),
  );

/**
 * Reads jobs. Those that are near each other in time are best near each other in `jobs`, which should be by time. They
 * come in another order. A file that cannot be read to its end gives what came before.
 * @param take told each job with what was read of it, once
 */
export async function readJobs(
  jobs: readonly JobToRead[],
  { foreign, work, limits = LIMITS, signal }: ReadJobsOptions,
  take: (job: Job, of: JobToRead) => void,
): Promise<void> {
  for (const batch of batchesOf(jobs, limits)) {
    const byId = new Map(batch.map((of) => [of.listed.id, of]));
    const waiting = new Map<string, HostJob[]>();
    const done = (id: string, part: HostJob) => {
      const of = byId.get(id);
      if (of === undefined) return;
      const parts = waiting.get(id) ?? [];
      parts.push(part);
      if (parts.length < of.listed.hosts.size) {
        waiting.set(id, parts);
        return;
      }
      waiting.delete(id);
      take(together(of, parts), of);
    };
    for (const [host, { jobs: wanted, files }] of hostsOf(batch)) {
      await readHostFiles(host, inOrder(files), { jobs: wanted, foreign, done, work, signal });
    }
  }
}

function together({ listed, accounted }: JobToRead, parts: readonly HostJob[]): Job {
  const hosts = parts
    .filter(({ times }) => times.length > 0)
    .sort((a, b) => (a.host < b.host ? -1 : 1));
  return {
    ...{ id: listed.id, accounted, hosts },
    missing: [],
    times: jobTimes(hosts),
    oddities: hosts.flatMap(({ oddities }) => oddities),
  };
}
