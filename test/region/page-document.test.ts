/** docs/region-page.md says what the layout is. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { E, H, N, R, T } from '../../dist/model/region-layout.js';

const text = readFileSync(
  fileURLToPath(new URL('../../docs/region-page.md', import.meta.url)),
  'utf8',
);

/** Offsets by cell, of the table below a heading. */
function table(heading: string): Record<string, number> {
  const section = text.slice(text.indexOf(`## ${heading}`)).split('\n## ')[0];
  const rows = section.matchAll(/^\| (\d+) \| [^|]+ \| (\w+) \|/gm);
  return Object.fromEntries(Array.from(rows, ([, offset, cell]) => [cell, Number(offset)]));
}

describe('the document of the region page', () => {
  it.each([
    ['Header', H],
    ['Thread slots', T],
    ['Region slots', R],
    ['Nodes', N],
    ['Events', E],
  ])('has every cell of: %s', (heading, cells) => {
    expect(table(heading)).toEqual({ ...cells });
  });
});
