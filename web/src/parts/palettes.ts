/**
 * Colours for magnitudes. Viridis and cividis (matplotlib's, CC0) and a diverging palette, each by a few of their colours
 * with linear interpolation. Categories have the style sheet's --c0 … --c7 (after Okabe and Ito).
 */

export type PaletteName = 'viridis' | 'cividis' | 'diverging';

/** Colours at equal distances. */
const ANCHORS: Readonly<Record<PaletteName, string>> = {
  viridis: '440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725',
  cividis: '00224e 0d346b 35456c 575d6d 6c6e72 7f7c75 948e77 aba074 c5b56c e1cc55 fee838',
  // From less (blue) through none to more (orange-red).
  diverging: '053061 2166ac 4393c3 92c5de d1e5f0 f4f4f2 fddbc7 f4a582 d6604d b2182b 67001f',
};

/** Number of steps of a palette. */
export const STEPS = 256;

function colours(name: PaletteName): Uint8Array {
  const anchors = ANCHORS[name].split(' ').map((hex) => Number.parseInt(hex, 16));
  const part = (colour: number, shift: number) => (colour >> shift) & 255;
  const table = new Uint8Array(3 * STEPS);
  for (let k = 0; k < STEPS; k++) {
    const at = (k / (STEPS - 1)) * (anchors.length - 1);
    const left = Math.min(Math.floor(at), anchors.length - 2);
    [16, 8, 0].forEach((shift, c) => {
      const [a, b] = [part(anchors[left], shift), part(anchors[left + 1], shift)];
      table[3 * k + c] = Math.round(a + (at - left) * (b - a));
    });
  }
  return table;
}

const made = new Map<PaletteName, Uint8Array>();

/** Red, green and blue of each step. */
export function palette(name: PaletteName): Uint8Array {
  let table = made.get(name);
  if (table === undefined) {
    table = colours(name);
    made.set(name, table);
  }
  return table;
}

/** How values are mapped to steps of a palette. */
export interface Scale {
  readonly palette: PaletteName;
  /** Values of the first and the last colour. A diverging scale has -x and x. */
  readonly least: number;
  readonly most: number;
  /** Equal ratios are equal steps; values of 0 and below have the first colour. */
  readonly log?: boolean;
}

/** Step of a value, 0 to 255; -1 for none (NaN). */
export function stepOf(value: number, { least, most, log = false }: Scale): number {
  if (Number.isNaN(value)) return -1;
  let share = (value - least) / (most - least);
  if (log) {
    const low = least > 0 ? least : most / 1e4;
    share = value <= low ? 0 : Math.log(value / low) / Math.log(most / low);
  }
  // If there is only one value, the middle.
  if (Number.isNaN(share)) share = most === 0 ? 0 : 0.5;
  return Math.max(0, Math.min(STEPS - 1, Math.round(share * (STEPS - 1))));
}

export function cssColour(step: number, name: PaletteName): string {
  const table = palette(name);
  return `rgb(${table[3 * step]} ${table[3 * step + 1]} ${table[3 * step + 2]})`;
}

/** The same in all of an SVG document. */
export function hexColour(step: number, name: PaletteName): string {
  const table = palette(name);
  const hex = (k: number) => table[3 * step + k].toString(16).padStart(2, '0');
  return `#${hex(0)}${hex(1)}${hex(2)}`;
}

/** A scale over all values of rows: from 0, or the least value, to the greatest; diverging scales are symmetric about 0. */
export function scaleOf(
  rows: readonly ArrayLike<number>[],
  name: PaletteName = 'viridis',
  log = false,
): Scale {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const row of rows) {
    for (let k = 0; k < row.length; k++) {
      const value = row[k];
      if (value < least && (!log || value > 0)) least = value;
      if (value > most) most = value;
    }
  }
  if (!(most >= least)) return { palette: name, least: 0, most: 0, log };
  if (name === 'diverging') {
    const far = Math.max(Math.abs(least), Math.abs(most));
    return { palette: name, least: -far, most: far };
  }
  return { palette: name, least: log ? least : Math.min(0, least), most, log };
}
