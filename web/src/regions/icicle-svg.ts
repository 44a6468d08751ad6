/** The icicle, or `upwards` the flame graph, as an SVG document. */
import { coordinate } from '../parts/coordinate.ts';
import { css, escaped, svgDocument } from '../parts/svg.ts';
import type { Piece } from './icicle.ts';

const WIDE = 900;
const EDGE = 12;
const ROW = 26;
const PER_LETTER = 6.4;

export function icicleSvg(
  title: string,
  sentence: string,
  pieces: readonly Piece[],
  colour: (name: string) => string,
  upwards = false,
): string {
  const depth = pieces.reduce((most, piece) => Math.max(most, piece.depth), 0) + 1;
  const scale = WIDE - 2 * EDGE;
  const parts = pieces.map(({ path, name, depth: level, left, width }) => {
    const x = coordinate(EDGE + left * scale);
    const y = (upwards ? depth - 1 - level : level) * ROW;
    const wide = width * scale;
    const fill = path.length === 0 ? css('--quiet') : colour(path[0]);
    const text = name.slice(0, Math.max(0, Math.floor((wide - 8) / PER_LETTER)));
    return [
      `<rect x="${x}" y="${y}" width="${coordinate(wide)}" height="${ROW - 2}" fill="${fill}" fill-opacity="${path.length === 0 ? 0.22 : Math.max(0.14, 0.46 - 0.1 * (path.length - 1))}" stroke="${css('--panel')}"/>`,
      text === ''
        ? ''
        : `<text x="${coordinate(EDGE + left * scale + 4)}" y="${y + 16}" font-size="12" fill="${css('--text')}">${escaped(text)}</text>`,
    ].join('');
  });
  return svgDocument(title, sentence, WIDE, depth * ROW, parts.join('\n'));
}
