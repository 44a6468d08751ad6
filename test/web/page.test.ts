/** The page in a real browser: lines are drawn, for a recording and for a run that is going on. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { LiveBus, type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { duration } from '../../src/model/measures/index.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { batch, HOST, peBatch, peRow, recording } from '../live/support/samples.ts';
import { executable, reads, settled, tableOf, Web } from './support/browser.ts';

/** In the page: pixels of each chart that are neither the ground nor a grid line. */
const COLOURED = `Object.fromEntries([...document.querySelectorAll('[data-chart]')].map((chart) => {
  const canvas = chart.querySelector('canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let k = 0; k < data.length; k += 4) {
    const [r, g, b, a] = data.subarray(k, k + 4);
    if (a > 128 && Math.max(r, g, b) - Math.min(r, g, b) > 40) count++;
  }
  return [chart.dataset.chart, count];
}))`;
const coloured = (page: Page) => page.evaluate(COLOURED) as Promise<Record<string, number>>;

describe.skipIf(executable === undefined)('the page (needs chromium: npm run setup)', () => {
  let web: Web;
  let server: LiveServer;
  beforeAll(async () => {
    web = await Web.start();
    // One of the two is none.
    const none = join(mkdtempSync(join(tmpdir(), 'triscope-none-')), 'notes.txt');
    writeFileSync(none, 'nothing that can be shown\n');
    server = await startServer({ recordings: [recording(), none] });
  });
  afterAll(async () => {
    await web?.close();
    await server?.close();
  });

  it('takes the token out of its address, and needs it no more', async () => {
    const { page, complaints } = await web.open(`${server.url}#view=overview`);
    expect(server.url).toContain('token=');
    expect(page.url()).not.toContain('token');
    expect(page.url()).toContain('#view=overview');
    await page.reload();
    await page.waitForSelector('[data-chart] canvas');
    // No script gets hold of it.
    expect(await page.evaluate('document.cookie')).toBe('');
    expect(complaints).toEqual([]);
    const { origin } = new URL(server.url);
    const stranger = await (await web.context()).newPage();
    expect((await stranger.goto(origin))?.status()).toBe(401);
    await stranger.close();
    await page.close();
  });

  it('shows a recording: facts, lines, sentences, tables', async () => {
    const { page, complaints } = await web.open(server.url);
    await expect.poll(() => page.locator('canvas').count()).toBe(6);
    const drawn = await coloured(page);
    expect(Object.keys(drawn)).toEqual(['events', 'undone', 'heat', 'phases', 'cpus']);
    for (const count of Object.values(drawn)) expect(count).toBeGreaterThan(500);
    await page.locator('[data-refused] summary').click();
    expect(await page.textContent('[data-refused] p')).toContain('notes.txt');
    const facts = await page.textContent('[data-facts]');
    expect(facts).toContain('2 PEs');
    expect(facts).toContain(`1 host (${HOST})`);
    expect(facts).toContain('2 CPUs');
    // 15,000 events a second are handled, 500 of them undone.
    expect(facts).toContain('14.5 k events/s');
    expect(facts).toContain('3.3 % rolled back');
    await reads(
      page,
      '#says-events',
      'PE 0 is the fastest with 10.0 k events a second, 2.00 times PE 1',
    );
    await reads(page, '#says-undone', 'PE 1 undoes the most: 10 %');
    await reads(page, '#says-cpus', '2 CPUs are 75 % busy');
    expect(await tableOf(page, 'events')).toEqual([
      ['PE 0', '10.0 k/s', '10.0 k/s', '10.0 k/s'],
      ['PE 1', '5.00 k/s', '5.00 k/s', '5.00 k/s'],
    ]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('asks for everything once: when it opens, and when the window changes', async () => {
    const { page } = await web.open(`${server.url}#view=overview`);
    await settled(page);
    const asked: string[] = [];
    page.on('request', (request) => {
      // What the page before the reload still asked for is not counted.
      if (request.isNavigationRequest()) asked.length = 0;
      const { pathname, search } = new URL(request.url());
      if (pathname.startsWith('/api/')) asked.push(pathname + search);
    });
    await page.reload();
    await expect.poll(() => page.locator('canvas').count()).toBe(6);
    await page.waitForLoadState('networkidle');
    const seen = asked.splice(0);
    expect(seen.length).toBeGreaterThan(4);
    expect(seen.filter((one, at) => seen.indexOf(one) !== at)).toEqual([]);
    await page.evaluate("location.hash = 'view=overview&from=0.25&to=0.5'");
    await expect
      .poll(() => asked.filter((one) => one.includes('from=0.25')).length)
      .toBeGreaterThan(0);
    await page.waitForLoadState('networkidle');
    expect(asked.filter((one, at) => asked.indexOf(one) !== at)).toEqual([]);
    await page.close();
  });

  it('looks at one PE and its CPU, and zooms all charts by one brush', async () => {
    const { page, complaints } = await web.open(server.url);
    await page.getByRole('button', { name: 'PE 0', exact: true }).click();
    await reads(page, '#says-cpus', `CPU ${HOST}/0 is 50 %`);
    const whole = page.getByRole('button', { name: 'Whole run' });
    expect(await whole.isDisabled()).toBe(true);
    const box = await page.locator('[data-chart=events] .u-over').boundingBox();
    if (box === null) throw new Error('no chart');
    await page.mouse.move(box.x + 0.25 * box.width, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.5 * box.width, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => whole.isDisabled()).toBe(false);
    const shown = async () =>
      (await page.getAttribute('[data-chart=events]', 'data-shown'))?.split(' ').map(Number) ?? [];
    await expect.poll(async () => (await shown())[1]).toBeLessThan(0.6);
    const [from, to] = await shown();
    // Now dragging moves the window, and the wheel zooms at the pointer.
    await page.mouse.down();
    await page.mouse.move(box.x + 0.25 * box.width, box.y + 20, { steps: 4 });
    await page.mouse.up();
    const quarter = (to - from) / 4;
    await expect.poll(async () => (await shown())[0]).toBeCloseTo(from + quarter, 2);
    await page.mouse.wheel(0, -400);
    await expect.poll(async () => (await shown())[1]).toBeLessThan(to);
    const [begin, end] = await shown();
    const under = (a: number, b: number) => a + 0.25 * (b - a);
    expect(under(begin, end)).toBeCloseTo(under(from + quarter, to + quarter), 2);
    expect(await page.locator('.time').first().textContent()).toMatch(/^0\.\d+ s$/);
    await page.keyboard.down('Shift');
    await page.mouse.down();
    await page.mouse.move(box.x + 0.75 * box.width, box.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    // Half of what is seen; 10,000 and 5,000 events a second all the time.
    await reads(page, '#says-selection', duration((end - begin) / 2).slice(0, 2));
    const numbers = page.locator('[data-selection] tbody tr');
    // All that was measured: of the run, its PEs and its machine; as a file, too.
    await page.getByRole('button', { name: /Show all \d+ rows/ }).click();
    await expect.poll(() => numbers.count()).toBeGreaterThan(20);
    const measured = await numbers.locator('th').allInnerTexts();
    expect(measured).toEqual(
      expect.arrayContaining(['ross_pe.events_rolled_back', 'node_cpu.user']),
    );
    await page.getByLabel('Rows').fill('pe.events_rolled 1');
    await expect.poll(() => numbers.count()).toBe(1);
    expect(await numbers.first().locator('td').allInnerTexts()).toEqual(
      expect.arrayContaining(['1', '500', 'event/s', '100.0']),
    );
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('[data-selection]').getByRole('button', { name: 'CSV' }).click(),
    ]);
    const lines = readFileSync(await file.path(), 'utf8').split('\r\n');
    expect(lines[0]).toBe('metric,of,mean,unit,total,share (%),least,10 %,median,90 %,most');
    expect(lines[1]).toMatch(
      /^ross_pe\.events_rolled_back,1,(500|499\.99\d*|500\.00\d*),event\/s,\d+(\.\d+)?,100,/,
    );
    await page.getByLabel('Metric').selectOption('ross_pe.events_processed');
    await expect.poll(() => numbers.count()).toBe(2);
    expect(await numbers.first().locator('td').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringContaining('10.0 k'), expect.stringContaining('66.7')]),
    );
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => numbers.count()).toBe(0);
    await page.locator('[data-chart=cpus] .u-over').dblclick();
    await expect.poll(() => whole.isDisabled()).toBe(true);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('follows a live run, holds it, and says when it has ended', async () => {
    const bus = new LiveBus({ title: 'a run', pes: [] });
    const live = await startServer({ bus });
    for (let k = 0; k < 5; k++) bus.publish(peBatch(k));
    const { page, complaints } = await web.open(live.url);
    await page.evaluate(`globalThis.shifted = 0;
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shifted += value;
      }).observe({ type: 'layout-shift', buffered: true }); 0`);
    expect(await page.textContent('.state')).toBe('live');
    const sentence = () => page.textContent('#says-events');
    expect(await sentence()).toContain('10.0 k events a second');
    for (let k = 5; k < 10; k++) {
      const row = { ...peRow(k, 0), events_processed: 9000 };
      bus.publish(batch(ROSS_PE, [row, peRow(k, 1)]));
    }
    await reads(page, '#says-events', '50.0 k');
    expect((await coloured(page)).events).toBeGreaterThan(500);
    await page.getByRole('button', { name: 'Pause' }).click();
    expect(await page.textContent('.state')).toBe('paused');
    for (let k = 10; k < 20; k++) bus.publish(peBatch(k));
    await page.waitForTimeout(500);
    expect(await sentence()).toContain('50.0 k');
    await page.getByRole('button', { name: 'Follow' }).click();
    await reads(page, '#says-events', '30.0 k');
    bus.update({ state: 'finished' });
    await reads(page, '.state', 'finished');
    // Nothing that is read moves away, from the first paint on.
    expect(await page.evaluate('shifted')).toBeLessThanOrEqual(0.05);
    expect(complaints).toEqual([]);
    await page.close();
    await live.close();
  });
});
