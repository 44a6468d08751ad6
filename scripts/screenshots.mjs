/**
 * Pictures of every view of the dashboard for docs/images, by headless Chromium:
 *
 *     npm run screenshots              from a fresh demo and two more runs
 *     npm run screenshots -- PATH…     from recordings that are there
 *     ROSS_PHOLD=FILE npm run screenshots    with one of native ROSS on two ranks, another program on CPU 1 from 5 to 9 s
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { startServer } from '../dist/live/index.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OUT = join(ROOT, 'docs', 'images');
const PROGRAM = join(ROOT, 'bin', 'triscope');
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 800 };

/** Name of the picture, address, size, colours. */
const PICTURES = [
  ['dashboard', 'view=overview', WIDE, 'light'],
  ['dashboard-dark', 'view=overview&axis=virtual', WIDE, 'dark'],
  ['dashboard-timeline', 'view=timeline', { width: 1280, height: 420 }, 'light'],
  ['dashboard-simulation', 'view=simulation', { width: 1280, height: 1400 }, 'light'],
  ['dashboard-events', 'view=events&recording=second', WIDE, 'light'],
  ['dashboard-regions', 'view=regions', { width: 1280, height: 1000 }, 'light'],
  ['dashboard-nodes', 'view=nodes', { width: 1280, height: 1000 }, 'light'],
  ['dashboard-compare', 'view=compare&compare=demo-one', { width: 1280, height: 1000 }, 'light'],
  [
    'dashboard-animation',
    'view=animation&recording=animated',
    { width: 1280, height: 900 },
    'light',
  ],
  ['dashboard-narrow', 'view=overview', NARROW, 'light'],
];

/** A demo on two threads and on one, a run with its events traced, and one with frames. */
function recorded(folder) {
  const run = (...args) => {
    const { status } = spawnSync(process.execPath, [PROGRAM, ...args], {
      cwd: folder,
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0) throw new Error(`triscope ${args.join(' ')} ended with ${status}`);
  };
  run('demo', '--no-wait');
  run(
    ...['sim', 'run', 'phold', '--pes=2', '--synch=3', '--end=300', '--engine-stats=gvt'],
    ...['--kp-data=1', '--event-trace=1', '--record=second.tri'],
  );
  run(
    ...['sim', 'run', 'pcs', '--width=24', '--height=24', '--end=200', '--animate=100'],
    '--record=animated.tri',
  );
  return ['demo', 'demo-one', 'second', 'animated'].map((name) => join(folder, `${name}.tri`));
}

/** PHOLD of ROSS, of this name in the environment, on two ranks for about 15 s, while another program uses CPU 1. */
async function recordedRoss(folder) {
  const root = { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };
  const env = { ...process.env, ...root, XDG_CACHE_HOME: join(folder, 'cache') };
  const shims = [PROGRAM, 'region', 'build-shims', 'mpi'];
  if (spawnSync(process.execPath, shims, { env, stdio: ['ignore', 2, 2] }).status !== 0)
    throw new Error('the MPI shim cannot be built');
  const options = ['--synch=3', '--nlp=512', '--lookahead=0.1', '--extramem=100000'];
  const samples = ['--end=32000', '--engine-stats=2', '--rt-interval=100'];
  const ranks = ['mpirun', '-np', '2', '--bind-to', 'core', process.env.ROSS_PHOLD];
  const words = [PROGRAM, 'record', '-o', 'phold', '--', ...ranks, ...options, ...samples];
  const run = spawn(process.execPath, words, { cwd: folder, env, stdio: ['ignore', 2, 2] });
  const ended = new Promise((resolve) => run.on('close', resolve));
  await sleep(5000);
  const hog = spawn('taskset', ['-c', '1', 'sh', '-c', 'while :; do :; done']);
  await sleep(4000);
  hog.kill('SIGKILL');
  const code = await ended;
  if (code !== 0) throw new Error(`${process.env.ROSS_PHOLD} ended with ${code}`);
  return join(folder, 'phold.tri');
}

/** Waits until nothing is asked for, now and a moment later. */
async function settled(page) {
  for (let quiet = 0, left = 300; quiet < 2 && left > 0; left--) {
    quiet = (await page.locator('[aria-busy=true]').count()) > 0 ? 0 : quiet + 1;
    await page.waitForTimeout(200);
  }
}

async function main() {
  const executablePath = process.env.TRISCOPE_BROWSER ?? BROWSERS.find(existsSync);
  if (executablePath === undefined) throw new Error('no Chromium: npm run setup');
  const folder = mkdtempSync(join(tmpdir(), 'triscope-pictures-'));
  const paths = process.argv.length > 2 ? process.argv.slice(2) : recorded(folder);
  const pictures = [...PICTURES];
  if (process.env.ROSS_PHOLD !== undefined) {
    paths.push(await recordedRoss(folder));
    const tall = { width: 1280, height: 1640 };
    pictures.push(['record-ross', 'view=overview&recording=phold', tall, 'light']);
  }
  const server = await startServer({ recordings: paths });
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  mkdirSync(OUT, { recursive: true });
  try {
    for (const [name, hash, viewport, colorScheme] of pictures) {
      const page = await browser.newPage({ viewport, colorScheme });
      await page.goto(`${server.url.replace(/#.*/, '')}#${hash}`);
      await page.waitForSelector('main [data-figure]', { timeout: 60_000 });
      if (hash.includes('overview')) await page.waitForSelector('[data-finding]');
      await settled(page);
      const path = join(OUT, `${name}.png`);
      await page.screenshot({ path });
      process.stderr.write(`${path}\n`);
      await page.close();
    }
  } finally {
    await browser.close();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
process.exit(0);
