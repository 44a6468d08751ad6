/** The page under a run that goes on: it follows, survives its server, and does not grow. */

import { readFileSync, rmSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { LiveBus, type LiveServer, startServer } from 'triscope/live';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { duration } from '../../src/model/measures/index.ts';
import { ROSS_PE, ROSS_ROLLBACK } from '../../src/model/schemas/ross.ts';
import { batch, peBatch, peRow, recording } from '../live/support/samples.ts';
import { executable, reads, Web } from './support/browser.ts';

describe.skipIf(executable === undefined)('a live page (needs chromium: npm run setup)', () => {
  let web: Web;
  const servers: LiveServer[] = [];
  beforeAll(async () => {
    web = await Web.start();
  });
  afterAll(async () => {
    await web?.close();
    for (const server of servers) await server.close();
  });

  async function serve(bus: LiveBus, port = 0): Promise<LiveServer> {
    const server = await startServer({ bus, port });
    servers.push(server);
    return server;
  }

  /** Bins of a lane's CSV in which nothing was measured, between the first and the last that hold something. */
  async function gapsOf(page: Page): Promise<number> {
    const figure = page.locator('[data-figure=events]');
    await figure.locator('summary', { hasText: 'Export' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      figure.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const cells = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(',')[2] !== '');
    return cells.slice(cells.indexOf(true), cells.lastIndexOf(true)).filter((is) => !is).length;
  }

  it('jumps to now after a look back', async () => {
    const bus = new LiveBus({ title: 'a run', pes: [] });
    const server = await serve(bus);
    for (let k = 0; k < 10; k++) bus.publish(peBatch(k));
    const { page, complaints } = await web.open(server.url);
    await page.keyboard.press('w');
    await reads(page, '.state', 'paused');
    const jump = page.getByRole('button', { name: 'Jump to now' });
    expect(await jump.isEnabled()).toBe(true);
    for (let k = 10; k < 20; k++) bus.publish(peBatch(k));
    await jump.click();
    await reads(page, '.state', 'live');
    await reads(page, '[data-facts]', '2 s');
    await page.keyboard.press('f');
    await reads(page, '.state', 'paused');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('says of how many rollbacks its cascades are', async () => {
    const bus = new LiveBus({ title: 'a run', pes: [] });
    const server = await serve(bus);
    for (let k = 0; k < 10; k++) bus.publish(peBatch(k));
    const one = { pe_id: 0, kp_id: 0, events_undone: 5, cause: 'straggler' };
    const rows = [1, 2, 3].map((id) => ({ ...one, rollback_id: id, real_time: id / 10 }));
    bus.publish(batch(ROSS_ROLLBACK, rows));
    const { page, complaints } = await web.open(`${server.url}#view=simulation`);
    await reads(page, '#says-cascades', 'Of the newest 3 rollbacks: 3 cascades');
    expect(complaints).toEqual([]);
    await page.close();
  });

  it('goes on when its server is back, and shows the gap', async () => {
    const facts = { title: 'a run', pes: [], zero: '1795245576000000000' };
    const first = new LiveBus(facts);
    const server = await serve(first);
    for (let k = 0; k < 10; k++) first.publish(peBatch(k));
    const { page } = await web.open(server.url);
    expect(await gapsOf(page)).toBe(0);
    await server.close();
    await reads(page, '.state', 'connection lost');
    expect(await page.textContent('[role=alert]')).toContain('does not answer');
    // The next server shows another recording, too, and knows nothing of samples 10 to 19.
    const more = ['', 'before'].map((id) => ({ id, title: `run ${id}`, live: false }));
    await page.route(/\/api\/recordings/, (route) => route.fulfill({ json: more }));
    const second = new LiveBus(facts);
    await serve(second, server.port);
    for (let k = 20; k < 30; k++) second.publish(peBatch(k));
    await reads(page, '.state', 'live');
    // A third of the run: of 250 bins.
    await expect.poll(() => gapsOf(page)).toBeGreaterThan(60);
    await reads(page, '.switches', 'run before');
    await page.close();
  });

  it('says that another server is there, whose link it needs', async () => {
    const bus = () => new LiveBus({ title: 'a run', pes: [], zero: '1795245576000000000' });
    const first = bus();
    const server = await serve(first);
    for (let k = 0; k < 10; k++) first.publish(peBatch(k));
    const { page } = await web.open(server.url);
    await server.close();
    servers.push(
      await startServer({ bus: bus(), port: server.port, token: 'another-token-than-before' }),
    );
    await reads(page, '[role=alert]', 'restarted');
    await page.close();
  });

  it('says that its recording was removed, and keeps showing it', async () => {
    const folder = recording();
    const server = await startServer({ recording: folder });
    servers.push(server);
    const { page } = await web.open(server.url);
    rmSync(folder, { recursive: true });
    await reads(page, '.state', 'removed');
    expect(await page.textContent('#says-events')).toContain('10.0 k events a second');
    await page.close();
  });

  it('does not grow over 100,000 samples', async () => {
    const bus = new LiveBus({ title: 'a long run', pes: [] });
    const server = await serve(bus);
    const PES = 50;
    const publish = (k: number) =>
      bus.publish(
        batch(
          ROSS_PE,
          Array.from({ length: PES }, (_, pe) => peRow(k, pe)),
        ),
      );
    publish(0);
    publish(1);
    const { page, complaints } = await web.open(server.url);
    const heap = async () => {
      await page.evaluate('gc()');
      const memory = (await page.evaluate('performance.memory.usedJSHeapSize')) as number;
      // Findings come when there is something to find.
      const count = (selector: string) => `document.querySelectorAll('${selector}').length`;
      const nodes = (await page.evaluate(
        `${count('*')} - ${count('[data-findings] *')}`,
      )) as number;
      return { memory, nodes };
    };
    /** Publishes `count` batches from the `from`th, with pauses in which the page draws. */
    const run = async (from: number, count: number) => {
      for (let k = from; k < from + count; k++) {
        publish(k);
        if (k % 50 === 0) await new Promise((done) => setTimeout(done, 10));
      }
      await reads(page, '[data-facts]', duration((from + count) / 10));
    };
    await run(2, 998);
    const before = await heap();
    await run(1000, 2000);
    const after = await heap();
    expect(after.nodes - before.nodes).toBeLessThan(50);
    // 100,000 samples of 35 values of 4 bytes are 14 MB; the buffers that hold them double.
    expect(after.memory - before.memory).toBeLessThan(60e6);
    expect(complaints).toEqual([]);
    await page.close();
  });
});
