/** Node's own asynchronous work, marked without a change to the program. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { counts, ended, freshFolder, marked, readers, start } from './pages.ts';

const AUTO = fileURLToPath(new URL('../../dist/region/auto.js', import.meta.url));

const TRISCOPE = fileURLToPath(new URL('../../bin/triscope', import.meta.url));

const command = (text: string) => {
  const path = join(freshFolder(), 'program.mjs');
  writeFileSync(path, text);
  return [process.execPath, '--import', AUTO, path];
};

const SERVER = `
  import { createServer, get } from 'node:http';
  const server = createServer((request, response) => setTimeout(() => response.end('x'), 30));
  await new Promise((resolve) => server.listen(0, resolve));
  const url = 'http://127.0.0.1:' + server.address().port;
`;

describe('--auto', () => {
  it('http: requests, served and made, as spans that overlap', async () => {
    const { seen, page } = await marked(
      command(`${SERVER}
        const one = () => new Promise((resolve) => get(url, (r) => r.resume().on('end', resolve)));
        await Promise.all([one(), one(), one()]);
        server.close();
      `),
      { TRISCOPE_AUTO: 'http' },
    );
    expect(counts(seen)).toEqual({ 'async http.server': 3, 'async http.client': 3 });
    expect(seen.nodes.every(({ async, inside }) => async && inside === 0)).toBe(true);
    expect(seen.nodes[0].seconds).toBeGreaterThan(0.08);
    expect(page.hash[0]).toBe(0);
  });

  it('fetch: also those that fail', async () => {
    const { seen } = await marked(
      command(`${SERVER}
        await Promise.all([0, 1].map(async () => (await fetch(url)).text()));
        server.closeAllConnections();
        server.close();
        await fetch(url).catch(() => {});
      `),
      { TRISCOPE_AUTO: 'fetch' },
    );
    expect(counts(seen)).toEqual({ 'async fetch': 3 });
    expect(seen.nodes[0].inside).toBe(0);
    expect(seen.regions[1].hint).toBe('network');
  });

  it('fs: by callback and by promise', async () => {
    const { seen } = await marked(
      command(`
        import { stat } from 'node:fs';
        import { stat as statLater } from 'node:fs/promises';
        for (let k = 0; k < 10; k++) await new Promise((resolve) => stat('/', resolve));
        for (let k = 0; k < 10; k++) await statLater('/');
        await statLater('/no/such').catch(() => {});
      `),
      { TRISCOPE_AUTO: 'fs' },
    );
    expect(counts(seen)['async fs']).toBeGreaterThanOrEqual(21);
    expect(seen.nodes[0].inside).toBe(0);
    expect(seen.regions[1].hint).toBe('io');
  });

  it('sim: what each PE of a simulation does, as regions', async () => {
    const run = [
      '--import',
      AUTO,
      TRISCOPE,
      'sim',
      'run',
      'phold',
      '--synch=3',
      '--pes=2',
      '--end=2000',
      '--json',
    ];
    const { seen, stdout, stderr, code } = await marked([process.execPath, ...run], {
      TRISCOPE_AUTO: 'sim',
    });
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('Warning')]);
    const { gvtComputations } = JSON.parse(stdout) as { gvtComputations: number };
    const by = counts(seen);
    expect(by['fossil collection']).toBe(2 * gvtComputations);
    expect(by.GVT).toBeGreaterThanOrEqual(by['fossil collection']);
    expect(by['event processing']).toBeGreaterThan(0);
    const rollbacks = Object.entries(by).filter(([path]) => path.endsWith('rollback'));
    expect(rollbacks.length).toBeGreaterThan(0);
    expect(seen.misordered).toBe(0);
    expect(seen.nodes.every(({ inside, async }) => inside === 0 && !async)).toBe(true);
  });

  it('warns of words that it does not know, and does nothing without a page', async () => {
    const { stderr, code } = await marked(command(''), { TRISCOPE_AUTO: 'http,ftp' });
    expect(code).toBe(0);
    expect(stderr).toContain("TRISCOPE_AUTO: no 'ftp'; it is a list of fs, http, fetch, sim");
    const pages = freshFolder();
    const env = { TRISCOPE_REGION_DIR: '', TRISCOPE_AUTO: 'fs,http,fetch' };
    expect(await ended(start(command(''), pages, env))).toMatchObject({ code: 0, stderr: '' });
    expect(readers(pages)).toEqual([]);
  });
});
