/** Saves the page as one file: its code, its style, and the answers that its views needed. */
import { escapeText } from '../../src/model/markup.ts';
import { type Page, ZOOMED } from './page.svelte.ts';
import { download, textFile } from './parts/download.ts';
import { KeepingSource, SAVED_ID, type SavedPage } from './saved.ts';
import type { ViewState } from './state.ts';
import { VIEWS } from './views/list.ts';

/** Milliseconds without a request after which a view has all it needs, between looks, and to wait at most. */
const QUIET_MS = 250;
const LOOK_MS = 50;
const MOST_WAIT_MS = 15_000;

/** Nothing may be fetched by a saved page. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function quiet(source: KeepingSource): Promise<void> {
  const end = performance.now() + MOST_WAIT_MS;
  let asked = -1;
  let since = performance.now();
  while (performance.now() < end) {
    if (source.waiting > 0 || source.asked !== asked) {
      asked = source.asked;
      since = performance.now();
    } else if (performance.now() - since > QUIET_MS) return;
    await sleep(LOOK_MS);
  }
}

/** Characters that a script or style inside a page must not contain unescaped. */
const inline = (text: string, tag: string): string =>
  text.replaceAll(new RegExp(`</(?=${tag})`, 'gi'), '<\\/');

/** All code of the page in one file, made beside those that it was loaded from (vite.config.ts). */
const WHOLE = '/whole.js';

/** Code and style of the page. @throws Error where the server does not have them */
async function files(): Promise<{ code: string; style: string }> {
  const text = async (address: string) => {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address}: ${response.status}`);
    return response.text();
  };
  const sheets = [...document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')];
  const [code, ...styles] = await Promise.all([WHOLE, ...sheets.map(({ href }) => href)].map(text));
  return { code, style: styles.join('\n') };
}

/** Shows each view once, with everything else as in `fixed`, so that it requests its data. */
async function answersOf(
  page: Page,
  fixed: ViewState,
): Promise<Pick<SavedPage, 'answers' | 'fine'>> {
  const { source } = page;
  const before = page.state.now;
  const shown = page.view;
  if (source === null) return { answers: {}, fine: {} };
  const keeping = new KeepingSource(source);
  page.held = true;
  page.source = keeping;
  try {
    for (const { id } of VIEWS.filter((view) => view.available(page))) {
      // The address stays as it is.
      keeping.zooms = id === ZOOMED;
      page.state.now = { ...fixed, view: id, path: id === shown ? fixed.path : '' };
      await sleep(LOOK_MS);
      await quiet(keeping);
    }
  } finally {
    page.state.now = before;
    page.source = source;
    page.held = false;
  }
  return { answers: keeping.answers, fine: keeping.fine };
}

/** @throws Error where a part cannot be read */
export async function savePage(page: Page): Promise<void> {
  const { facts, clock, extent, tables } = page;
  if (facts === null) throw new Error('there is nothing to save yet');
  const { window } = page;
  // The window of a followed run moves on; here it is fixed.
  const isWhole = !page.brushed && !(page.live && page.following);
  const state =
    window === null || isWhole
      ? page.state.now
      : { ...page.state.now, from: window[0], to: window[1] };
  const { code, style } = await files();
  const at = new Date().toISOString().replace('T', ' ').slice(0, 19);
  const answers = await answersOf(page, state);
  const saved: SavedPage = {
    at: `${at} UTC`,
    facts: { ...facts, live: false },
    wasLive: facts.live,
    recordings: page.recordings,
    tables,
    extent,
    clock,
    state,
    ...answers,
  };
  const json = JSON.stringify(saved).replaceAll('<', '\\u003c');
  const title = escapeText(`${facts.title} – Triscope`);
  const html = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${title}</title><style>${inline(style, 'style')}</style></head>`,
    `<body><div id="app"></div><script type="application/json" id="${SAVED_ID}">${json}</script>`,
    `<script type="module">${inline(code, 'script')}</script></body></html>\n`,
  ].join('\n');
  download(`${facts.title}.html`, textFile(html, 'text/html'));
}
