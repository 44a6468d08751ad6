/** What the page shows in a browser, view by view. */
import type { Page } from 'playwright-core';
import { settled } from '../web/support/browser.ts';
import { ACTIVITIES, counting, has, type Place, placed, rows } from './place.ts';
import { printed, type Seen } from './seen.ts';
import { sentences } from './sentences.ts';

const OUTLET = 'page';

/** Opens a view, once what it asks for is there; `more`: what else stands in the address. */
type Go = (view: string, more?: Readonly<Record<string, string>>) => Promise<void>;

/** The findings and the line of facts. */
async function overviewSays(place: Place, page: Page, go: Go): Promise<Seen[]> {
  const found: Seen[] = [];
  await go('overview');
  await page.waitForFunction(
    `!/Looking for what is slow/.test(document.querySelector('[data-findings]').textContent)`,
  );
  await settled(page);
  const events = page.locator('[data-figure="events"]');
  if (counting(place) !== undefined && (await events.getAttribute('data-state')) !== 'ready') {
    throw new Error('the page draws no events, by whatever time');
  }
  const more = page.locator('[data-findings] > button');
  if ((await more.count()) > 0) await more.click();
  found.push(...sentences(OUTLET, (await page.textContent('[data-findings]')) ?? ''));
  const facts = (await page.locator('[data-facts] > span').allTextContents()).map((t) => t.trim());
  const say = (measure: string, is: (text: string) => boolean, cut: RegExp) => {
    const text = facts.find(is);
    if (text !== undefined) found.push(printed(OUTLET, measure, '', text.replace(cut, '')));
  };
  const isUndone = (text: string) => text.endsWith('rolled back') && !text.startsWith('less');
  say('rolled back %', isUndone, /$/);
  say('committed /s', (text) => text.endsWith('net of rollbacks'), / events.*/);
  say('efficiency %', (text) => text.startsWith('efficiency'), /^efficiency /);
  const worst = /(PE \d+) undoes the most: ([\d.]+ %)/.exec((await page.textContent('body')) ?? '');
  if (worst !== null) found.push(printed(OUTLET, 'of the window', worst[1], worst[2]));
  return found;
}

/** What each PE spent its time on. */
async function timesSay(place: Place, page: Page, go: Go): Promise<Seen[]> {
  if (!has(place, 'ross_pe', 'events_processed_time', 'real_time')) return [];
  await go('simulation');
  const figure = page.locator('[data-figure="breakdown"]');
  // Clocks that stand still tell no times.
  if ((await figure.getAttribute('data-state')) !== 'ready') return [];
  await figure.locator('details.numbers > summary').click();
  await settled(page);
  const [{ heads, rows }] = await tables(page, '[data-figure="breakdown"] table');
  return rows.flatMap((cells) =>
    ACTIVITIES.flatMap(([key, , label]) => {
      const k = heads.findIndex((head) => head.includes(label));
      return k > 0 ? [printed(OUTLET, `${key} s`, cells[0], cells[k])] : [];
    }),
  );
}

interface Shown {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Tables as they stand there. */
const tables = (page: Page, selector: string): Promise<Shown[]> =>
  page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((table) => {
    const texts = (line) => [...line.querySelectorAll('th, td')].map((cell) =>
      (cell.querySelector('.value') ?? cell.querySelector('button') ?? cell).textContent
        .replace(/[\\s▾▴▨]+/g, ' ').trim());
    const [heads, ...rows] = [...table.querySelectorAll('tr')].map(texts);
    return { heads, rows };
  })`);

/** Heads of the page's table of regions, by measure. */
const REGION_HEADS: Readonly<Record<string, string>> = {
  'runtime s': 'runtime',
  'sync-runtime s': 'sync_runtime',
  visits: 'count',
  'package energy J': 'package_energy',
  'DRAM energy J': 'dram_energy',
  'power W': 'power',
  'frequency %': 'frequency_percent',
  'frequency Hz': 'frequency',
  'time hint network s': 'time_hint_network',
  'time hint compute s': 'time_hint_compute',
};
const TOTALS = [
  ['Unmarked', 'unmarked'],
  ['Epochs', 'epoch'],
  ['Application', 'application'],
] as const;

/** Regions and totals of each host, all columns. */
async function regionsSay(place: Place, page: Page, go: Go): Promise<Seen[]> {
  if (!has(place, 'geopm_region', 'section')) return [];
  await go('regions', { 'regions.columns': 'all' });
  const options: string[] = await page.evaluate(
    `[...(document.querySelector('[aria-labelledby="regions-table"] select')?.options ?? [])].map((one) => one.value)`,
  );
  const many = options.length > 0;
  const found: Seen[] = [];
  for (const host of many ? options.filter((one) => one !== 'across') : ['']) {
    if (many) await go('regions', { 'regions.columns': 'all', 'regions.host': host });
    const name = host === '' ? ((await hostsOf(place))[0] ?? '') : host;
    for (const { heads, rows } of await tables(
      page,
      'section[aria-labelledby="regions-table"] table',
    )) {
      for (const cells of rows) {
        const total =
          heads[0] === 'Total' ? TOTALS.find(([title]) => cells[0].startsWith(title)) : undefined;
        const entity = placed(total?.[1] ?? cells[0], name);
        for (const [k, head] of heads.entries()) {
          const measure = REGION_HEADS[head];
          if (measure === undefined || cells[k] === '–') continue;
          found.push(printed(OUTLET, measure, entity, cells[k]));
        }
      }
    }
  }
  return found;
}

const hostsOf = async (place: Place): Promise<string[]> =>
  (await rows(place, 'SELECT DISTINCT host FROM geopm_region')).map(({ host }) => String(host));

/** What CPUs of hosts did, as rates of their devices together. */
async function nodesSay(place: Place, page: Page, go: Go): Promise<Seen[]> {
  if (!has(place, 'node_cpu_rate', 'user', 'system', 'idle')) return [];
  await go('nodes', { 'nodes.job': '*', 'nodes.type': 'cpu', 'nodes.what': 'rate' });
  await page.waitForSelector('section[aria-labelledby="devices-title"] table');
  await settled(page);
  const rest = page.locator('section[aria-labelledby="devices-title"] button.rest');
  if ((await rest.count()) > 0) await rest.click();
  const [{ heads, rows }] = await tables(page, 'section[aria-labelledby="devices-title"] table');
  return rows
    .filter(([, device]) => device === 'all')
    .flatMap((cells) =>
      heads.flatMap((head, k) => {
        const [, state] = /^(\w+) cs\/s$/.exec(head) ?? [];
        if (state === undefined) return [];
        const one = printed(OUTLET, `${state} CPUs`, cells[0], cells[k]);
        // Hundredths of a second a second.
        return [
          { ...one, value: one.value === null ? null : one.value / 100, within: one.within / 100 },
        ];
      }),
    );
}

/** All views that show measures. */
export async function pageSays(place: Place, page: Page, url: string): Promise<Seen[]> {
  let isOpen = false;
  const go: Go = async (view, more = {}) => {
    const query = new URLSearchParams({ view, recording: place.id, ...more });
    if (isOpen) await page.evaluate(`location.hash = ${JSON.stringify(`#${query}`)}`);
    else await page.goto(`${url}#${query}`);
    isOpen = true;
    await page.waitForSelector(`main[data-view=${view}]`);
    await page.waitForSelector('main [data-findings], main figure, main table, main p');
    await settled(page);
  };
  return [
    ...(await overviewSays(place, page, go)),
    ...(await timesSay(place, page, go)),
    ...(await regionsSay(place, page, go)),
    ...(await nodesSay(place, page, go)),
  ];
}
