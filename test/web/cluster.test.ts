/** The first page of an archive in a real browser: what hosts did day by day, whose jobs, and the way down to a second. */
import type { Page } from 'playwright-core';
import { type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HostDaysFacts } from '../../src/view/facts/jobs.ts';
import { hostDays, ordered, utilisationOf, valuesOf } from '../../web/src/cluster/days.ts';
import { json } from '../live/support/ask.ts';
import { twoDays } from '../live/support/two-days.ts';
import {
  barriers,
  executable,
  exported,
  type OpenOptions,
  type OpenPage,
  reads,
  settled,
  Web,
} from './support/browser.ts';

let server: LiveServer;
beforeAll(async () => {
  server = await startServer({ recording: await twoDays() });
});
afterAll(() => server?.close());

describe('hosts by days', () => {
  it('are of all days and hosts; a day is as long as its records, a host as busy as one job or several', async () => {
    const facts = (await json(server.port, '/api/jobs/hosts')) as HostDaysFacts;
    const some = (await json(server.port, '/api/jobs/hosts?user=eve')) as HostDaysFacts;
    const found = hostDays(facts);
    if (found === null) throw new Error('no days');
    // The second day ends with the last job, after 16 hours.
    expect([found.days, found.lengths]).toEqual([
      ['2026-03-01', '2026-03-02'],
      [86_400, 57_600],
    ]);
    expect(found.to - found.from).toBe(2 * 86_400);
    const hours = new Map(
      found.hosts.map(({ host, busy }) => [host, busy.map((s) => s && s / 3600)]),
    );
    expect(Object.fromEntries(hours)).toEqual({
      'n1.example': [24, 10],
      'n2.example': [24, null],
      'n3.example': [24, null],
      'n4.example': [12, 12],
      // Two jobs of 10 and 8 hours, of which they share four.
      'n5.example': [14, null],
      'n6.example': [null, null],
    });
    const used = utilisationOf(found);
    // 98 of 144 hours, 22 of 96, 120 of 240.
    const sum = [0, 1].map((k) => used.others[k] + used.flagged[k]);
    expect(sum.map((one) => one.toFixed(3))).toEqual(['68.056', '22.917']);
    expect(used.busyShare).toBeCloseTo(0.5, 12);
    const [, , , walker, shared] = found.hosts;
    expect([...valuesOf(walker, 'busy', found.lengths)]).toEqual([50, 75]);
    expect([...valuesOf(shared, 'busy', found.lengths)].map(Math.round)).toEqual([58, 0]);
    expect([...valuesOf(shared, 'efficiency', found.lengths)][1]).toBeNaN();
    // Of one user: others are idle.
    expect(some.hosts?.map(({ host }) => host)).toEqual(['n5.example']);
    expect(some.idle).toHaveLength(5);
    expect(hostDays({ days: [], lengths: [], hosts: [], idle: [] })).toBeNull();
  });

  it('are in order of names or means, unknown ones last', () => {
    const rows = [
      { label: 'n10', mean: 3 },
      { label: 'n9', mean: Number.NaN },
      { label: 'n2', mean: 5 },
    ];
    const names = (order: 'name' | 'most' | 'least') =>
      ordered(rows, order).map((one) => one.label);
    expect(names('name')).toEqual(['n2', 'n9', 'n10']);
    expect(names('most')).toEqual(['n2', 'n10', 'n9']);
    expect(names('least')).toEqual(['n10', 'n2', 'n9']);
  });
});

describe.skipIf(executable === undefined)('a cluster (needs chromium: npm run setup)', () => {
  let web: Web;
  /** One page for all: what is looked at stands in its address. */
  let shown: OpenPage | undefined;
  beforeAll(async () => {
    web = await Web.start();
  });
  afterAll(() => web?.close());

  const opened = (hash: string, options: OpenOptions = {}) => {
    const until = '[data-chart=host-days] canvas';
    return web.open(`${server.url}#${hash}`, { height: 900, until, ...options });
  };
  /** `complaints`: since then. */
  const open = async (hash = '') => {
    if (shown === undefined) shown = await opened(hash);
    else await shown.page.evaluate(`location.hash = '${hash}'`);
    const { page, complaints } = shown;
    const begun = complaints.length;
    return { page, complaints: () => complaints.slice(begun) };
  };
  const table = (page: Page, caption: string) =>
    page.locator(`table:has(caption:text-is("${caption}")) tbody tr`);
  const firsts = (page: Page, caption: string) =>
    table(page, caption).evaluateAll((rows) =>
      rows.map((row) => row.querySelector('th')?.textContent?.trim()),
    );

  it('is the first page: utilisation, users, applications, flags, hosts by day, jobs', async () => {
    const { page, complaints } = await open();
    expect(await page.getAttribute('main', 'data-view')).toBe('cluster');
    await reads(page, '#says-utilisation', '6 hosts had jobs 50 % of the time');
    await reads(page, '#says-jobs', '5 jobs');
    await expect.poll(() => firsts(page, 'Jobs by user')).toEqual(['ada', 'bob', 'eve']);
    await expect
      .poll(() => firsts(page, 'Jobs by application'))
      .toEqual(['weather', 'walker', 'probe']);
    await expect.poll(() => firsts(page, 'Jobs by flag')).toContain('metadata');
    await reads(page, '#says-host-days', '6 hosts, 0 % (n6) to 85 % (n1)');
    const csv = String((await exported(page, 'host-days', 'CSV')).bytes).split('\r\n');
    expect(csv.slice(0, 2)).toEqual(['host,2026-03-01,2026-03-02', 'n1.example,100,62.5']);
    // By the time of day, and of the whole archive.
    expect(
      await page.getByRole('button', { name: 'Wall clock' }).getAttribute('aria-pressed'),
    ).toBe('true');
    expect(complaints()).toEqual([]);
  });

  it('lists jobs as one types; what was chosen is told, taken back, and in the address', async () => {
    const { page, complaints } = await open();
    const says = () => page.textContent('#says-jobs');
    await page.getByLabel('Words').pressSequentially('ev');
    await reads(page, '#says-jobs', '2 of 5 jobs');
    expect(await firsts(page, 'Table of jobs')).toEqual(['104', '105']);
    // All else follows.
    await reads(page, '#says-utilisation', 'such jobs');
    await reads(page, '#says-host-days', '1 host');
    await page.reload();
    await expect.poll(says).toContain('2 of 5');
    await page.getByLabel('Words').fill('');
    await expect.poll(says).toBe('5 jobs');
    await table(page, 'Jobs by user').getByRole('button', { name: 'ada' }).click();
    await expect.poll(() => firsts(page, 'Table of jobs')).toEqual(['101', '103']);
    expect(page.url()).toContain('jobs.user=ada');
    await page.goBack();
    await expect.poll(says).toBe('5 jobs');
    await page.goForward();
    await expect.poll(says).toContain('2 of 5');
    await page.getByRole('button', { name: 'Any user' }).click();
    // Nothing is like that: said, and back again.
    await page.getByLabel('Words').fill('nobody');
    await reads(page, '#says-jobs', '0 of 5 jobs');
    await reads(page, '[data-figure=utilisation]', 'There are no such jobs');
    await reads(page, '[data-figure=host-days]', 'No host had such jobs');
    await page.getByLabel('Words').fill('');
    await reads(page, '#says-utilisation', '6 hosts');
    await page.getByLabel('Condition').fill('hosts > 2');
    await page.getByLabel('Condition').press('Enter');
    await expect.poll(() => firsts(page, 'Table of jobs')).toEqual(['101']);
    await page.getByLabel('Condition').fill('nonsense >');
    await page.getByLabel('Condition').press('Enter');
    await expect.poll(() => page.locator('[role=alert]').count()).toBeGreaterThan(0);
    await page.getByLabel('Condition').fill('');
    await page.getByLabel('Condition').press('Enter');
    await expect.poll(says).toBe('5 jobs');
    expect(complaints().filter((text) => !text.includes('422') && !text.includes('400'))).toEqual(
      [],
    );
  });

  it('leads from a flag to the job, to the host, to the second', async () => {
    const { page, complaints } = await open();
    await table(page, 'Jobs by flag').getByRole('button', { name: 'metadata' }).click();
    await expect.poll(() => firsts(page, 'Table of jobs')).toEqual(['102']);
    await table(page, 'Table of jobs').getByRole('button', { name: '102' }).click();
    await reads(page, '#job-title', 'Job 102');
    await reads(page, '[data-job-findings]', 'metadata operations per second');
    await page.getByRole('button', { name: 'metadata', exact: true }).first().click();
    await reads(page, '#says-hosts', '1 host');
    expect(page.url()).toContain('metric=track');
    await page.locator('[data-chart=hosts] button').first().click();
    // Most of it in the night: 36,000 a second from 0:00 to 2:00.
    await reads(page, '[data-figure=host-track-metadata]', '36.0 k');
    await reads(page, '[data-figure=host-track-metadata]', '03-02 0');
    expect(complaints()).toEqual([]);
  });

  it('is used with keys only', async () => {
    const { page } = await open();
    await page.keyboard.press('Shift+N');
    await reads(page, 'main', 'All 5 jobs');
    await page.keyboard.press('Shift+J');
    const field = page.locator('[data-chart=host-days]');
    await field.focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight']) {
      await page.keyboard.press(key);
    }
    await reads(
      page,
      '#says-host-days-cell',
      'n4.example, Mon 2 March: jobs for 12:00:00 h (75 %)',
    );
    await page.keyboard.press('Enter');
    // The jobs of that host and day.
    await expect.poll(() => firsts(page, 'Table of jobs')).toEqual(['102']);
    await reads(page, '[aria-label="Jobs are chosen by"]', 'host n4.example');
    await reads(page, '[aria-label="Jobs are chosen by"]', '03-02 00:00:00 to 03-02 16:00:00');
    await page.getByRole('button', { name: 'All times' }).press('Enter');
    await page.getByRole('button', { name: 'Any host' }).press('Enter');
    await reads(page, '#says-jobs', '5 jobs');
    const job = table(page, 'Table of jobs').getByRole('button', { name: '103' });
    await job.focus();
    await page.keyboard.press('Enter');
    await reads(page, '#job-title', 'Job 103');
    await page.getByRole('button', { name: 'All 5 jobs' }).press('Enter');
    await reads(page, '#says-jobs', '5 jobs');
  });

  it.each([
    ['light', [1280, 2560]],
    ['dark', [420]],
  ] as const)('has no barriers, and uses the width: %s, %j px wide', async (scheme, widths) => {
    const { page } =
      scheme === 'light'
        ? await open('jobs.user=ada')
        : await opened('jobs.user=ada', { scheme, width: widths[0] });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await reads(page, '#says-jobs', '2 of 5 jobs');
      await settled(page);
      const wide = (await page.evaluate('document.documentElement.scrollWidth')) as number;
      expect(wide).toBeLessThanOrEqual(width);
      // The picture takes it; each value of a table is on the screen.
      const field = await page.locator('[data-chart=host-days]').boundingBox();
      expect(field?.width).toBeGreaterThan(0.8 * width);
      const rights = await page
        .locator('tbody td')
        .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().right));
      expect(Math.max(...rights)).toBeLessThanOrEqual(width);
      const cut = await page
        .locator('[data-top] .scroll')
        .evaluateAll((tables) => tables.filter((one) => one.scrollWidth > one.clientWidth).length);
      expect(cut).toBe(0);
    }
    expect(await barriers(page)).toEqual([]);
  });
});
