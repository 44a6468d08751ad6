/** Shows a job. */
import type { JobListRow } from '../../../src/view/facts/jobs.ts';
import type { Page } from '../page.svelte.ts';
import type { ViewState } from '../state.ts';

/** Time shown before and after a job: in seconds, and as a fraction of the job. */
const LEAST_SLACK_SECONDS = 1;
const SLACK_SHARE = 0.01;

/** The state that shows a job and its surroundings. */
export function showJob(page: Page, { id, from, to }: JobListRow): Partial<ViewState> {
  const slack = Math.max(LEAST_SLACK_SECONDS, SLACK_SHARE * (to - from));
  return {
    view: 'nodes',
    more: { ...page.state.now.more, 'nodes.job': id },
    path: '',
    from: Math.max(page.extent?.[0] ?? from, from - slack),
    to: to + slack,
  };
}
