/** The page's frame: the state in the address, keys, axes, search, themes, exports, saved pages, two recordings. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareRecordings } from '../../src/report/index.ts';
import { peRow, recording } from '../live/support/samples.ts';
import { TOKEN } from '../live/support/token.ts';
import {
  barriers,
  executable,
  exported,
  isSamePicture,
  reads,
  settled,
  still,
  Web,
} from './support/browser.ts';

/** PE 1 undoes half of what it handles; GVT goes three times as fast in the second half. */
const slow = (k: number, pe: number) => ({
  ...peRow(k, pe),
  gvt: k < 5 ? k : 5 + 3 * (k - 5),
  events_rolled_back: pe === 0 ? 0 : 250,
});

describe.skipIf(executable === undefined)('the frame (needs chromium: npm run setup)', () => {
  let web: Web;
  let server: LiveServer;
  let origin: string;
  let paths: string[];
  beforeAll(async () => {
    web = await Web.start();
    const noted = recording('slow', slow);
    writeFileSync(
      join(noted, 'notes.json'),
      JSON.stringify([
        { time: 0.3, text: '<b>disk</b> full' },
        { time: 0.5, until: 0.6, text: 'backup' },
      ]),
    );
    paths = [noted, recording('fast')];
    server = await startServer({ recordings: paths });
    origin = new URL(server.url).origin;
  });
  afterAll(async () => {
    await web?.close();
    await server?.close();
  });

  const open = (hash = '', options = {}) => web.open(`${origin}/?token=${TOKEN}#${hash}`, options);
  const hashOf = (page: Page) => page.evaluate('location.hash') as Promise<string>;

  it('keeps its whole state in the address: a link shows the same pixels', async () => {
    const { page, complaints } = await open('view=overview');
    await page.getByRole('button', { name: 'Virtual time' }).click();
    // A window whose ends are round in virtual time, not in seconds.
    await expect
      .poll(() => page.getAttribute('[data-minimap]', 'aria-valuetext'))
      .toMatch(/ to 17/);
    await page.keyboard.press('w');
    await page.getByRole('button', { name: 'PE 1', exact: true }).click();
    await page.locator('select', { hasText: 'Dark theme' }).selectOption('dark');
    const hash = await hashOf(page);
    expect(Object.fromEntries(new URLSearchParams(hash.slice(1)))).toMatchObject({
      axis: 'virtual',
      pe: '1',
      theme: 'dark',
    });
    await page.evaluate('document.activeElement.blur()');
    await page.mouse.move(0, 0);
    await reads(page, '[data-findings]', 'rolled back');
    await settled(page);
    const shown = () => page.getAttribute('[data-chart=undone]', 'data-shown');
    const before = { shown: await shown(), picture: await still(page) };
    await page.reload();
    await reads(page, '[data-findings]', 'rolled back');
    await settled(page);
    // The same numbers to the last digit, as one pixel may hang on it.
    expect(await shown()).toBe(before.shown);
    await expect
      .poll(async () => isSamePicture(page, await page.screenshot(), before.picture))
      .toBe(true);
    // “Back” undoes what was done last, the zoom too.
    for (const step of ['pe', 'from', 'axis']) {
      expect(await hashOf(page)).toContain(`${step}=`);
      await page.goBack();
      await expect.poll(() => hashOf(page)).not.toContain(`${step}=`);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('has one brush for all three time axes', async () => {
    const { page } = await open('from=50&to=60');
    // A link may lead beside the run.
    await reads(page, 'main [role=status]', 'outside of this recording');
    await page.getByRole('button', { name: 'Show the whole run' }).click();
    await expect.poll(() => page.locator('main [role=status]').count()).toBe(0);
    await page.evaluate("location.hash = 'from=0.5&to=1&axis=virtual'");
    const valueText = () => page.getAttribute('[data-minimap]', 'aria-valuetext');
    // 0.5 s: sample 4, GVT 4; the end at 1 s: 5 + 3 · 4.
    await expect.poll(valueText).toMatch(/^4\.0+ to 17\.0+$/);
    await page.getByRole('button', { name: 'GVT index' }).click();
    await expect.poll(valueText).toMatch(/^4(\.0+)? to 9(\.0+)?$/);
    await page.getByRole('button', { name: 'Real time' }).click();
    await expect.poll(valueText).toMatch(/^0\.50* s to 1\.0+ s$/);
    expect(await hashOf(page)).toContain('from=0.5&to=1');
    await page.close();
  });

  it.each([
    ['overview', 'undone'],
    ['simulation', 'heat'],
  ])('repaints the %s with the brush, before the server has answered', async (view, chart) => {
    const { page, complaints } = await open(`view=${view}`);
    const picture = page.locator(`[data-chart=${chart}]`);
    await picture.waitFor();
    await settled(page);
    let answer = () => {};
    const held = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route(/\/api\/(series|heatmap)/, async (route) => {
      await held;
      await route.continue();
    });
    const before = await picture.screenshot();
    await page.keyboard.press('+');
    await expect.poll(() => picture.getAttribute('data-shown')).toBe('0.25 0.75');
    // Its times are others, too.
    if (chart === 'undone') expect((await picture.screenshot()).equals(before)).toBe(false);
    expect(await page.getAttribute('main', 'aria-busy')).toBe('true');
    answer();
    await settled(page);
    expect(await picture.getAttribute('data-shown')).toBe('0.25 0.75');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('leads from a finding to its evidence, and back', async () => {
    const { page } = await open('', { height: 300 });
    await reads(page, '[data-findings]', 'rolled back');
    const finding = page.locator('[data-finding=efficiency]');
    expect(await finding.textContent()).toContain('PE 1');
    await finding.getByRole('button', { name: 'Show PE 1' }).click();
    await expect.poll(() => hashOf(page)).toContain('view=simulation');
    expect(await hashOf(page)).toContain('pe=1');
    // It is in sight, below the head that stays.
    const top = () =>
      page.evaluate(
        "document.getElementById('figure-heat')?.getBoundingClientRect().top ?? 9999",
      ) as Promise<number>;
    await expect.poll(top).toBeLessThan(250);
    await page.goBack();
    await expect.poll(() => hashOf(page)).toBe('');
    expect(await page.getAttribute('main', 'data-view')).toBe('overview');
    await page.close();
  });

  it('has notes as flags in charts, and as a list that leads to them by keys', async () => {
    const { page, complaints } = await open();
    const flags = page.locator('[data-chart=events] + .marks [data-flag=note]');
    await expect
      .poll(() => flags.evaluateAll((all) => all.map((one) => one.getAttribute('title'))))
      .toEqual(['<b>disk</b> full', 'backup']);
    // Its text is text, and the pointer reaches it.
    await flags.first().hover();
    const list = page.locator('[data-flags]');
    await list.locator('summary').focus();
    for (const key of ['Enter', 'Tab', 'Tab', 'Enter']) await page.keyboard.press(key);
    expect(await list.textContent()).toMatch(/2 notes.*<b>disk<\/b> full.* to .*backup/s);
    const window = () =>
      page.evaluate(
        "[...new URLSearchParams(location.hash.slice(1))].filter(([name]) => ['from', 'to'].includes(name)).map(([, value]) => Number(value))",
      ) as Promise<number[]>;
    await expect.poll(window).toHaveLength(2);
    const [from, to] = await window();
    expect([from < 0.5 && from > 0.3, to > 0.6 && to < 0.8]).toEqual([true, true]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('is used with keys only', async () => {
    const { page, complaints } = await open();
    await settled(page);
    const text = () => page.getAttribute('[data-minimap]', 'aria-valuetext');
    const whole = await text();
    await page.keyboard.press('+');
    await expect.poll(text).not.toBe(whole);
    const zoomed = await text();
    await page.keyboard.press('d');
    await expect.poll(text).not.toBe(zoomed);
    await page.keyboard.press('0');
    await expect.poll(text).toBe(whole);
    await page.keyboard.press('3');
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('lane-nodes-section');
    await page.keyboard.press('Shift+C');
    await expect.poll(() => hashOf(page)).toContain('view=compare');
    await page.keyboard.press('?');
    expect(await page.getByRole('dialog').textContent()).toContain('zoom in');
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await page.keyboard.press('/');
    await page.keyboard.type('simulation');
    await expect.poll(() => page.locator('[role=option]').count()).toBeGreaterThan(0);
    await page.keyboard.press('Enter');
    await expect.poll(() => hashOf(page)).toContain('view=simulation');
    // What has the focus is seen.
    await page.keyboard.press('Shift+O');
    await page.evaluate('document.activeElement.blur()');
    const reached = new Set<string>();
    // Once around, wherever it begins.
    for (let k = 0; k < 60; k++) {
      await page.keyboard.press('Tab');
      const [name, outline] = (await page.evaluate(`(() => {
        const one = document.activeElement;
        // After the last comes the browser's own.
        if (one === document.body) return ['', ''];
        return [one.getAttribute('aria-label') ?? one.textContent.trim(), getComputedStyle(one).outlineStyle];
      })()`)) as [string, string];
      reached.add(name);
      expect(outline, name).not.toBe('none');
    }
    for (const name of ['Search', 'Copy link', 'Save page', 'GVT index', 'Compare']) {
      expect([...reached]).toContain(name);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('finds a PE; opens the statement of a finding, and answers another; shows another recording', async () => {
    const { page } = await open();
    await page.getByRole('button', { name: 'Search' }).click();
    await page.keyboard.type('pe 1');
    await page.locator('[role=option]', { hasText: /^\s*pe\s+PE 1\s*$/ }).click();
    await expect.poll(() => hashOf(page)).toContain('pe=1');
    await reads(page, '[data-findings]', 'rolled back');
    await page.locator('[data-finding=efficiency] summary').click();
    await page.getByRole('button', { name: 'Open as SQL' }).click();
    await reads(page, '#says-result', 'row');
    await reads(page, '.tables', 'ross_pe');
    const statement = page.locator('textarea');
    expect(await statement.inputValue()).toContain('ross_pe');
    await statement.fill(
      'SELECT pe_id AS n, 6 * 7 + pe_id AS answer FROM ross_pe GROUP BY 1 ORDER BY 1',
    );
    await statement.press('Control+Enter');
    await reads(page, '#says-result', '2 rows');
    const cells = page.locator('table', { hasText: 'Result of the statement' }).locator('tbody td');
    await expect.poll(() => cells.allInnerTexts()).toEqual(['42', '43']);
    expect(await hashOf(page)).toContain('sql.text=');
    await page.getByRole('button', { name: 'Chart', exact: true }).click();
    await page.waitForSelector('[data-chart=result] svg text');
    await statement.fill('DROP TABLE ross_pe');
    await statement.press('Control+Enter');
    await expect.poll(() => page.locator('main [role=alert]').count()).toBe(1);
    await page.getByLabel('Recording').selectOption({ label: 'fast' });
    await reads(page, 'h1', 'fast');
    expect(await hashOf(page)).toContain('recording=fast');
    await page.close();
  });

  it('hands out what it shows as PNG, SVG and CSV', async () => {
    const { page } = await open();
    const png = await exported(page, 'events', 'PNG');
    expect(png.name).toBe('slow-events.png');
    expect(png.bytes.subarray(1, 4).toString()).toBe('PNG');
    expect(png.bytes.readUInt32BE(16)).toBeGreaterThan(800);
    const svg = String((await exported(page, 'events', 'SVG')).bytes);
    expect(svg).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    expect(svg.match(/<path d="M[^"]*" fill="none"/g)).toHaveLength(2);
    const lines = String((await exported(page, 'events', 'CSV')).bytes)
      .trimEnd()
      .split('\r\n');
    expect(lines[0]).toBe('from (s),to (s),PE 0,PE 1');
    // A row per bin; 10,000 and 5,000 events a second all the time.
    expect(lines).toHaveLength(501);
    expect(lines.slice(1).filter((line) => /,10000,5000$/.test(line)).length).toBeGreaterThan(490);
    await page.close();
  });

  it('loads the code of a view when the view is opened, and says if that fails', async () => {
    const { page } = await open();
    const scripts: string[] = [];
    page.on('request', (request) => scripts.push(new URL(request.url()).pathname));
    await page.route('**/assets/Sql-*', (route) => route.abort());
    await page.getByRole('button', { name: 'SQL', exact: true }).click();
    await reads(page, 'main [role=alert]', 'could not be loaded');
    await page.getByRole('button', { name: 'Timeline', exact: true }).click();
    await page.waitForSelector('main canvas');
    expect(scripts.filter((path) => path.endsWith('.js')).join(' ')).toMatch(/Sql-\S+ .*Timeline-/);
    await page.close();
  });

  it('saves itself as one file that needs no server and no network', async () => {
    const { page } = await open('from=0.2&to=0.8&metric=ross_pe.events_rolled_back');
    await reads(page, '[data-findings]', 'rolled back');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save page' }).click(),
    ]);
    const path = join(mkdtempSync(join(tmpdir(), 'triscope-saved-')), 'saved.html');
    await file.saveAs(path);
    expect(readFileSync(path, 'utf8')).not.toMatch(/<(script|link)[^>]* (src|href)=/);
    const sentence = await page.textContent('#says-events');
    const saved = await web.open(`file://${path}`);
    expect(await saved.page.textContent('#says-events')).toBe(sentence);
    expect(await saved.page.textContent('[role=status]')).toContain('saved');
    expect(await saved.page.textContent('[data-flags]')).toContain('<b>disk</b> full');
    await reads(saved.page, '[data-findings]', 'rolled back');
    await saved.page.getByRole('button', { name: 'Simulation' }).click();
    await saved.page.waitForSelector('main [data-figure] canvas');
    // A comparison can be zoomed into: there it shows what the server shows.
    await saved.page.getByRole('button', { name: 'Compare' }).click();
    await reads(saved.page, '#says-difference', 'differs most');
    await saved.page.keyboard.press('w');
    await expect.poll(() => hashOf(saved.page)).toMatch(/from=0\.35&to=0\.65/);
    await page.evaluate(
      "location.hash = 'view=compare&from=0.35&to=0.65&metric=ross_pe.events_rolled_back'",
    );
    for (const says of ['#says-overlay', '#says-difference']) {
      const served = () => page.textContent(says);
      await expect
        .poll(async () => (await saved.page.textContent(says)) === (await served()))
        .toBe(true);
    }
    await saved.page.keyboard.press('0');
    await expect.poll(() => hashOf(saved.page)).toMatch(/from=0\.2&to=0\.8/);
    expect(saved.complaints).toEqual([]);
    await saved.page.close();
    await page.close();
  });

  it('compares two recordings', async () => {
    const { page, complaints } = await open('view=compare&metric=ross_pe.events_rolled_back', {
      until: '[data-figure=difference] canvas',
    });
    // Of PE 1, 250 of 500 were undone in A, 50 in B: 2,000 a second less.
    await reads(page, '#says-difference', 'PE 1');
    expect(await page.textContent('#says-difference')).toContain('−2.00 k events/s');
    await reads(page, '[data-changes]', 'changed by more than chance');
    // Why, before any number: as `diff` says it.
    const { explanation } = await compareRecordings(paths[0], paths[1]);
    expect(explanation?.causes.length).toBeGreaterThan(2);
    await reads(page, '[data-why]', explanation?.sentence ?? '');
    expect(await page.locator('[data-why] tr').allTextContents()).toContainEqual(
      expect.stringMatching(/^\s*in all/),
    );
    const csv = String((await exported(page, 'difference', 'CSV')).bytes)
      .trimEnd()
      .split('\r\n');
    expect(csv).toHaveLength(241);
    expect(csv[1].split(',').slice(2)).toEqual(['0', '-2000']);
    // Both as lines: 250 and 50 undone in a tenth of a second; matched by virtual time, too.
    const drawn = async () =>
      String((await exported(page, 'overlay', 'CSV')).bytes)
        .split('\r\n')
        .map((line) => line.split(',').slice(2));
    expect((await drawn()).slice(0, 2)).toEqual([
      ['A', 'B'],
      ['2500', '500'],
    ]);
    await page.getByLabel('Matched by').selectOption('virtual');
    await reads(page, '#says-overlay', 'matched by virtual time');
    // B's GVT 9 is its last: A's second half goes beyond it.
    await expect.poll(async () => (await drawn())[240]).toEqual(['2500', '']);
    expect(await barriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('compares repeated runs of both sides, as diff does', async () => {
    const again = recording('again');
    const own = await startServer({ recordings: [...paths, again] });
    const there = `${new URL(own.url).origin}/?token=${TOKEN}#view=compare`;
    const { page, complaints } = await web.open(there, { until: '[data-figure=overlay] canvas' });
    await page.getByText('Repeated runs: 1 run of A, 1 of B').click();
    await page.locator('.sides label', { hasText: 'again' }).locator('select').selectOption('b');
    await reads(page, 'main', 'Repeated runs: 1 run of A, 2 of B');
    await reads(page, '#says-overlay', 'in B 2');
    const { explanation } = await compareRecordings([paths[0]], [paths[1], again]);
    await reads(page, '[data-why]', explanation?.sentence ?? '');
    expect(await hashOf(page)).toMatch(/compare=\w+,again/);
    expect(await barriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
    await own.close();
  });

  it.each([
    ['light', 1280, 720],
    ['dark', 390, 800],
  ] as const)('fits and is readable for all: %s, %i wide', async (scheme, width, height) => {
    const { page, complaints } = await open('', { scheme, width, height });
    for (const view of await page.locator('nav button').allTextContents()) {
      await page.getByRole('button', { name: view, exact: true }).click();
      await settled(page);
      const wide = (await page.evaluate('document.documentElement.scrollWidth')) as number;
      expect(wide, view).toBeLessThanOrEqual(width);
      expect(await barriers(page), view).toEqual([]);
    }
    expect(complaints).toEqual([]);
    await page.close();
  });
});
