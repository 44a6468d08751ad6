/** Names that mean something to HTML, JavaScript and terminals: every view of the page shows them as text, and runs none. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServer } from 'triscope/live';
import { describe, expect, it } from 'vitest';
import { recordingWith } from '../fuzz/named-recording.ts';
import { TOKEN } from '../live/support/token.ts';
import { executable, settled, Web } from './support/browser.ts';

const SCRIPT = '"><img src=x onerror=window.hacked=1><script>window.hacked=1</script>{{hacked=1}}';
const VIEWS = ['overview', 'simulation', 'regions', 'nodes', 'events', 'sql', 'compare'];

describe.skipIf(executable === undefined)('hostile names (needs chromium: npm run setup)', () => {
  it('are text wherever the page shows them', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'web-names-'));
    const paths = [SCRIPT, `__proto__\u202ea\u001b[2Jb\u0000${'x'.repeat(5000)}`].map((name, k) =>
      recordingWith(name, join(folder, `${k}.tri`)),
    );
    const server = await startServer({ recording: paths[0], recordings: paths.slice(1) });
    const web = await Web.start();
    try {
      const { page, complaints } = await web.open(`${new URL(server.url).origin}/?token=${TOKEN}`);
      const seen: string[] = [];
      for (const [k] of paths.entries()) {
        for (const view of k === 0 ? VIEWS : ['overview', 'nodes']) {
          await page.evaluate(`location.hash = 'view=${view}&recording=${k}'`);
          await settled(page);
          seen.push(`${await page.textContent('body')}`);
        }
      }
      expect(await page.evaluate('[typeof window.hacked, typeof window.polluted]')).toEqual([
        'undefined',
        'undefined',
      ]);
      expect(await page.locator('img[src=x], body script:not([src])').count()).toBe(0);
      // A host of such a name has no jobs: the browser itself notes that the question was refused.
      const thrown = complaints.filter((line) => !/^Failed to load resource: .* 400 /.test(line));
      expect(thrown).toEqual([]);
      expect(seen.filter((text) => text.includes('<img src=x onerror=')).length).toBeGreaterThan(1);
    } finally {
      await web.close();
      await server.close();
      rmSync(folder, { recursive: true });
    }
  });
});
