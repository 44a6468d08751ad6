/**
 * Reads listed jobs together: each host's files are read once for all jobs of a batch, and a job is handed on as soon as
 * its last host is read. So memory holds the jobs that run at one time, and those of the batch that wait for a host.
 */
import type { AccountedJob } from './accounting.ts';
import { jobTimes } from './align.ts';
import type { ArchiveFile } from './archive.ts';
import { readHostFiles, type Work } from './host-files.ts';
import type { HostJob, WantedJob } from './host-job.ts';
import type { Job } from './job.ts';
import type { ListedJob } from './job-list.ts';

/** A job to read, as it was listed. */
export interface JobToRead {
  readonly listed: ListedJob;
  readonly accounted: AccountedJob | null;
}

export interface ReadJobsOptions {
  /** Whether to take record groups that another host wrote. */
  readonly foreign: boolean;
  readonly work?: Work;
  /** Aborts the reading, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The most that a batch may hold: parts (one per job and host), and record groups of jobs of several hosts. */
  readonly limits?: BatchLimits;
}

interface BatchLimits {
  readonly parts: number;
  readonly groups: number;
}

/** A part of a host with 128 processors takes about 1 MB. */
const LIMITS: BatchLimits = { parts: 400, groups: 40_000 };
/** The most jobs of a batch: jobs of one host follow each other, and need no memory before they begin. */
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
/** In the order of the archive's list. */
const inOrder = (files: Iterable<ArchiveFile>): ArchiveFile[] =>
  [...files].sort((a, b) =>
    timeOf(a) === timeOf(b) ? (a.path < b.path ? -1 : 1) : timeOf(a) - timeOf(b),
  );

/**
 * Reads jobs. `jobs` should be sorted by time, so that jobs of the same time are read together. They are passed on
 * in another order. From a file that cannot be read to its end, the part before the damage is used.
 * @param take is called once for each job, with what was read
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
