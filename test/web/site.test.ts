/** The documentation site that `npm run docs` has built, opened from its files. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { barriers, executable, Web } from './support/browser.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { name, version, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  name: string;
  version: string;
  exports: Record<string, unknown>;
};
const SITE = join(ROOT, 'site', version);
const isBuilt = existsSync(join(SITE, 'index.html'));
const at = (path: string) => pathToFileURL(join(SITE, path)).href;

const pages = isBuilt
  ? readdirSync(SITE, { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.html'),
    )
  : [];
/** One page of each kind, and the longest. */
const SAMPLE = [
  ...[
    'index.html',
    'modules.html',
    'modules/triscope_sim.html',
    'functions/triscope_sim.simulate.html',
  ],
  ...[
    'classes/triscope_node.Daemon.html',
    'documents/The_command_line.html',
    'documents/Glossary.html',
  ],
];

describe.skipIf(!isBuilt || executable === undefined)('the site (needs npm run docs)', () => {
  let web: Web;
  beforeAll(async () => {
    web = await Web.start();
  });
  afterAll(() => web.close());

  it('has a heading and a text on every page', () => {
    const empty = pages.filter((path) => {
      const html = readFileSync(join(SITE, path), 'utf8');
      const content = html.slice(html.indexOf('class="col-content"'));
      const text = content.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
      return !/<h[12]/.test(content) || text.length < 80 || text.includes('[object Object]');
    });
    expect(pages.length).toBeGreaterThan(200);
    expect(empty).toEqual([]);
  });

  it('names modules as programs import them, each with what it is for', () => {
    const named = Object.entries(exports).flatMap(([path, to]) =>
      typeof to === 'string' || path.endsWith('/auto') ? [] : [path.replace('.', name)],
    );
    expect(pages.filter((path) => path.startsWith('modules/')).sort()).toEqual(
      named.map((path) => `modules/${path.replaceAll('/', '_')}.html`).sort(),
    );
    for (const path of named) {
      const html = readFileSync(join(SITE, `modules/${path.replaceAll('/', '_')}.html`), 'utf8');
      expect(html).toContain(`<h1>Module ${path}</h1>`);
      expect(html).toMatch(/class="tsd-comment tsd-typography"><p>[A-Z]/);
    }
  });

  it('lists documents by what one wants when one opens them', async () => {
    const { page } = await web.open(at('modules.html'), { until: 'h1, h2' });
    for (const group of ['Start', 'Tutorials', 'How to', 'Reference', 'Explanation']) {
      await page.locator('.col-content').getByRole('heading', { name: group }).first().waitFor();
    }
    expect(await page.getByRole('heading', { name: 'Documents' }).count()).toBe(0);
  });

  it.each(['light', 'dark'] as const)(
    'keeps nobody out: %s',
    async (scheme) => {
      const { page } = await web.open(at('index.html'), { scheme, until: 'h1, h2' });
      const found: string[] = [];
      for (const path of SAMPLE) {
        expect(pages).toContain(path);
        await page.goto(at(path));
        for (const barrier of await barriers(page)) found.push(`${path}: ${barrier.slice(0, 300)}`);
      }
      expect(found).toEqual([]);
    },
    240_000,
  );

  it('fits a narrow screen: tables and code scroll by themselves', async () => {
    const { page } = await web.open(at('index.html'), { width: 420, until: 'h1, h2' });
    const wide: string[] = [];
    for (const path of ['documents/Performance.html', 'documents/Signals.html', ...SAMPLE]) {
      await page.goto(at(path));
      const over = (await page.evaluate(
        'document.documentElement.scrollWidth - innerWidth',
      )) as number;
      if (over > 0) wide.push(`${path}: ${over} px`);
    }
    expect(wide).toEqual([]);
  });

  it('finds an export by its name', async () => {
    const { page } = await web.open(at('index.html'), { until: 'h1, h2' });
    await page.keyboard.press('/');
    await page.keyboard.type('defineModel');
    const first = page.locator('#tsd-search-results a').first();
    await first.waitFor();
    expect(await first.getAttribute('href')).toContain('defineModel');
  });

  it('finds a document by a word in it', async () => {
    const { page } = await web.open(at('documents/Glossary.html'), { until: 'h1, h2' });
    await page.keyboard.press('/');
    await page.keyboard.type('cancelback');
    await page.locator('#tsd-search-results a[href*="documents/Glossary.html"]').first().waitFor();
  });

  it.each(['index.html', 'documents/Glossary.html'])(
    'leads from %s to the versions',
    async (path) => {
      const { page } = await web.open(at(path), { until: 'h1, h2' });
      await page.getByRole('link', { name: 'Versions' }).first().click();
      await page.getByRole('link', { name: version }).click();
      await page.waitForURL(at('index.html'));
    },
  );
});
