/** Which record groups are a job's: by the job ids of the group's line, and by its marks. */

/** Stands for all jobs, and the time between them: what the hosts did, for whichever job. */
export const ALL_JOBS = '*';

const MARK = /^(begin|end) (\S+)$/;

/** The jobs that a group is of, each once: its line names them, or a mark says that they begin or end here. */
export function jobsOf(jobIds: readonly string[], marks: readonly string[]): Iterable<string> {
  if (jobIds.length <= 1 && marks.length === 0) return jobIds;
  return new Set([...jobIds, ...marks.flatMap((mark) => MARK.exec(mark)?.[2] ?? [])]);
}

/** What the marks of a group say of the job. Where both, it ends here. */
export function noteMark(job: string, marks: readonly string[]): 'begin' | 'end' | null {
  if (marks.includes(`end ${job}`)) return 'end';
  return marks.includes(`begin ${job}`) ? 'begin' : null;
}

/** Ids that stand for no job. */
export const isJob = (id: string): boolean => id !== '-' && id !== '0' && id !== '';
