/** Opens what the address asks for, and keeps up with it: a recording by the API, a run that goes on by its frames. */
import { Link } from './link.ts';
import { IGNORED, LiveSource } from './live.ts';
import type { Page, PageFacts } from './page.svelte.ts';
import { ApiSource, fetchFacts } from './source.ts';

/** Milliseconds between redraws of a live run. */
const PERIOD = 200;

/** Takes over what tables there are, and which time they span. */
async function look(page: Page): Promise<void> {
  const tables = (await page.source?.tables()) ?? [];
  const drawable = tables.filter(({ from, to }) => to > from);
  page.tables = tables;
  if (drawable.length > 0) {
    // From the run's zero on: samplers start before it.
    const least = Math.min(...drawable.map(({ from }) => from));
    page.extent = [Math.max(0, least), Math.max(...drawable.map(({ to }) => to))];
  }
  page.tick++;
}

/** Looks soon, and not again before that. */
function looker(page: Page): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  return () => {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      if (page.source instanceof LiveSource) page.dropped = page.source.lost;
      // What cannot be read now is asked for again with the next change.
      look(page).catch(() => {});
    }, PERIOD);
  };
}

/** What is asked depends on what is shown: a run's own samples, or files as they are by now. */
function take(page: Page, facts: PageFacts, recording: string): void {
  const before = page.facts;
  const { source } = page;
  if (facts.live) {
    const live = source instanceof LiveSource ? source : new LiveSource(recording);
    live.about(facts.zero);
    page.source = live;
  } else if (!(source instanceof ApiSource) || before?.revision !== facts.revision) {
    page.source = new ApiSource(recording);
  }
  page.facts = facts;
}

/**
 * Call the result to end the connection.
 * @throws ApiError where there is nothing to show
 */
export async function open(page: Page): Promise<() => void> {
  const { recording } = page.state.now;
  const facts = await fetchFacts(recording);
  document.title = `${facts.title} – Triscope`;
  page.connection = 'connecting';
  take(page, facts, recording);
  await look(page);
  const soon = looker(page);
  const link = new Link(
    { recording, without: IGNORED },
    {
      facts: (now) => {
        take(page, now, recording);
        soon();
      },
      message: (message) => {
        if (page.source instanceof LiveSource && page.source.take(message)) soon();
      },
      connected: (is) => {
        if (is && page.source instanceof LiveSource) page.source.restart();
        page.connection = is ? 'open' : 'lost';
      },
    },
  );
  return () => link.close();
}
