/** Threads with many page faults: new memory again and again, or memory that has to be read from a device. */
import { bytes } from '../model/measures/index.ts';
import {
  expecting,
  type FindingParts,
  type FindingRule,
  OWN,
  percent,
  type Subject,
  short,
  unforeseen,
  whole,
} from './finding.ts';
import {
  capital,
  ENOUGH,
  namesOf,
  stretchOfThread,
  THREADS,
  type ThreadRun,
  threadRows,
  threadsOf,
} from './threads.ts';
import { when } from './when.ts';

const MINOR = {
  value: 100_000,
  unit: 'faults/s',
  means: 'without I/O per second of a thread’s time: notice',
  source: `${OWN}: each takes about a microsecond, 10 % of the time in all`,
};
/** The approximate time of a page fault without I/O, in seconds. */
const FAULT_SECONDS = 1e-6;
const MAJOR = {
  value: 50,
  unit: 'faults/s',
  means: 'that read from a device, per second: problem',
  source: `${OWN}: each takes 0.1 to 10 ms`,
};

const FULL = {
  value: 0.95,
  unit: 'share',
  means: 'of a control group’s memory limit in use, with the page cache: the finding names it',
  source: `${OWN}: from there on the kernel takes pages back before it gives new ones`,
};

const GROUPS = `SELECT host, cgroup, max(charged / "limit") AS share, max("limit")::DOUBLE AS "limit"
FROM process_limit WHERE "limit" > 0 GROUP BY host, cgroup HAVING max(charged / "limit") >= ${FULL.value} ORDER BY "limit", cgroup`;

/** Why pages may have to be read again: the host's full control group with the smallest limit; '' if none is full. */
async function fullGroup({ recording, has }: Subject, host: string): Promise<string> {
  if (!has('process_limit.charged')) return '';
  const groups = await recording.query<{
    host: string;
    cgroup: string;
    share: number;
    limit: number;
  }>(GROUPS);
  const full = groups.find((one) => one.host === host);
  if (full === undefined) return '';
  const { cgroup, share, limit } = full;
  return `: control group ${cgroup} has ${percent(share)} of its ${bytes(limit, { binary: true })} in use, with the page cache, so that pages may be dropped before they are used again`;
}

export const PAGE_FAULTS: FindingRule = {
  name: 'page-faults',
  title: 'bursts of page faults',
  looks:
    'Counts the page faults of each thread, with and without I/O; of those with I/O, names the control group whose memory limit leaves no room for pages.',
  needs: ['rank_on_node'],
  thresholds: { MINOR, MAJOR, FULL, ENOUGH },
  knob: 'Keep buffers instead of freeing them (MALLOC_TRIM_THRESHOLD_, M_MMAP_THRESHOLD), use huge pages; if faults read from a device, use less memory than the machine or the job’s limit has room for, or raise the limit (memory.max).',
  // A thread that waits for a page from a device is blocked by the device.
  explains: ['device-wait'],
  async run(subject) {
    const all = await threadsOf(subject);
    const severe = all
      .filter((one) => one.major_faults >= MAJOR.value)
      .sort((a, b) => b.major_faults - a.major_faults);
    const storms = all
      .filter((one) => one.minor_faults >= MINOR.value && !severe.includes(one))
      .sort((a, b) => b.minor_faults - a.minor_faults);
    const told = async (
      some: typeof all,
      severity: 'problem' | 'notice',
      what: 'faults' | 'reads',
      says: (worst: ThreadRun) => string,
      brings: (worst: ThreadRun) => Pick<FindingParts, 'advice' | 'gain'>,
      why: (worst: ThreadRun) => Promise<string> = async () => '',
    ): Promise<FindingParts[]> => {
      const [worst] = some;
      if (worst === undefined) return [];
      const stretch = await stretchOfThread(subject, worst, what);
      return [
        {
          severity,
          sentence: `${capital(namesOf(some))} ${says(worst)}${when(stretch)}${await why(worst)}.`,
          evidence: { sql: THREADS, rows: threadRows(some, stretch) },
          ...brings(worst),
        },
      ];
    };
    return [
      ...(await told(
        severe,
        'problem',
        'reads',
        ({ major_faults }) =>
          `waited for ${short(major_faults)} pages a second that had to be read from a device`,
        () => unforeseen(this.knob, 'a page takes a device 0.1 to 10 ms'),
        ({ host }) => fullGroup(subject, host),
      )),
      ...(await told(
        storms,
        'notice',
        'faults',
        ({ minor_faults }) => `faulted in ${whole(minor_faults)} pages a second`,
        ({ minor_faults }) =>
          expecting(this.knob, minor_faults * FAULT_SECONDS, 'a fault takes about a microsecond'),
      )),
    ];
  },
};
