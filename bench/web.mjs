// The dashboard in headless Chromium over a recording of a million samples of 1,024 KPs and a million traced events:
// time to the first meaningful paint, from a brush to the last answer drawn, from a click that drills down; processor
// time of page and server for a live run of 256 PEs at 10 samples a second; memory of the page; size of its JavaScript;
// and what a page that is open costs a simulation with as many PEs as CPUs. Each beside the most that is wanted.
// Usage: node bench/web.mjs [samples] [seconds of the live run] [parts: size,recorded,live,cost]

import { fork, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { endOf, LIVE_PES, record } from './web-samples.mjs';

const SAMPLES = Number(process.argv[2] ?? 1_000_000);
const SECONDS = Number(process.argv[3] ?? 20);
const PARTS = (process.argv[4] ?? 'size,recorded,live,cost').split(',');
const CHROMIUM = process.env.TRISCOPE_CHROMIUM ?? '/usr/bin/chromium';
const END = endOf(SAMPLES);
const BRUSHES = 15;

if (!existsSync(CHROMIUM)) {
  console.error('Chromium is not there: npm run setup');
  process.exit(4);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bench-web-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** A server in a process of its own. */
async function serve(kind, argument) {
  const child = fork(join(root, 'bench', 'web-run.mjs'), [kind, String(argument)]);
  const next = () =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    });
  const { url } = await next();
  const seconds = async () => {
    const answer = next();
    child.send('seconds');
    return (await answer).seconds;
  };
  return { url, seconds, close: () => child.disconnect() };
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
let missed = 0;
function tell(what, value, unit, most) {
  const share = most === null ? '' : `${(value / most).toFixed(2)} of the ${most} ${unit} wanted`;
  if (most !== null && value > most) missed++;
  console.log(
    `${what.padEnd(58)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit.padEnd(4)} ${share}`,
  );
}

/**
 * Milliseconds from `act` until the page has taken its last answer and drawn a frame; quiet for 400 ms is the end.
 * Where it asks for nothing, until the second frame.
 */
const settled = (page, act) =>
  page.evaluate(async (code) => {
    const frame = () =>
      new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
    let last = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { responseEnd } of list.getEntries()) last = Math.max(last, responseEnd);
      void frame()
        .then(frame)
        .then((at) => {
          last = Math.max(last, at);
        });
    });
    observer.observe({ type: 'resource' });
    const begun = performance.now();
    new Function(code)();
    await frame();
    const drawn = await frame();
    do await new Promise((resolve) => setTimeout(resolve, 400));
    while (performance.now() - last < 400);
    observer.disconnect();
    return Math.max(last, drawn) - begun;
  }, act);

/**
 * Milliseconds from a step of a dragged brush until all charts show the new window at its scale, and the frame with
 * them is over. The brush is held in the minimap, from `left` on.
 */
const dragged = (page, to) =>
  page.evaluate(async (share) => {
    const frame = () =>
      new Promise((resolve) => requestAnimationFrame(() => resolve(performance.now())));
    const map = document.querySelector('[data-minimap]');
    const { left, top, width } = map.getBoundingClientRect();
    const shown = () => [...document.querySelectorAll('[data-shown]')].map((e) => e.dataset.shown);
    const before = shown();
    const begun = performance.now();
    map.dispatchEvent(
      new PointerEvent('pointermove', {
        clientX: left + share * width,
        clientY: top + 5,
        bubbles: true,
      }),
    );
    for (;;) {
      await frame();
      const now = shown();
      if (now.every((one, k) => one === now[0] && one !== before[k])) break;
      if (performance.now() - begun > 5000) throw new Error(`not redrawn: ${now}`);
    }
    return { took: (await frame()) - begun, charts: before.length };
  }, to);

/** Address of a route: the link's token is asked for there, too. */
function apiOf(url, route) {
  const address = new URL(`/api/${route}`, url);
  address.searchParams.set('token', new URL(url).searchParams.get('token') ?? '');
  return address;
}

async function recorded(browser) {
  const server = await serve('recorded', record(folder, SAMPLES));
  const ask = async (route) => (await fetch(apiOf(server.url, route))).arrayBuffer();
  await ask('tables');
  await ask('findings');
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, bypassCSP: true });
  const paints = [];
  for (let k = 0; k < 5; k++) {
    await page.goto('about:blank');
    const begun = performance.now();
    await page.goto(server.url);
    await page.waitForSelector('[data-chart=events]');
    paints.push(performance.now() - begun);
  }
  tell('first meaningful paint (median of 5)', median(paints), 'ms', 600);
  await page.waitForTimeout(2000);

  // A hand that drags the brush's end to and fro, past what was shown before, too.
  const map = await page.locator('[data-minimap]').boundingBox();
  await page.mouse.move(map.x + 0.3 * map.width, map.y + 5);
  await page.mouse.down();
  await page.mouse.move(map.x + 0.5 * map.width, map.y + 5, { steps: 3 });
  await page.waitForTimeout(1000);
  const drags = [];
  for (let k = 0; k < 4 * BRUSHES; k++) {
    drags.push(await dragged(page, 0.55 + 0.35 * Math.abs(Math.sin(k / 3 + 0.1))));
  }
  await page.mouse.up();
  tell(
    `brush to repaint of ${drags[0].charts} charts, while it is dragged (median of ${drags.length})`,
    median(drags.map(({ took }) => took)),
    'ms',
    100,
  );
  const brushes = [];
  const before = [await rendererSeconds(browser), await server.seconds()];
  for (let k = 0; k < BRUSHES; k++) {
    const from = (END * k) / (2 * BRUSHES);
    brushes.push(await settled(page, `location.hash = 'from=${from}&to=${from + END / 4}'`));
  }
  tell(
    `  until the window's own bins are drawn everywhere (median of ${BRUSHES})`,
    median(brushes),
    'ms',
    null,
  );
  const pageTime = (1000 * ((await rendererSeconds(browser)) - before[0])) / BRUSHES;
  const serverTime = (1000 * ((await server.seconds()) - before[1])) / BRUSHES;
  tell('  of it processor time of the page, all its threads', pageTime, 'ms', null);
  tell('  of it processor time of the server', serverTime, 'ms', null);
  await page.goto(`${server.url}#view=simulation`);
  await page.waitForTimeout(3000);
  const drills = [];
  for (let k = 0; k < 7; k++) {
    drills.push(await settled(page, `location.hash = 'view=simulation&path=${k}'`));
  }
  tell('drill-down from PEs to the KPs of one (median of 7)', median(drills), 'ms', 100);
  await page.goto(`${server.url}#view=events&events.level=pe`);
  await page.waitForTimeout(3000);
  const lanes = [];
  for (let k = 0; k < 5; k++) {
    const [from, to] = [(END * k) / 20, (END * (k + 10)) / 20];
    const window = `from=${from}&to=${to}`;
    lanes.push(await settled(page, `location.hash = 'view=events&events.level=lp&${window}'`));
  }
  tell('lanes of 4,096 LPs of another window (median of 5)', median(lanes), 'ms', 300);
  await page.goto(`${server.url}#view=overview`);
  await page.waitForSelector('[data-chart=events]');
  await page.waitForTimeout(2000);
  const begun = performance.now();
  const file = page.waitForEvent('download', { timeout: 60_000 });
  await page.getByRole('button', { name: 'Save page' }).click();
  await (await file).path();
  tell('a saved page', performance.now() - begun, 'ms', 5000);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  await session.send('HeapProfiler.collectGarbage');
  tell(
    'memory of the page: JavaScript',
    (await metric(session, 'JSHeapUsedSize')) / 1e6,
    'MB',
    300,
  );
  await page.close();
  server.close();
}

async function metric(session, name) {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find((one) => one.name === name)?.value ?? Number.NaN;
}

/** Processor seconds of the processes that run pages. */
async function rendererSeconds(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo
    .filter(({ type }) => type === 'renderer')
    .reduce((sum, { cpuTime }) => sum + cpuTime, 0);
}

/** Opens a page that Playwright does not drive: it would be told of every message, at the page's and its own cost. */
async function undriven(browser, url) {
  const session = await browser.newBrowserCDPSession();
  const { targetId } = await session.send('Target.createTarget', {
    ...{ url, width: 1280, height: 720, newWindow: true },
  });
  return { close: () => session.send('Target.closeTarget', { targetId }) };
}

async function live(browser) {
  const server = await serve('live', SECONDS + 15);
  const shown = await undriven(browser, server.url);
  await sleep(6000);
  const before = [await rendererSeconds(browser), await server.seconds(), performance.now()];
  await sleep(SECONDS * 1000);
  const seconds = (performance.now() - before[2]) / 1000;
  const page = (100 * ((await rendererSeconds(browser)) - before[0])) / seconds;
  const its = (100 * ((await server.seconds()) - before[1])) / seconds;
  tell(`live, 10 Hz × ${LIVE_PES} PEs: the page, of a core`, page, '%', 20);
  tell(`live, 10 Hz × ${LIVE_PES} PEs: the server, of a core`, its, '%', 2);
  await shown.close();
  server.close();
}

/** Events a second of a run of more than half a minute with as many PEs as CPUs; `browser`: with a page that opens and follows it. */
function simulate(browser) {
  return new Promise((resolve, reject) => {
    const words = `sim run phold --pes=${availableParallelism()} --synch=3 --nlp=256 --lookahead=0.1 --batch=64 --end=700000 --engine-stats=gvt,rt --rt-interval=100 --stream=ws --json`;
    const child = spawn(process.execPath, [join(root, 'bin', 'triscope'), ...words.split(' ')], {
      cwd: folder,
    });
    let [out, err] = ['', ''];
    let page = null;
    child.stdout.on('data', (part) => {
      out += part;
    });
    child.stderr.on('data', (part) => {
      err += part;
      const url = /http:\S+/.exec(err)?.[0];
      if (browser !== null && page === null && url !== undefined) {
        page = undriven(browser, url);
      }
    });
    child.on('exit', async (code) => {
      await (await page)?.close();
      if (code !== 0) return reject(new Error(err));
      resolve(JSON.parse(out).eventRate);
    });
  });
}

async function cost(browser) {
  const shares = [];
  for (let k = 0; k < 3; k++) {
    const alone = await simulate(null);
    shares.push(100 * (1 - (await simulate(browser)) / alone));
  }
  tell(`a live page costs ${availableParallelism()} PEs on as many CPUs`, median(shares), '%', 15);
}

/** What the page loads before a view is opened: the files that index.html names, and what they import. */
function size() {
  const web = join(root, 'dist', 'web');
  const packed = (names) =>
    names.reduce((sum, name) => sum + gzipSync(readFileSync(join(web, name))).length, 0) / 1000;
  const first = [
    ...readFileSync(join(web, 'index.html'), 'utf8').matchAll(/"\/(assets\/[^"]+\.js)"/g),
  ].map(([, name]) => name);
  const all = readdirSync(join(web, 'assets')).filter((name) => name.endsWith('.js'));
  tell('JavaScript of the page as it opens, gzip', packed(first), 'kB', 150);
  tell('  with all views opened', packed(all.map((name) => `assets/${name}`)), 'kB', null);
}

const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
try {
  if (PARTS.includes('size')) size();
  if (PARTS.includes('recorded')) await recorded(browser);
  if (PARTS.includes('live')) await live(browser);
  if (PARTS.includes('cost')) await cost(browser);
} finally {
  await browser.close();
}
console.log(missed === 0 ? 'all as wanted' : `${missed} not as wanted (a busy machine is slower)`);
process.exit(0);
