/** Opens what the address asks for: a recording by the server's API, or a run that is going on by its stream. */
import type { Facts } from '../../src/live/facts.ts';
import { LiveSource } from './live.ts';
import type { Page } from './page.svelte.ts';
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

function follow(page: Page): LiveSource {
  let timer: ReturnType<typeof setTimeout> | null = null;
  const soon = () => {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      page.dropped = source.lost;
      void look(page);
    }, PERIOD);
  };
  const source = new LiveSource({
    facts: (facts: Facts) => {
      page.facts = { id: '', revision: 0, ...page.facts, ...facts, live: true };
      soon();
    },
    samples: soon,
    connected: (is) => {
      page.connection = is ? 'open' : 'lost';
    },
  });
  return source;
}

/** @throws ApiError where there is nothing to show */
export async function open(page: Page): Promise<void> {
  const { recording } = page.state.now;
  const facts = await fetchFacts(recording);
  document.title = `${facts.title} – Triscope`;
  page.connection = facts.live ? 'connecting' : 'none';
  page.source = facts.live ? follow(page) : new ApiSource(recording);
  page.facts = facts;
  await look(page);
}
