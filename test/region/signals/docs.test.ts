import { readFileSync } from 'node:fs';
import { ALL_PROVIDERS, SIGNAL_DOMAINS } from 'triscope/signals';
import { describe, expect, it } from 'vitest';
// @ts-expect-error: a script without types
import { signalsPage } from '../../../scripts/signals-doc.mjs';

const page = new URL('../../../docs/signals.md', import.meta.url);

describe('docs/signals.md', () => {
  it('says what the providers declare (node scripts/signals-doc.mjs writes it)', () => {
    expect(readFileSync(page, 'utf8')).toBe(signalsPage());
  });
});

describe('the declarations', () => {
  const all = ALL_PROVIDERS.flatMap(({ declares }) => declares);

  it('are each of one name', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  });

  it('have a description that is a sentence, and a domain of ours', () => {
    for (const { description, domain } of all) {
      expect(description).toMatch(/^[A-Z].+[^.]$/);
      expect(SIGNAL_DOMAINS).toContain(domain);
    }
  });
});
