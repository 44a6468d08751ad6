/** Which record groups belong to a job: from the job ids of the group's line, and from its marks. */

/** Stands for all jobs and the time between them: what the hosts did, whether for a job or not. */
export const ALL_JOBS = '*';

const MARK = /^(begin|end) (\S+)$/;

/** The jobs of a group, each once: those that its line names, and those that begin or end here by a mark. */
export function jobsOf(jobIds: readonly string[], marks: readonly string[]): Iterable<string> {
  if (jobIds.length <= 1 && marks.length === 0) return jobIds;
  return new Set([...jobIds, ...marks.flatMap((mark) => MARK.exec(mark)?.[2] ?? [])]);
}

/** What the marks of a group say about the job. If they say both, it ends here. */
export function noteMark(job: string, marks: readonly string[]): 'begin' | 'end' | null {
  if (marks.includes(`end ${job}`)) return 'end';
  return marks.includes(`begin ${job}`) ? 'begin' : null;
}

/** Whether an id stands for a job. */
export const isJob = (id: string): boolean => id !== '-' && id !== '0' && id !== '';
