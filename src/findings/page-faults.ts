/** Threads that fault pages in without end: fresh memory again and again, or memory that has to be read from a device. */
import { asRows, type FindingRule, OWN, short, whole } from './finding.ts';
import { capital, ENOUGH, namesOf, THREADS, threadsOf } from './threads.ts';

const MINOR = {
  value: 50_000,
  unit: 'faults/s',
  means: 'without I/O, over a thread’s time: notice',
  source: `${OWN}: each takes about a microsecond, so these about 5 %`,
};
const MAJOR = {
  value: 50,
  unit: 'faults/s',
  means: 'that read a device: problem',
  source: `${OWN}: each takes 0.1 to 10 ms`,
};

export const PAGE_FAULTS: FindingRule = {
  name: 'page-faults',
  title: 'storms of page faults',
  looks: 'Counts the page faults of each thread, without I/O and with.',
  needs: ['rank_on_node'],
  thresholds: { MINOR, MAJOR, ENOUGH },
  knob: 'Keep buffers instead of freeing them (MALLOC_TRIM_THRESHOLD_, M_MMAP_THRESHOLD), use huge pages; with faults that read a device, use less memory than there is.',
  async run(subject) {
    const all = await threadsOf(subject);
    const severe = all
      .filter((one) => one.major_faults >= MAJOR.value)
      .sort((a, b) => b.major_faults - a.major_faults);
    const storms = all
      .filter((one) => one.minor_faults >= MINOR.value && !severe.includes(one))
      .sort((a, b) => b.minor_faults - a.minor_faults);
    const told = (some: typeof all, severity: 'problem' | 'notice', what: string) =>
      some.length === 0
        ? []
        : [
            {
              severity,
              sentence: `${capital(namesOf(some))} ${what}.`,
              evidence: { sql: THREADS, rows: asRows(some) },
              advice: this.knob,
            },
          ];
    return [
      ...told(
        severe,
        'problem',
        `waited for ${short(severe[0]?.major_faults ?? 0)} pages a second that had to be read from a device`,
      ),
      ...told(storms, 'notice', `faulted in ${whole(storms[0]?.minor_faults ?? 0)} pages a second`),
    ];
  },
};
