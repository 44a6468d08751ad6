/** A job: everything that an archive has about it, from all hosts. */
import { SKEW_SECONDS } from '../../model/clock-skew.ts';
import type { AccountedJob } from './accounting.ts';
import { jobTimes } from './align.ts';
import { type Archive, type ArchiveFile, hostsNamed, mayHold } from './archive.ts';
import { JobNotFoundError } from './errors.ts';
import { readHostFiles } from './host-files.ts';
import type { HostJob, HostOddity } from './host-job.ts';

export interface Job {
  readonly id: string;
  readonly accounted: AccountedJob | null;
  /** Hosts with records of it, by name. */
  readonly hosts: readonly HostJob[];
  /** Hosts that should have records and have none, with the reason. */
  readonly missing: readonly { readonly host: string; readonly why: string }[];
  /** One list of times for all hosts, seconds since 1970: see align.ts. */
  readonly times: Float64Array;
  readonly oddities: readonly HostOddity[];
}

export interface JobQuery {
  readonly id: string;
  readonly accounted?: AccountedJob | null;
  /** Only these hosts; by default those of the accounting file, or else all of the archive. */
  readonly hosts?: readonly string[];
  /** Seconds since 1970. */
  readonly from?: number;
  readonly to?: number;
  /** Whether to take record groups that another host wrote. */
  readonly foreign?: boolean;
  /** Aborts the reading, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** How many ids an error message lists. */
const NAMED = 5;

function windowOf({ accounted, from, to }: JobQuery): { from: number; to: number } {
  const started = accounted?.started ?? null;
  const ended = accounted?.ended ?? null;
  return {
    from: from ?? (started === null ? Number.NEGATIVE_INFINITY : started - SKEW_SECONDS),
    to: to ?? (ended === null ? Number.POSITIVE_INFINITY : ended + SKEW_SECONDS),
  };
}

/** The ids most similar to the requested one: with the smallest difference in length and digits. */
function nearestIds(wanted: string, ids: Iterable<string>): string[] {
  const number = Number(wanted);
  const far = (id: string) => {
    const value = Number(id);
    return Number.isFinite(number) && Number.isFinite(value)
      ? Math.abs(value - number)
      : Number.MAX_VALUE;
  };
  const part = (id: string) => Number(!(id.startsWith(wanted) || wanted.startsWith(id)));
  return [...ids]
    .sort((a, b) => part(a) - part(b) || far(a) - far(b) || (a < b ? -1 : 1))
    .slice(0, NAMED);
}

function notFound(
  archive: Archive,
  query: JobQuery,
  seen: ReadonlySet<string>,
  read: number,
): never {
  const { id, from, to } = query;
  const window = from === undefined && to === undefined ? '' : ' in this time';
  const near = nearestIds(id, seen);
  const others =
    near.length === 0
      ? 'its files name no job at all'
      : `${seen.size > NAMED ? 'the nearest of its jobs are' : 'its jobs are'} ${near.join(', ')}`;
  const files = `${read} file${read === 1 ? '' : 's'} read`;
  throw new JobNotFoundError(
    `${archive.path}: no record of job ${id}${window} (${files}); ${others}`,
  );
}

/** Reads a job from an archive. @throws JobNotFoundError if the archive has no records of it */
export async function readJob(archive: Archive, query: JobQuery): Promise<Job> {
  const { id, accounted = null, foreign = false, signal } = query;
  const { from, to } = windowOf(query);
  const wanted = query.hosts ?? accounted?.hosts ?? null;
  const missing: { host: string; why: string }[] = [];
  const byHost = new Map<string, ArchiveFile[]>();
  for (const file of archive.files) {
    if (!mayHold(file, from, to)) continue;
    const files = byHost.get(file.host);
    if (files === undefined) byHost.set(file.host, [file]);
    else files.push(file);
  }
  let names: Iterable<string> = byHost.keys();
  if (wanted !== null && wanted.length > 0) {
    const found = hostsNamed(archive, wanted);
    names = new Set([...found.values()].filter((host) => host !== null));
    for (const [host, folder] of found) {
      if (folder === null) missing.push({ host, why: 'has no folder in the archive' });
    }
  }
  const hosts: HostJob[] = [];
  const oddities: HostOddity[] = [];
  const seen = new Set<string>();
  let read = 0;
  for (const host of names) {
    const files = byHost.get(host) ?? [];
    read += files.length;
    const parts: HostJob[] = [];
    const of = await readHostFiles(host, files, {
      jobs: [{ id, from, to, groups: Number.POSITIVE_INFINITY }],
      foreign,
      signal,
      done: (_, part) => parts.push(part),
    });
    const [part] = parts;
    for (const other of of.seen) seen.add(other);
    if (part.times.length > 0 || wanted !== null) {
      for (const oddity of part.oddities) oddities.push(oddity);
      for (const oddity of of.oddities) oddities.push(oddity);
    }
    if (part.times.length > 0) hosts.push(part);
    else if (wanted !== null) {
      const why = files.length === 0 ? 'has no file of this time' : 'has no record of the job';
      missing.push({ host, why });
    }
  }
  if (hosts.length === 0) notFound(archive, query, seen, read);
  hosts.sort((a, b) => (a.host < b.host ? -1 : 1));
  const expected = accounted?.nodes ?? null;
  if (missing.length === 0 && expected !== null && expected > hosts.length) {
    const count = expected - hosts.length;
    const why = `of ${expected} that the accounting file counts have no record of the job`;
    missing.push({ host: `${count} host${count === 1 ? '' : 's'}`, why });
  }
  return { id, accounted, hosts, missing, times: jobTimes(hosts), oddities };
}

/** The accounting entry of an id. @throws JobNotFoundError if there are several, at different times */
export function accountedJob(
  jobs: readonly AccountedJob[],
  { id, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY }: JobQuery,
): AccountedJob | null {
  const found = jobs.filter(
    (job) =>
      job.id === id &&
      (job.ended ?? Number.POSITIVE_INFINITY) >= from &&
      (job.started ?? Number.NEGATIVE_INFINITY) <= to,
  );
  const distinct = found.filter(
    (job, k) => found.findIndex(({ started }) => started === job.started) === k,
  );
  if (distinct.length > 1) {
    const times = distinct.map(
      ({ started, place }) => `${started === null ? 'never' : isoTime(started)} (${place})`,
    );
    throw new JobNotFoundError(
      `job ${id} is ambiguous: it started ${times.join(' and ')}; say which with --from and --to`,
    );
  }
  return found.at(-1) ?? null;
}

/** `2013-10-01T21:31:03Z`. */
export const isoTime = (seconds: number): string =>
  new Date(Math.floor(seconds) * 1000).toISOString().replace('.000Z', 'Z');
