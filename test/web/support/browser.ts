/** One Chromium for the tests of a file, and pages that say what they complain about. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
// Servers of a test, one after the other on a port, have one token.
import '../../live/support/token.ts';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
export const executable: string | undefined =
  process.env.TRISCOPE_BROWSER ?? BROWSERS.find(existsSync);

/**
 * What Chromium starts with each window and no test looks at: two pages of suggestions below the address bar (about a
 * second of a CPU a window). The flag replaces playwright's own: those of its features that concern a page stay off.
 */
const WITHOUT = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'AimEnabled', 'LensOverlay', 'MediaRouter'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'PreconnectToSearch', 'PaintHolding'],
  ...['HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable', 'DestroyProfileOnBrowserClose'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'AvoidCorsURLLoaderRestartOnRedirect'],
  'ThirdPartyStoragePartitioning',
];

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

export interface OpenOptions {
  readonly scheme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  /** What must be there before the page is given back. */
  readonly until?: string;
}

export interface OpenPage {
  readonly page: Page;
  /** Errors and warnings of the page's console, and what its scripts threw. */
  readonly complaints: readonly string[];
}

export class Web {
  private readonly browser: Browser;
  /** By what they look like: pages of one have the scripts compiled that others have loaded. */
  private readonly contexts = new Map<string, Promise<BrowserContext>>();

  private constructor(browser: Browser) {
    this.browser = browser;
  }

  static async start(): Promise<Web> {
    // Without it Chromium keeps few canvases on slow machines.
    const args = ['--no-sandbox', '--disable-dev-shm-usage', '--js-flags=--expose-gc'];
    args.push(`--disable-features=${WITHOUT.join(',')}`);
    return new Web(await chromium.launch({ executablePath: executable, args }));
  }

  async context(options: OpenOptions = {}): Promise<BrowserContext> {
    const { scheme = 'light', width = 1280, height = 720 } = options;
    const context = await this.browser.newContext({
      colorScheme: scheme,
      viewport: { width, height },
      acceptDownloads: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    context.setDefaultTimeout(120_000);
    return context;
  }

  private known(options: OpenOptions): Promise<BrowserContext> {
    const { scheme, width, height } = options;
    const name = JSON.stringify([scheme, width, height]);
    const context = this.contexts.get(name) ?? this.context(options);
    this.contexts.set(name, context);
    return context;
  }

  async open(url: string, options: OpenOptions = {}): Promise<OpenPage> {
    const page = await (await this.known(options)).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        complaints.push(`${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(url);
    await page.waitForSelector(options.until ?? '[data-chart] canvas');
    return { page, complaints };
  }

  close(): Promise<void> {
    return this.browser.close();
  }
}

/** Waits until an element's text contains `expected`. */
export const reads = (page: Page, selector: string, expected: string): Promise<void> =>
  expect.poll(() => page.textContent(selector)).toContain(expected);

/** What keeps some people from using the page, as axe finds it: rule and element. */
export async function barriers(page: Page): Promise<string[]> {
  // The page's policy lets no script in; the browser itself may.
  if ((await page.evaluate('typeof axe')) === 'undefined')
    await page.evaluate(`${readFileSync(AXE, 'utf8')}; 0`);
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`);
}

/** A picture of the page, once two in a row are the same. */
export async function still(page: Page): Promise<Buffer> {
  for (let last = await page.screenshot(); ; ) {
    const next = await page.screenshot();
    if (next.equals(last)) return next;
    last = next;
  }
}

/** Steps of 255 by which Chromium's own painting of an edge differs, as it paints a part of a page or all of it. */
const EDGE = 3;

/** Whether two screenshots show the same to whoever looks at them. */
export function isSamePicture(page: Page, one: Buffer, other: Buffer): Promise<boolean> {
  const texts = JSON.stringify([one, other].map((bytes) => bytes.toString('base64')));
  return page.evaluate(`(async () => {
    const [a, b] = await Promise.all(${texts}.map(async (text) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes]));
      const pen = new OffscreenCanvas(image.width, image.height).getContext('2d');
      pen.drawImage(image, 0, 0);
      return pen.getImageData(0, 0, image.width, image.height);
    }));
    if (a.width !== b.width || a.height !== b.height) return false;
    return a.data.every((value, k) => Math.abs(value - b.data[k]) <= ${EDGE});
  })()`);
}

/** Nothing is under way: no request now and a moment later. */
export async function settled(page: Page): Promise<void> {
  const busy = () => page.locator('[aria-busy=true]').count();
  const twice = async () => {
    const now = await busy();
    await page.waitForTimeout(150);
    return now + (await busy());
  };
  await expect.poll(twice).toBe(0);
  // Canvases are painted in the next frames.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  );
}

/** Opens the table of what a figure draws: its rows' cells. */
export async function tableOf(page: Page, figure: string): Promise<string[][]> {
  const numbers = page.locator(`[data-figure="${figure}"] details.numbers`);
  await numbers.locator('> summary').click();
  const rows = numbers.locator('tbody tr');
  // They are made when they are looked at: after the click, not in it.
  await rows.first().waitFor();
  return rows.evaluateAll((found) =>
    found.map((row) => [...row.querySelectorAll('th, td')].map((cell) => cell.textContent.trim())),
  );
}

/** What a click on `button` of a figure's menu downloads. */
export async function exported(
  page: Page,
  figure: string,
  kind: 'PNG' | 'SVG' | 'CSV',
): Promise<{ name: string; bytes: Buffer }> {
  const frame = page.locator(`[data-figure="${figure}"]`);
  await frame.locator('summary', { hasText: 'Export' }).click();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    frame.getByRole('button', { name: kind, exact: true }).click(),
  ]);
  return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
}
