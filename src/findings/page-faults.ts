/** Threads that fault pages in without end: fresh memory again and again, or memory that has to be read from a device. */
import {
  expecting,
  type FindingParts,
  type FindingRule,
  OWN,
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
  value: 50_000,
  unit: 'faults/s',
  means: 'without I/O per second of a thread’s time: notice',
  source: `${OWN}: each takes about a microsecond, about 5 % of the time in all`,
};
/** Seconds that a page fault without I/O takes, about. */
const A_FAULT = 1e-6;
const MAJOR = {
  value: 50,
  unit: 'faults/s',
  means: 'that read from a device, per second: problem',
  source: `${OWN}: each takes 0.1 to 10 ms`,
};

export const PAGE_FAULTS: FindingRule = {
  name: 'page-faults',
  title: 'bursts of page faults',
  looks: 'Counts the page faults of each thread, with and without I/O.',
  needs: ['rank_on_node'],
  thresholds: { MINOR, MAJOR, ENOUGH },
  knob: 'Keep buffers instead of freeing them (MALLOC_TRIM_THRESHOLD_, M_MMAP_THRESHOLD), use huge pages; if faults read from a device, use less memory than the machine has.',
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
    ): Promise<FindingParts[]> => {
      const [worst] = some;
      if (worst === undefined) return [];
      const stretch = await stretchOfThread(subject, worst, what);
      return [
        {
          severity,
          sentence: `${capital(namesOf(some))} ${says(worst)}${when(stretch)}.`,
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
      )),
      ...(await told(
        storms,
        'notice',
        'faults',
        ({ minor_faults }) => `faulted in ${whole(minor_faults)} pages a second`,
        ({ minor_faults }) =>
          expecting(this.knob, minor_faults * A_FAULT, 'a fault takes about a microsecond'),
      )),
    ];
  },
};
