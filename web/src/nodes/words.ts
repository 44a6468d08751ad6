/** Times, shares and marks of jobs as text. Pure. */
import type { JobListRow, JobPageFacts } from '../../../src/view/facts/jobs.ts';
import { counted, duration } from '../figures.ts';

export { duration };

/** Seconds since 1970 as `2013-10-01 21:31:10`, UTC. */
export const moment = (seconds: number): string =>
  new Date(Math.floor(seconds) * 1000).toISOString().slice(0, 19).replace('T', ' ');

/** `*` is not a valid id. */
export const jobTitle = (id: string): string =>
  id === '*' ? 'Everything that the hosts did' : `Job ${id}`;

/** Marks that hosts lack; '' if none is missing. */
export function lacking({ no_begin, no_end }: Pick<JobListRow, 'no_begin' | 'no_end'>): string {
  return [
    ...(no_begin > 0 ? [`${no_begin} begin`] : []),
    ...(no_end > 0 ? [`${no_end} end`] : []),
  ].join(', ');
}

/** One line: who, where, when, how long. */
export function factLine(job: JobPageFacts): readonly string[] {
  const { accounting: told, from, to, seconds, hosts } = job;
  const facts: string[] = [];
  if (told !== null) {
    for (const [label, value] of [
      ['user', told.user],
      ['account', told.account],
      ['queue', told.queue],
      ['name', told.name],
      ['state', told.state],
    ] as const) {
      if (value !== '') facts.push(`${label} ${value}`);
    }
    if (told.submitted !== null && told.started !== null) {
      facts.push(`waited ${duration(told.started - told.submitted)}`);
    }
    if (told.cores !== null) facts.push(counted(told.cores, 'core'));
  }
  facts.push(counted(hosts.length, 'host'));
  if (seconds !== null) {
    facts.push(duration(seconds));
    if (hosts.length > 0)
      facts.push(`${((hosts.length * seconds) / 3600).toPrecision(3)} node-hours`);
  }
  if (from !== null && to !== null) {
    facts.push(
      `${from.slice(0, 19).replace('T', ' ')} to ${to.slice(from.slice(0, 10) === to.slice(0, 10) ? 11 : 0, 19).replace('T', ' ')} UTC`,
    );
  }
  return facts;
}
