/** Opens the recording in the address, and follows it: a recording through the API, a live run through its frames. */
import type { RecordingEntry, Refused, ServedFacts } from '../../src/view/facts/served.ts';
import { Link } from './link.ts';
import { IGNORED, LiveSource } from './live.ts';
import type { Page } from './page.svelte.ts';
import { type SavedPage, SavedSource, savedPage } from './saved.ts';
import { ApiSource, fetchFacts, type PageSource } from './source.ts';

/**
 * Milliseconds between redraws of a live run, at least: the run may need the CPUs on which the page is drawn. Later the
 * same samples change less of the picture.
 */
const PERIOD_MS = { first: 500, later: 1000 } as const;
/** Seconds that a run has taken from which on it is later. */
const LATER_SECONDS = 5;
/** Times as long as a redraw takes until the next: however much there is to draw, most of a core stays free. */
const REST = 16;

/** Takes over what tables there are, and which time they span. */
async function look(page: Page): Promise<void> {
  const tables = (await page.source?.tables()) ?? [];
  const drawable = tables.filter(({ from, to }) => to > from);
  // What was asked for before the first look is as new as that.
  const isFirst = page.extent === null && page.tables.length === 0;
  page.tables = tables;
  if (drawable.length > 0) {
    // From the run's zero on: samplers start before it.
    const least = Math.min(...drawable.map(({ from }) => from));
    page.extent = [Math.max(0, least), Math.max(...drawable.map(({ to }) => to))];
  } else if (page.facts?.jobs?.span) page.extent = page.facts.jobs.span;
  if (!isFirst) page.tick++;
}

const period = ({ extent }: Page): number =>
  PERIOD_MS[extent !== null && extent[1] - extent[0] > LATER_SECONDS ? 'later' : 'first'];

/** Looks soon, and not again before that. */
function looker(page: Page): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  /** Milliseconds that the last redraw took, the frame that shows it included. */
  let took = 0;
  return () => {
    if (timer !== null) return;
    timer = setTimeout(
      () => {
        timer = null;
        const begun = performance.now();
        requestAnimationFrame(() =>
          setTimeout(() => {
            took = performance.now() - begun;
          }),
        );
        if (page.held) return;
        if (page.source instanceof LiveSource) {
          page.dropped = page.source.lost;
          // The same ones are no news to charts.
          page.marks = page.source.kept.marks;
        }
        // What cannot be read now is asked for again with the next change.
        look(page).catch(() => {});
      },
      Math.max(period(page), Math.min(REST * took, 2000)),
    );
  };
}

/** The request depends on the source: a run's own samples, or the files as they are now. */
function sourceFor(
  before: { readonly facts: ServedFacts; readonly source: PageSource } | null,
  facts: ServedFacts,
  recording: string,
): PageSource {
  if (facts.live) {
    const live = before?.source instanceof LiveSource ? before.source : new LiveSource(recording);
    live.about(facts.zero);
    return live;
  }
  const isSame = before?.source instanceof ApiSource && before.facts.revision === facts.revision;
  return isSame ? before.source : new ApiSource(recording);
}

/** A page that was saved as a file has all it shows in itself. */
function showSaved(page: Page, saved: SavedPage): void {
  page.saved = saved.at;
  page.wasLive = saved.wasLive;
  page.state.now = saved.state;
  page.tables = saved.tables;
  page.recordings = saved.recordings;
  page.clock = saved.clock;
  page.extent = saved.extent;
  page.kept = page.window;
  page.source = new SavedSource(saved);
  page.facts = saved.facts;
  document.title = `${saved.facts.title} – Triscope`;
}

/**
 * Call the result to end the connection.
 * @throws ApiError where there is nothing to show
 */
export async function open(page: Page): Promise<() => void> {
  const saved = savedPage();
  if (saved !== null) {
    showSaved(page, saved);
    return () => {};
  }
  const { recording } = page.state.now;
  const facts = await fetchFacts(recording);
  document.title = `${facts.title} – Triscope`;
  page.connection = 'connecting';
  page.clock = null;
  page.extent = null;
  page.found = [];
  page.marks = [];
  let shown = { facts, source: sourceFor(null, facts, recording) };
  const soon = looker(page);
  /** While a page is being saved it stays as it is. */
  const show = () => {
    if (page.held) return;
    page.source = shown.source;
    page.facts = shown.facts;
    // From now on the files contain them.
    if (!shown.facts.live) page.marks = [];
  };
  show();
  const known = async (source: PageSource) => {
    const recordings = source.json<readonly RecordingEntry[]>('recordings');
    const refused = source.json<readonly Refused[]>('refused');
    [page.recordings, page.refused] = await Promise.all([recordings, refused]);
  };
  await Promise.all([known(shown.source), look(page)]);
  // Users, who see their own jobs, may not follow; they load the page again.
  if (typeof facts.jobs?.user === 'string') {
    page.connection = 'none';
    return () => {};
  }
  const link = new Link(
    { recording, without: IGNORED },
    {
      facts: (now) => {
        // Sent with each connection: data that have not changed need not be requested again.
        const isNews = now.live || JSON.stringify(now) !== JSON.stringify(shown.facts);
        if (!isNews) return;
        shown = { facts: now, source: sourceFor(shown, now, recording) };
        show();
        soon();
      },
      message: (message) => {
        if (shown.source instanceof LiveSource && shown.source.take(message)) soon();
      },
      connected: (is) => {
        if (is && shown.source instanceof LiveSource) shown.source.restart();
        // A server that was started again may show more.
        if (is && page.connection === 'lost') known(shown.source).catch(() => {});
        page.connection = is ? 'open' : 'lost';
      },
      refused: () => {
        page.connection = 'refused';
      },
    },
  );
  return () => link.close();
}
