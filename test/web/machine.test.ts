/** Regions and Nodes in a real browser: what a person sees and does. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { batchOf, openData } from 'triscope/formats';
import { LiveBus, type LiveServer, startServer } from 'triscope/live';
import { openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FrameEncoder } from '../../src/formats/frames/index.ts';
import { temporaryFolder, triscope } from '../cli/support/run.ts';
import { cluster, FROM, hostNames, ODD, RATE, SLOW, WRAPPED } from '../live/support/cluster.ts';
import { regionRun, SOLVE } from '../live/support/regions.ts';
import { barriers, executable, type OpenOptions, reads, tableOf, Web } from './support/browser.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const HOSTS = 64;

describe.skipIf(executable === undefined)('machine views (need chromium: npm run setup)', () => {
  const run = regionRun();
  const archive = cluster(HOSTS);
  let web: Web;
  let regions: LiveServer;
  let nodes: LiveServer;
  beforeAll(async () => {
    web = await Web.start();
    regions = await startServer({ recording: run });
    nodes = await startServer({ recording: archive });
  });
  afterAll(async () => {
    await web?.close();
    await regions?.close();
    await nodes?.close();
  });

  /** Opens a view; what the page complains about ends up in the second value. */
  async function open(url: string, hash: string, options: OpenOptions = {}) {
    const { page, complaints } = await web.open(`${url}#${hash}`, {
      height: 800,
      until: 'main',
      ...options,
    });
    return [page, complaints] as const;
  }

  /** Cells of a table's rows. */
  const rows = (page: Page, caption: string) =>
    page
      .locator('table', { has: page.locator('caption', { hasText: new RegExp(`^${caption}`) }) })
      .locator('tbody tr')
      .evaluateAll((found) =>
        found.map((row) =>
          [...row.querySelectorAll('th, td')].map((cell) => cell.textContent?.trim()),
        ),
      );

  describe('regions', () => {
    it('shows a host’s table as the report has it, totals apart, headers explained', async () => {
      const [page, complaints] = await open(regions.url, 'view=regions');
      await reads(
        page,
        '#says-regions',
        `${SOLVE} takes the most time: 3.75 s, 38 % of the application`,
      );
      expect(await rows(page, 'Table of regions')).toEqual([
        [SOLVE, '3.75', '3.5', '4', '175', '50', '80', '2.08e+09', 'compute 75 %, io 25 %'],
        ['write', '1', '0.25', '0.5', '12.5', '50', '80', '2.08e+09', 'compute 75 %, io 25 %'],
      ]);
      expect((await rows(page, 'Totals')).map(([name, runtime]) => [name, runtime])).toEqual([
        ['Unmarked: in no region', '5.25'],
        ['Epochs', '9'],
        ['Application: the whole', '10'],
      ]);
      const header = page.locator('thead button', { hasText: 'sync-runtime' }).first();
      expect(await header.getAttribute('title')).toContain(
        'time in which all processes of the host were inside at once: sampled',
      );
      await page.getByLabel('Host').selectOption('n2');
      await reads(page, '#says-regions', '1.25 s');
      await page.getByLabel('Host').selectOption('across');
      await expect
        .poll(async () => (await rows(page, 'Table of regions'))[0])
        .toEqual([...[SOLVE, '2.5', '1.25', '3.75', '100.0', '3.75', '1.25']]);
      expect(page.url()).toContain('regions.host=across');
      expect(complaints).toEqual([]);
      await page.close();
    });

    it('says on an overview without samples of PEs and hosts that other views have what there is', async () => {
      const [page] = await open(regions.url, 'view=overview', { until: '[data-no-lanes]' });
      expect(await page.locator('[data-no-lanes]').textContent()).toContain('the other views show');
      const findings = await page.locator('[data-findings]').boundingBox();
      expect(findings?.width).toBeGreaterThan(1000);
    });

    it('draws lanes of CPUs and processes; a brush in them is the page’s', async () => {
      const [page, complaints] = await open(regions.url, 'view=regions');
      const lanes = page.locator('[data-chart=region-lanes]');
      await lanes.waitFor();
      await reads(page, '#says-region-lanes', `${SOLVE} has the most of the lanes’ time: 50 %`);
      await reads(page, '[data-figure=process-lanes]', 'process 12, it never told that it left');
      const box = await lanes.boundingBox();
      if (box === null) throw new Error('no lanes');
      await page.mouse.move(box.x + 0.25 * box.width, box.y + 25);
      await reads(page, '#says-region-lanes-span', 'CPU 0 at 2.5');
      await page.mouse.down();
      await page.mouse.move(box.x + 0.75 * box.width, box.y + 25, { steps: 3 });
      await page.mouse.up();
      await expect.poll(() => page.url()).toMatch(/from=2\.\d+&to=7\.\d+/);
      await reads(page, '#says-region-lanes', `50 %`);
      const table = await tableOf(page, 'region-lanes');
      expect(table.find(([lane, name]) => lane === 'CPU 0' && name === 'write')?.[2]).toMatch(
        /^2\.[45]/,
      );
      await lanes.dblclick();
      await expect.poll(() => page.url()).not.toContain('from=');
      // By keys alone.
      await lanes.focus();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowRight');
      await reads(page, '#says-region-lanes-span', 'CPU 1 at');
      expect(complaints).toEqual([]);
      await page.close();
    });

    it('shows regions inside regions, and looks into one', async () => {
      const [page] = await open(regions.url, 'view=regions');
      const places = page.locator('[data-chart=icicle] button');
      await expect.poll(() => places.count()).toBe(4);
      expect(await places.nth(1).getAttribute('title')).toContain(
        '79 %: 7.5 s, 8 visits, 2.5 s of it in no nested region',
      );
      await reads(page, '[data-figure=icicle]', 'fetch: 3 asynchronous spans');
      await places.nth(1).click();
      await expect.poll(() => places.count()).toBe(2);
      await reads(page, '#says-icicle', `33 % of ${SOLVE} are in no nested region`);
      await page.reload();
      await expect.poll(() => places.count()).toBe(2);
      await places.first().press('Enter');
      await expect.poll(() => places.count()).toBe(4);
      // As a flame graph the outermost is at the bottom; inverted, regions stand for themselves.
      const top = (k: number) =>
        places.nth(k).evaluate((one) => Number.parseInt(one.style.top, 10));
      const icicle = await top(0);
      await page.getByRole('button', { name: 'Flame graph' }).click();
      await expect.poll(() => top(0)).toBeGreaterThan(icicle);
      await page.getByRole('button', { name: 'Inverted' }).click();
      await reads(page, '#says-icicle', 'itself, without what is nested in it');
      const sums = page.locator('table:has(caption:text-is("Self and total of each region"))');
      expect(await sums.locator('tbody tr').first().innerText()).toContain('5');
      // A region with nothing in it is looked into, too, and left again.
      await places.last().click();
      await expect.poll(() => places.count()).toBe(1);
      await places.first().click();
      for (let k = 0; k < 4; k++) await page.goBack();
      await expect.poll(() => top(0)).toBe(icicle);
      await reads(
        page,
        '#says-spread',
        `${SOLVE} is the most uneven: rank 0 spends 5 s in it, rank 1 2.5 s`,
      );
      await page.close();
    });

    it.runIf(GOLDEN !== undefined)('shows GEOPM’s own report (needs TRISCOPE_GOLDEN)', async () => {
      const file = join(GOLDEN ?? '', 'geopm/repo/test_io_experiment.report');
      const server = await startServer({ recording: file });
      const [page, complaints] = await open(server.url, 'view=regions');
      await reads(page, '#says-regions', 'MPI_Allreduce takes the most time: 53.6629 s');
      const [first] = await rows(page, 'Table of regions');
      expect(first.slice(0, 6)).toEqual([
        'MPI_Allreduce',
        '53.6629',
        '53.7105',
        '12005',
        '10262.7',
        '666.268',
      ]);
      expect(await page.getByLabel('Host').locator('option').allInnerTexts()).toHaveLength(5);
      expect(complaints).toEqual([]);
      await page.close();
      await server.close();
    });
  });

  describe('nodes', () => {
    it('lifts the host that differs, and says by how much', async () => {
      const [page, complaints] = await open(nodes.url, 'view=nodes');
      await reads(page, '#says-hosts', '1 host of 64 stands out: c064');
      const cards = page.locator('[data-chart=hosts] .card');
      expect(await cards.first().getAttribute('data-host')).toBe(SLOW);
      const { out } = await triscope(['node', 'job', '7', '--archive', archive, '--json']);
      const { metrics } = JSON.parse(out) as { metrics: { name: string; value: number }[] };
      const cores = metrics.find(({ name }) => name === 'avg_cpuusage')?.value ?? Number.NaN;
      await reads(page, '[data-gauge=processors] p', `${cores.toFixed(1)} of 4 cores`);
      expect(await page.locator('[data-gauge=balance]').getAttribute('data-grade')).toBe('poor');
      // Only what is in sight is there.
      expect(await cards.count()).toBeLessThan(HOSTS);
      await page
        .locator('[data-chart=hosts]')
        .evaluate((pane) => pane.scrollTo(0, pane.scrollHeight));
      await expect.poll(() => cards.last().getAttribute('data-host')).toBe('c063.example');
      expect(complaints).toEqual([]);
      await page.close();
    });

    it('gives the numbers of SQL for another key, hatched where a counter rolled over', async () => {
      const [page] = await open(nodes.url, 'view=nodes&metric=net.rx_bytes&nodes.order=name');
      await reads(page, '#says-hosts', '64 hosts');
      const card = page.locator(`[data-host="${WRAPPED}"]`);
      expect(await card.getAttribute('title')).toContain('rolled over; repaired');
      expect(await page.locator(`[data-host="${ODD}"]`).getAttribute('title')).toContain('c099');
      const shown = await tableOf(page, 'hosts');
      const tables = await openRecording(archive);
      const [{ mean }] = await tables.query<{ mean: number }>(
        `SELECT avg(rx_bytes) AS mean FROM node_net_rate WHERE host = '${WRAPPED}'`,
      );
      await tables.close();
      expect(mean).toBeCloseTo(RATE, 3);
      const own = shown.find(([host]) => host?.startsWith(WRAPPED));
      expect(own?.[1]).toBe('10.0 k');
      await page.close();
    });

    it('opens a host by key, and keeps it in the address', async () => {
      const [page] = await open(nodes.url, 'view=nodes');
      const first = page.locator('[data-chart=hosts] .card').first();
      await first.focus();
      await page.keyboard.press('Enter');
      const detail = page.getByRole('region', { name: `Host ${SLOW}` });
      await expect.poll(() => detail.locator('figure').count()).toBe(3);
      expect(page.url()).toContain(`path=${SLOW}`);
      await page.reload();
      await expect.poll(() => detail.locator('figure').count()).toBe(3);
      await detail.getByRole('button', { name: 'Close' }).click();
      await expect.poll(() => detail.count()).toBe(0);
      await page.close();
    });

    it('lists devices with exact totals, rates, and types to choose', async () => {
      const [page] = await open(nodes.url, `view=nodes&nodes.type=net&nodes.devicehost=${WRAPPED}`);
      const total = String(30 * 600 * RATE);
      await expect
        .poll(async () => (await rows(page, 'Devices'))[0])
        .toEqual([...['c003', 'all', total, '30000']]);
      const header = page.locator('thead button', { hasText: 'rx_bytes' });
      expect(await header.getAttribute('title')).toContain('1 wrapped');
      await page.getByRole('button', { name: 'rates' }).click();
      await expect.poll(async () => (await rows(page, 'Devices'))[0]?.[2]).toBe('10.0 k');
      await page.locator('label', { hasText: /^Type/ }).locator('select').selectOption('mem');
      await page.getByRole('button', { name: 'most', exact: true }).click();
      await expect.poll(async () => (await rows(page, 'Devices'))[0]?.[2]).toBe('34.4 G');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page
          .locator('section', { has: page.locator('#devices-title') })
          .getByRole('button', { name: 'CSV' })
          .click(),
      ]);
      const csv = readFileSync(await download.path(), 'utf8')
        .trim()
        .split('\r\n');
      expect(csv).toHaveLength(1 + (await rows(page, 'Devices')).length);
      expect(csv[1]).toContain(String(32 * 2 ** 30));
      await page.close();
    });

    it('finds jobs by words and by metrics, and goes to their time', async () => {
      const [page] = await open(nodes.url, 'view=nodes');
      await reads(page, '#says-jobs', '2 jobs');
      await page.getByLabel('Words').fill('bob');
      await page.getByLabel('Words').press('Enter');
      await reads(page, '#says-jobs', '1 of 2 jobs');
      await page.getByLabel('Words').fill('');
      await page.getByLabel('Condition').fill('avg_cpuusage > 1 AND hosts > 4');
      await page.getByLabel('Condition').press('Enter');
      await expect
        .poll(async () => (await rows(page, 'Table of jobs')).map(([id]) => id))
        .toEqual(['7']);
      await page.getByLabel('Condition').fill('nonsense > 1');
      await page.getByLabel('Condition').press('Enter');
      await expect
        .poll(() => page.locator('[role=alert]').first().textContent())
        .toContain('nonsense');
      await page.getByLabel('Condition').fill('');
      await page.getByLabel('Condition').press('Enter');
      await page.getByRole('button', { name: '8', exact: true }).click();
      await reads(page, '#job-title', 'Job 8');
      expect(page.url()).toMatch(/from=0&to=18\d\d/);
      await reads(page, '[data-job-facts]', 'user bob');
      await page.close();
    });

    it.runIf(GOLDEN !== undefined)('shows genuine files (needs TRISCOPE_GOLDEN)', async () => {
      const folder = join(GOLDEN ?? '', 'tacc_stats/genuine_job1835740_2hosts');
      const server = await startServer({ recording: folder });
      const [page, complaints] = await open(server.url, 'view=nodes');
      await reads(page, '#job-title', 'Job 1835740');
      await reads(page, '[data-gauge=processors]', '15.6 of 16 cores');
      await reads(page, '[data-gauge=instructions]', '0.72 cycles');
      await reads(page, '[data-doubts]', 'counters repaired or left out');
      await reads(page, '#says-hosts', '2 hosts');
      expect(complaints).toEqual([]);
      await page.close();
      await server.close();
    });
  });

  it('follow hosts of a live run, as far as samples came', async () => {
    const files = cluster(3);
    const zero = FROM - 7200;
    const bus = new LiveBus({ title: 'a run', pes: [], zero: `${zero}000000000` });
    const server = await startServer({ bus });
    const frames = new FrameEncoder();
    const bytes: Uint8Array[] = [];
    for (const host of hostNames(3)) {
      const [file] = readdirSync(join(files, host));
      openData(join(files, host, file), 'tacc', {
        growing: true,
        take: (part, rows) => {
          bus.publish(batchOf(part, rows));
          bytes.push(...frames.encode(batchOf(part, rows)));
        },
      })?.close();
    }
    const [page, complaints] = await open(server.url, 'view=nodes&from=7200&to=25200');
    await reads(page, '#says-hosts', '3 hosts, all alike; all on one scale, 0 cores to 3.6 cores');
    await page.getByRole('button', { name: 'Ethernet' }).click();
    await reads(page, '#says-hosts', 'MiB/s');
    expect(complaints).toEqual([]);
    await page.close();
    await server.close();
    // The same samples in frames, as a stream leaves them: without raw stats files there is no job to ask for.
    const kept = join(temporaryFolder(), 'hosts.frames');
    writeFileSync(kept, Buffer.concat(bytes));
    const later = await startServer({ recording: kept });
    const [again, faults] = await open(later.url, 'view=nodes');
    await reads(again, '#says-hosts', '3 hosts, all alike; all on one scale, 0 cores to');
    expect(faults).toEqual([]);
    expect(await again.getByText('Reading the hosts').count()).toBe(0);
    await again.close();
    await later.close();
  });

  describe.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)('for all, %s, %i px wide', (scheme, width) => {
    it.each([
      ['regions', '[data-chart=region-lanes]'],
      ['nodes', '[data-chart=hosts] .card'],
    ])('%s', async (view, there) => {
      const url = view === 'regions' ? regions.url : nodes.url;
      const [page] = await open(url, `view=${view}`, { scheme, width });
      await page.locator(there).first().waitFor();
      const wide = () => page.evaluate('document.documentElement.scrollWidth');
      await expect.poll(wide).toBeLessThanOrEqual(width);
      await page.evaluate(
        'for (const one of document.querySelectorAll("main details")) one.open = true',
      );
      expect(await barriers(page)).toEqual([]);
      await page.close();
    });
  });
});
