/** Complete SVG documents: the picture of a canvas as vectors, from the same bins. */

import { escapeText as escaped } from '../../../src/model/markup.ts';

export { escaped };

const HEAD = 48;
const FONT = 'system-ui, "DejaVu Sans", sans-serif';

export const css = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A document of `width` × (48 + `height`) with title, sentence, and `body` moved below them. */
export function svgDocument(
  title: string,
  sentence: string,
  width: number,
  height: number,
  body: string,
): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height + HEAD}" width="${width}" height="${height + HEAD}" font-family="${escaped(FONT)}" role="img">`,
    `<title>${escaped(title)}</title><desc>${escaped(sentence)}</desc>`,
    `<rect width="100%" height="100%" fill="${css('--panel')}"/>`,
    `<text x="12" y="20" font-size="14" font-weight="600" fill="${css('--text')}">${escaped(title)}</text>`,
    `<text x="12" y="38" font-size="12" fill="${css('--quiet')}">${escaped(sentence)}</text>`,
    `<g transform="translate(0 ${HEAD})">${body}</g></svg>\n`,
  ].join('\n');
}
