// The dashboard in headless Chromium over a recording of a million samples of 1,024 KPs and a million traced events:
// time to the first meaningful paint, from a brush to the last answer drawn, from a click that drills down; processor
// time of page and server for a live run of 256 PEs at 10 samples a second; memory of the page; size of its JavaScript;
// and what a page that is open costs a simulation with as many PEs as CPUs. Each beside the most that is wanted.
// Usage: node bench/web.mjs [samples] [seconds of the live run]

import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';
import { FrameEncoder } from '../dist/formats/frames/index.js';
import { LiveBus, startServer } from '../dist/live/index.js';
import { ROSS_EVENT, ROSS_KP, ROSS_PE } from '../dist/model/schemas/ross.js';

const SAMPLES = Number(process.argv[2] ?? 1_000_000);
const SECONDS = Number(process.argv[3] ?? 20);
const CHROMIUM = process.env.TRISCOPE_CHROMIUM ?? '/usr/bin/chromium';
const KPS = 1024;
const PES = 16;
const STEPS = Math.ceil(SAMPLES / KPS);
const PERIOD = 0.1;
const END = STEPS * PERIOD;
const LIVE_PES = 256;
const BRUSHES = 15;

if (!existsSync(CHROMIUM)) {
  console.error('Chromium is not there: npm run setup');
  process.exit(4);
}
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'bench-web-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const ARRAYS = {
  u32: Uint32Array,
  i32: Int32Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
};
/** A batch of `rows`; `set` gives values by key and row, 0 where it says nothing. */
function batch(schema, rows, set) {
  const columns = schema.metrics.map(({ key, cell }) => {
    if (cell === 'label') return new Array(rows).fill(set(key, 0) ?? '');
    const column = new ARRAYS[cell](rows);
    if (cell !== 'u64') for (let row = 0; row < rows; row++) column[row] = set(key, row) ?? 0;
    return column;
  });
  return { schema, length: rows, columns };
}

const wave = (step, entity) => 1 + Math.sin(step / 40 + entity / 7);
const sampleOf = (step, perPe) => (key, row) => {
  const pe = perPe === 1 ? row : Math.floor(row / perPe);
  switch (key) {
    case 'real_time':
      return (step + 1) * PERIOD;
    case 'virtual_time':
    case 'gvt':
    case 'gvt_index':
      return step + 1;
    case 'mode':
      return 'gvt';
    case 'pe_id':
      return pe;
    case 'kp_id':
      return row % perPe;
    case 'events_processed':
      return 100 * wave(step, row);
    case 'events_rolled_back':
      return 20 * wave(step + 20, row);
    case 'events_processed_time':
    case 'rollback_time':
      return 0.02 * wave(step, pe);
    default:
      return undefined;
  }
};

function record() {
  const path = join(folder, 'bench.tri');
  mkdirSync(path);
  const encoder = new FrameEncoder();
  const frames = [];
  for (let step = 0; step < STEPS; step++) {
    frames.push(...encoder.encode(batch(ROSS_KP, KPS, sampleOf(step, KPS / PES))));
    frames.push(...encoder.encode(batch(ROSS_PE, PES, sampleOf(step, 1))));
  }
  const rows = 10_000;
  for (let first = 0; first < SAMPLES; first += rows) {
    const at = (row) => ((first + row) / SAMPLES) * END;
    const event = (key, row) => {
      if (key === 'source_lp') return (first + row * 7919) % 4096;
      if (key === 'destination_lp') return (first + row * 104_729) % 4096;
      if (key === 'real_time') return at(row);
      if (key.startsWith('virtual')) return at(row) * 10 + (key === 'virtual_recv_time' ? 1 : 0);
      return undefined;
    };
    frames.push(...encoder.encode(batch(ROSS_EVENT, rows, event)));
  }
  writeFileSync(join(path, 'extra.frames'), Buffer.concat(frames));
  const zero = '1795245576000000000';
  const files = [{ path: 'extra.frames', format: 'frames' }];
  const host = { name: 'n1', platform: 'linux', arch: 'x64', cpus: PES, cpuModel: '', memory: 1 };
  const recording = {
    version: 1,
    state: 'finished',
    madeBy: { command: ['bench'], triscope: '0', node: '20' },
    started: '2026-11-21T00:00:00Z',
    hosts: [host],
    sources: [{ name: 'sim', files, zero, droppedBytes: 0 }],
    pes: Array.from({ length: PES }, (_, pe) => ({
      pe,
      rank: 0,
      host: 'n1',
      cpu: pe,
      threadId: null,
    })),
  };
  writeFileSync(join(path, 'recording.json'), JSON.stringify(recording));
  return path;
}

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

async function recorded(browser) {
  const path = record();
  const server = await startServer({ recording: path });
  const ask = async (route) => (await fetch(`${server.url}api/${route}`)).arrayBuffer();
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
  tell('first meaningful paint (median of 5)', median(paints), 'ms', 1000);
  await page.waitForTimeout(2000);
  const brushes = [];
  const before = [await rendererSeconds(browser), process.cpuUsage()];
  for (let k = 0; k < BRUSHES; k++) {
    const from = (END * k) / (2 * BRUSHES);
    brushes.push(await settled(page, `location.hash = 'from=${from}&to=${from + END / 4}'`));
  }
  tell(`brush to the last chart drawn (median of ${BRUSHES})`, median(brushes), 'ms', 50);
  const { user, system } = process.cpuUsage(before[1]);
  const pageTime = (1000 * ((await rendererSeconds(browser)) - before[0])) / BRUSHES;
  tell('  of it processor time of the page, all its threads', pageTime, 'ms', null);
  tell('  of it processor time of the server', (user + system) / 1000 / BRUSHES, 'ms', null);
  await page.goto(`${server.url}#view=simulation`);
  await page.waitForTimeout(3000);
  const drills = [];
  for (let k = 0; k < 5; k++) {
    drills.push(await settled(page, `location.hash = 'view=simulation&path=${k}'`));
  }
  tell('drill-down from PEs to the KPs of one (median of 5)', median(drills), 'ms', 200);
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
  await server.close();
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

async function live(browser) {
  const pes = Array.from({ length: LIVE_PES }, (_, pe) => ({
    pe,
    rank: 0,
    host: 'n1',
    cpu: null,
    threadId: null,
  }));
  const bus = new LiveBus({ title: 'live', pes });
  const server = await startServer({ bus });
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  let step = 0;
  // Made beforehand: only what the server does with them is its cost.
  const batches = Array.from({ length: SECONDS * 10 + 200 }, (_, k) =>
    batch(ROSS_PE, LIVE_PES, sampleOf(k, 1)),
  );
  const timer = setInterval(() => bus.publish(batches[step++ % batches.length]), PERIOD * 1000);
  await page.goto(server.url);
  await page.waitForTimeout(5000);
  const renderers = await rendererSeconds(browser);
  const [cpu, begun] = [process.cpuUsage(), performance.now()];
  await page.waitForTimeout(SECONDS * 1000);
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const pageShare = (100 * ((await rendererSeconds(browser)) - renderers)) / seconds;
  tell(`live, 10 Hz × ${LIVE_PES} PEs: the page, of a core`, pageShare, '%', 25);
  tell(
    `live, 10 Hz × ${LIVE_PES} PEs: the server, of a core`,
    (user + system) / 1e4 / seconds,
    '%',
    2,
  );
  clearInterval(timer);
  await page.close();
  await server.close();
}

/** Events a second of a run with as many PEs as CPUs; `browser`: with a page that follows it. */
function simulate(browser) {
  return new Promise((resolve, reject) => {
    const words = `sim run phold --pes=${availableParallelism()} --synch=3 --nlp=256 --lookahead=0.1 --batch=64 --end=600 --engine-stats=gvt,rt --rt-interval=100 --stream=ws --json`;
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
        page = browser.newPage().then(async (one) => {
          await one.goto(url).catch(() => {});
          return one;
        });
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
  const [alone, shown] = [[], []];
  for (let k = 0; k < 3; k++) {
    alone.push(await simulate(null));
    shown.push(await simulate(browser));
  }
  const share = 100 * (1 - Math.max(...shown) / Math.max(...alone));
  tell(`a live page costs ${availableParallelism()} PEs on as many CPUs`, share, '%', null);
}

function size() {
  const assets = join(root, 'dist', 'web', 'assets');
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
  const bytes = scripts.reduce(
    (sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length,
    0,
  );
  tell('JavaScript of the page, gzip', bytes / 1000, 'kB', 150);
}

size();
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
try {
  await recorded(browser);
  await live(browser);
  if (SECONDS > 0) await cost(browser);
} finally {
  await browser.close();
}
console.log(missed === 0 ? 'all as wanted' : `${missed} not as wanted (a busy machine is slower)`);
process.exit(0);
