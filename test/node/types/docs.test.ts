/** docs/node/types.md is what the declarations say. */
import { readFileSync } from 'node:fs';
import { NODE_TYPES } from 'triscope/node';
import { expect, it } from 'vitest';

interface Generator {
  typesPage(): string;
}

it('docs/node/types.md is up to date: node scripts/node-types-doc.mjs makes it', async () => {
  const script = new URL('../../../scripts/node-types-doc.mjs', import.meta.url).href;
  const { typesPage } = (await import(script)) as Generator;
  const page = readFileSync(new URL('../../../docs/node/types.md', import.meta.url), 'utf8');
  expect(page).toBe(typesPage());
  for (const { name } of NODE_TYPES) expect(page).toContain(`\n## ${name}\n`);
});

it('declarations are complete: help, device, source, and a sentence per key', () => {
  for (const { name, help, device, source, metrics } of NODE_TYPES) {
    const texts = [help, device, source, ...metrics.map((metric) => metric.help)];
    expect([name, texts.filter((text) => text.trim() === '')]).toEqual([name, []]);
    expect(metrics.length).toBeGreaterThan(0);
  }
});
