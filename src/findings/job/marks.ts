/** Which record groups are a job's: by the job ids of the group's line, and by its marks. */

/** Stands for all jobs, and the time between them: what the hosts did, whosoever job it was. */
export const ALL_JOBS = '*';

/** Whether a group is of the job: its line names it, or a mark says that it begins or ends here. */
export function ofJob(job: string, jobIds: readonly string[], marks: readonly string[]): boolean {
  return job === ALL_JOBS || jobIds.includes(job) || noteMark(job, marks) !== null;
}

/** What the marks of a group say of the job. Where both, it ends here. */
export function noteMark(job: string, marks: readonly string[]): 'begin' | 'end' | null {
  if (marks.includes(`end ${job}`)) return 'end';
  return marks.includes(`begin ${job}`) ? 'begin' : null;
}

/** Ids that stand for no job. */
export const isJob = (id: string): boolean => id !== '-' && id !== '0' && id !== '';
