/** The Simulation and Events views in a real browser: what a person sees and does, over a recorded run and a live one. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { LiveBus, type LiveServer, startServer } from 'triscope/live';
import { type OpenRecording, openRecording } from 'triscope/query';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROSS_KP, ROSS_PE, ROSS_ROLLBACK } from '../../src/model/schemas/ross.ts';
import { batch, recording as samplesOnly } from '../live/support/samples.ts';
import {
  barriers,
  executable,
  exported,
  type OpenOptions,
  reads,
  settled,
  tableOf,
  Web,
} from './support/browser.ts';

const RUN = [
  ...['sim', 'run', 'phold', '--pes=2', '--nlp=16', '--nkp=4', '--synch=3', '--end=100'],
  ...['--start-events=4', '--remote=0.5', '--no-pin', '--engine-stats=rt', '--rt-interval=10'],
  ...['--kp-data', '--lp-data', '--event-trace=1', '--animate=10', '--record=run.tri'],
];

/** A network, whose routers tell what their links did. */
const NETWORK = [
  ...['sim', 'run', 'fattree', '--k=2', '--n=2', '--traffic=complement', '--load=1', '--end=80'],
  ...['--animate=8', '--record=links.tri'],
];

describe.skipIf(executable === undefined)('the page (needs chromium: npm run setup)', () => {
  let web: Web;
  let server: LiveServer;
  let run: OpenRecording;
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'triscope-simview-'));
    const program = join(import.meta.dirname, '../../bin/triscope');
    for (const words of [RUN, NETWORK])
      execFileSync(process.execPath, [program, ...words], { cwd: folder, stdio: 'ignore' });
    const path = join(folder, 'run.tri');
    const recordings = [path, samplesOnly(), join(folder, 'links.tri')];
    server = await startServer({ recordings });
    run = await openRecording(path);
    web = await Web.start();
  });
  afterAll(async () => {
    await web?.close();
    await server?.close();
    await run?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(hash: string, options: OpenOptions = {}, url = server.url) {
    const until = '[data-figure]';
    const opened = await web.open(`${url}#${hash}`, { height: 900, until, ...options });
    await settled(opened.page);
    return opened;
  }
  const labels = (page: Page, figure: string) =>
    page.locator(`[data-figure=${figure}] .labels span`).allInnerTexts();
  const field = (page: Page, chart: string) => page.locator(`[data-chart=${chart}]`);
  it('drills from PEs to KPs to LPs by click and by keyboard, and back', async () => {
    const { page, complaints } = await open('view=simulation');
    expect(await labels(page, 'heat')).toEqual(['PE 0', 'PE 1']);
    const box = await field(page, 'heat').boundingBox();
    if (box === null) throw new Error('no heatmap');
    await page.mouse.click(box.x + 0.9 * box.width, box.y + 0.75 * box.height);
    await expect.poll(() => labels(page, 'heat')).toContain('KP 1/3');
    expect(await labels(page, 'heat')).toEqual(['KP 1/0', 'KP 1/1', 'KP 1/2', 'KP 1/3']);
    // The cascades are those of the cell that was clicked.
    await reads(page, '.spot', 'with a rollback in PE 1');
    await page.getByRole('button', { name: 'Of the whole window' }).click();
    await field(page, 'heat').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await reads(page, '#says-heat-cell', 'KP 2 of PE 1');
    await page.keyboard.press('Enter');
    await expect.poll(() => labels(page, 'heat')).toContain('LP 24');
    expect(await labels(page, 'heat')).toEqual(['LP 24', 'LP 25', 'LP 26', 'LP 27']);
    const path = page.getByRole('navigation', { name: 'Drilled into' });
    expect(await path.textContent()).toMatch(/All PEs\s*PE 1\s*KP 2/);
    await page.goBack();
    await expect.poll(() => labels(page, 'heat')).toContain('KP 1/0');
    // The switch of the PE that is looked at alone, and the path, are one.
    await page.getByRole('button', { name: 'PE 0', exact: true }).click();
    await expect.poll(() => labels(page, 'heat')).toContain('KP 0/0');
    await path.getByRole('button', { name: 'All PEs' }).click();
    await expect.poll(() => labels(page, 'heat')).toEqual(['PE 0', 'PE 1']);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('has slices of PEs, rollbacks and GVT in rows that are filtered, pinned, hidden and moved', async () => {
    const { page, complaints } = await open('view=timeline&timeline.without=flags');
    const rows = () => page.locator('[data-figure=timeline] .name').allInnerTexts();
    expect((await rows()).slice(0, 3)).toEqual(['GVT', 'PE 0', 'PE 1']);
    const [{ count }] = await run.query<{ count: bigint }>(
      'SELECT count(*) AS count FROM ross_rollback WHERE pe_id = 1',
    );
    // Each rollback is seen, or counted in a slice.
    const csv = String((await exported(page, 'timeline', 'CSV')).bytes).split('\r\n');
    const told = csv.flatMap((line) => /^PE 1 rollbacks,(\d*)/.exec(line)?.[1] ?? []);
    const each = told.map((some) => (some === '' ? 1 : Number(some)));
    expect(each.reduce((sum, one) => sum + one, 0)).toBe(Number(count));
    // By keyboard alone.
    await page.locator('.name', { hasText: 'PE 1' }).first().focus();
    await page.keyboard.press('Alt+ArrowUp');
    await expect.poll(async () => (await rows()).slice(0, 3)).toEqual(['GVT', 'PE 1', 'PE 0']);
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('PE 1');
    await page.keyboard.press('p');
    await expect.poll(async () => (await rows())[0]).toBe('PE 1');
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('PE 1');
    await page.keyboard.press('p');
    await expect.poll(async () => (await rows())[0]).toBe('GVT');
    await page.locator('.name', { hasText: 'GVT' }).focus();
    await page.keyboard.press('h');
    await expect.poll(rows).not.toContain('GVT');
    await page.goBack();
    await expect.poll(rows).toContain('GVT');
    await page.goForward();
    await expect.poll(rows).not.toContain('GVT');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('button', { name: /Show all/ }).click();
    await expect.poll(rows).toContain('GVT');
    await page.getByRole('button', { name: 'Marks' }).click();
    await expect.poll(async () => (await rows())[0]).toBe('GVT');
    // By mouse: dragged from the third place to the first.
    const place = async (name: string) => {
      const box = await page.locator('.name', { hasText: name }).first().boundingBox();
      if (box === null) throw new Error(`no row ${name}`);
      return [box.x + box.width / 2, box.y + box.height / 2] as const;
    };
    await page.mouse.move(...(await place('PE 1')));
    await page.mouse.down();
    await page.mouse.move(...(await place('GVT')), { steps: 3 });
    await page.mouse.up();
    await expect.poll(async () => (await rows())[0]).toBe('PE 1');
    await page.getByRole('searchbox', { name: 'Rows' }).fill('rollbacks');
    await expect.poll(rows).toEqual(['PE 0 rollbacks', 'PE 1 rollbacks']);
    // A click tells of a slice; arrows and Enter lead into one.
    const timeline = field(page, 'timeline');
    await timeline.focus();
    for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await reads(page, '#says-timeline-slice', 'undone');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.evaluate('location.hash')).toContain('from=');
    await page.goBack();
    const svg = String((await exported(page, 'timeline', 'SVG')).bytes);
    expect(svg).toContain('>PE 1 rollbacks</text>');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows any metric in any order with SQL’s numbers, and a link brings it back to the pixel', async () => {
    const { page, complaints } = await open('view=simulation&path=0&pe=0');
    await page.getByLabel('Metric').selectOption('events_processed');
    await page
      .getByRole('group', { name: 'Order of rows' })
      .getByRole('button', { name: 'value' })
      .click();
    await settled(page);
    const rows = await run.query<{ kp_id: number; events: number }>(
      'SELECT kp_id, sum(events_processed) AS events FROM ross_kp WHERE pe_id = 0 GROUP BY 1 ORDER BY 2 DESC, 1',
    );
    expect(await labels(page, 'heat')).toEqual(rows.map(({ kp_id }) => `KP 0/${kp_id}`));
    const hash = await page.evaluate('location.hash');
    expect(hash).toContain('metric=events_processed');
    expect(hash).toContain('sort=value');
    // Also where there are few rows to tell apart.
    expect((await page.textContent('#says-heat')) ?? '').toContain(
      `KP ${rows[0].kp_id} of PE 0 has the highest in this window`,
    );
    const pixels = () =>
      page.evaluate("document.querySelector('[data-chart=heat] canvas').toDataURL()");
    const picture = await pixels();
    await page.reload();
    await page.waitForSelector('[data-chart=heat] canvas');
    await settled(page);
    expect((await pixels()) === picture).toBe(true);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('lists cascades worst first, and walks along the path of the chosen one', async () => {
    const { page, complaints } = await open('view=simulation');
    const undone = page.locator('[data-figure=cascades] .list tbody tr td:nth-child(4)');
    const counts = (await undone.allInnerTexts()).map((text) => Number(text.replaceAll(',', '')));
    expect(counts.length).toBeGreaterThan(1);
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
    const [{ all }] = await run.query<{ all: number }>(
      'SELECT sum(events_undone) AS "all" FROM ross_rollback',
    );
    expect(await page.textContent('#says-cascades')).toContain(
      `undid ${all.toLocaleString('en-US')} events`,
    );
    await page.locator('[data-figure=cascades] .list tbody tr:nth-child(2) button').click();
    await settled(page);
    expect(await page.evaluate('location.hash')).toContain('simulation.cascade=');
    await field(page, 'cascade').focus();
    await reads(page, '#says-tree', 'Generation 1: KP');
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await reads(page, '#says-tree', 'for a late event of LP');
    const svg = await exported(page, 'cascades', 'SVG');
    expect(svg.bytes.toString()).toContain('<rect x=');
    expect((await exported(page, 'cascades', 'PNG')).bytes.subarray(1, 4).toString()).toBe('PNG');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('shows who sends to whom at each level; a row is a filter', async () => {
    const { page, complaints } = await open('view=simulation');
    const [{ all, own }] = await run.query<{ all: number; own: number }>(
      `WITH place AS (SELECT DISTINCT lp_id, pe_id FROM ross_lp)
       SELECT count(*) AS "all", count(*) FILTER (s.pe_id = d.pe_id) AS own FROM ross_event
       JOIN place s ON s.lp_id = source_lp JOIN place d ON d.lp_id = destination_lp`,
    );
    const share = ((100 * own) / all).toFixed(0);
    expect(await page.textContent('#says-matrix')).toContain(`${share} % of`);
    const tools = page.locator('[data-figure=matrix] .tools');
    await tools.getByRole('button', { name: 'KP', exact: true }).click();
    await tools.getByRole('button', { name: 'log', exact: true }).click();
    await expect.poll(() => labels(page, 'matrix')).toContain('KP 1/3');
    await field(page, 'matrix').focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await reads(page, '#says-matrix-cell', 'KP 1 of PE 0 sent');
    await page.keyboard.press('Enter');
    await reads(page, '[data-figure=matrix]', 'Only what KP 1 of PE 0 sends or gets');
    await tools.getByRole('button', { name: 'rollbacks' }).click();
    await reads(page, '[data-figure=matrix] h3', 'Who rolls back whom');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('says where each PE’s time went, who lags, and has both as tables', async () => {
    const { page } = await open('view=simulation');
    expect(await page.textContent('#says-breakdown')).toMatch(
      /PE \d spent [\d.]+ % (?:± [\d.]+ % )?of this window rolling back/,
    );
    const [{ gvt }] = await run.query<{ gvt: number }>(
      'SELECT sum(gvt_time) AS gvt FROM ross_pe WHERE pe_id = 1',
    );
    const [, one] = await tableOf(page, 'breakdown');
    expect(one[4]).toBe(gvt.toFixed(3));
    expect(await page.textContent('#says-surface')).toMatch(/KP \d of PE \d is the laggard/);
    expect(await tableOf(page, 'surface')).toHaveLength(8);
    const csv = (await exported(page, 'surface', 'CSV')).bytes.toString().trim().split('\r\n');
    expect(csv).toHaveLength(1 + 8);
    await page.close();
  });

  it('counts traced events, and shows single ones with what sent them', async () => {
    const { page, complaints } = await open('view=events');
    const [{ all, middle }] = await run.query<{ all: number; middle: number }>(
      'SELECT count(*) AS "all", median(t) AS middle FROM ross_event',
    );
    await reads(page, '#says-events', `${all.toLocaleString('en-US')} traced events`);
    const [from, to] = [middle - 5e-4, middle + 5e-4];
    const [{ some }] = await run.query<{ some: number }>(
      `SELECT count(*) AS some FROM ross_event WHERE t >= ${from} AND t < ${to}`,
    );
    await page.goto(`${server.url}#view=events&from=${from}&to=${to}`);
    await page.waitForSelector('[data-chart=single-events]');
    await settled(page);
    await field(page, 'single-events').focus();
    await page.keyboard.press('ArrowRight');
    await reads(page, '#says-event', 'handled an event of LP');
    expect(await page.evaluate('location.hash')).toContain('events.pick=');
    expect(await tableOf(page, 'events')).toHaveLength(Math.min(100, some));
    await page.keyboard.press('Escape');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('animates LPs over virtual time, by keys and by mouse, and a link brings the frame back', async () => {
    const { page, complaints } = await open('view=animation');
    const field = await page.getByLabel('Field').inputValue();
    await reads(page, '#says-animation', 'At virtual time 100 (frame 10 of 10)');
    await page.getByRole('slider', { name: 'Frame' }).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await reads(page, '#says-animation', 'At virtual time 20 (frame 2 of 10)');
    const at = `FROM ross_model WHERE mode = 'vt' AND virtual_time = 20`;
    const [{ most }] = await run.query<{ most: number }>(
      `SELECT max("${field}")::DOUBLE AS most ${at}`,
    );
    const rows = await tableOf(page, 'animation');
    expect(rows).toHaveLength(32);
    expect(Math.max(...rows.map(([, value]) => Number(value)))).toBe(most);
    // 32 LPs in a grid of six columns: the first is at the top left.
    const canvas = page.locator('[data-figure=animation] canvas');
    await canvas.hover({ position: { x: 1, y: 1 } });
    await reads(page, '#says-animation', 'highest in LP');
    const box = await canvas.boundingBox();
    if (box === null) throw new Error('no canvas');
    // The picture is six columns wide and lies in the middle.
    const step = (box.height - 60) / 5;
    await canvas.hover({ position: { x: box.width / 2 - 2.5 * step, y: 30 } });
    await reads(page, '#says-animation', 'LP 0, ');
    await page.reload();
    await reads(page, '#says-animation', 'frame 2 of 10');
    await page.getByRole('button', { name: 'change' }).click();
    await reads(page, '#says-animation', `change of ${field}`);
    await page.getByRole('button', { name: 'Play' }).click();
    await reads(page, '#says-animation', 'frame 10 of 10');
    const svg = String((await exported(page, 'animation', 'SVG')).bytes);
    // An LP each, and the nine colours of the scale.
    expect(svg.match(/<rect x=/g)).toHaveLength(32 + 9);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('draws the links of a network over virtual time, by utilisation and by queue', async () => {
    const { page, complaints } = await open('view=animation&recording=links');
    // Two switches below with two terminals each, two above; all traffic goes up: 4 + 4 links of switches, 4 to terminals.
    await reads(page, '#says-links', '12 links; utilisation is highest in the link of LP');
    const rows = await tableOf(page, 'links');
    expect(rows).toHaveLength(12);
    expect(
      rows.every(([, mean]) => /^[\d.]+ %$/.test(mean) && Number.parseFloat(mean) <= 100),
    ).toBe(true);
    await field(page, 'links').focus();
    await page.keyboard.press('ArrowRight');
    await reads(page, '#says-links-cell', 'from virtual time 10 to 20: utilisation');
    await page.getByTitle('the link with the highest mean first').click();
    await page.locator('[data-figure=links] select').selectOption('queued');
    await reads(page, '#says-links', 'queued is highest in the link of LP');
    const svg = String((await exported(page, 'links', 'SVG')).bytes);
    expect(svg).toContain('Links over virtual time: queued');
    expect(await barriers(page)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('names the option where something was not recorded', async () => {
    const { page } = await open('view=simulation&recording=made');
    await reads(page, '[data-figure=matrix]', '--event-trace=1');
    await reads(page, '[data-figure=surface]', '--kp-data');
    await reads(page, '[data-figure=cascades]', '--record keeps each rollback');
    await page.goto(`${server.url}#view=events&recording=made`);
    await reads(page, '[data-figure=events]', '--event-trace=1');
    await page.close();
  });

  it.each([
    ['light', 1280],
    ['dark', 390],
  ] as const)(
    'simulation, events and animation are readable for all, %s, %i px wide',
    async (scheme, width) => {
      const { page } = await open('view=simulation', { scheme, width });
      for (const view of ['simulation', 'events', 'animation']) {
        await page.goto(`${server.url}#view=${view}`);
        await settled(page);
        expect(await barriers(page), view).toEqual([]);
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        expect(wide, view).toBeLessThanOrEqual(width);
      }
      await page.close();
    },
  );

  it('follows a live run: the heatmap fills, a cascade appears', async () => {
    const bus = new LiveBus({ title: 'a run', pes: [] });
    const live = await startServer({ bus });
    const publish = (k: number) => {
      const at = { real_time: 0.1 * (k + 1), mode: 'rt' };
      const pe = (id: number) => ({ ...at, pe_id: id, events_processed: 1000 });
      const kp = (id: number) => ({ ...pe(id), kp_id: 0, time_ahead_gvt: id + 1 });
      bus.publish(batch(ROSS_PE, [pe(0), pe(1)]));
      bus.publish(batch(ROSS_KP, [kp(0), kp(1)]));
    };
    for (let k = 0; k < 5; k++) publish(k);
    const { page, complaints } = await open('view=simulation', {}, live.url);
    await expect.poll(() => labels(page, 'heat')).toEqual(['PE 0', 'PE 1']);
    await reads(page, '#says-surface', 'KP 0 of PE 0 is the laggard');
    await reads(page, '[data-figure=cascades]', 'No rollbacks');
    const rollback = { real_time: 0.55, pe_id: 1, rollback_id: 1, events_undone: 42, source_lp: 7 };
    bus.publish(batch(ROSS_ROLLBACK, [{ ...rollback, cause: 'straggler', depth: 3 }]));
    publish(5);
    await reads(page, '#says-cascades', 'a late event of LP 7 (PE 0) took KP 0 of PE 1 back');
    expect(complaints).toEqual([]);
    await page.close();
    await live.close();
  });
});
