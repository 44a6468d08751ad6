/** The data of a heatmap, its pixels, and the same as SVG. */
import { HATCH_ID, hatch, hatchPattern } from './hatch.ts';
import { hexColour, palette, type Scale, stepOf } from './palettes.ts';

export interface HeatRow {
  /** Its name in address and events; unique. */
  readonly id: string;
  readonly label: string;
  /** By bin; NaN: nothing was measured, drawn as ground. */
  readonly values: ArrayLike<number>;
  /** Why the row, or the bins `from` to `to` (not included) of it, are not to be trusted. Drawn hatched. */
  readonly suspect?: { readonly reason: string; readonly from?: number; readonly to?: number };
}

export interface HeatPicture {
  readonly rows: readonly HeatRow[];
  readonly scale: Scale;
  /** Share 0 … 1 of the width → bin, for axes that are not even in real time. Not given: even. */
  readonly binAt?: (share: number) => number;
}

export const binsOf = ({ rows }: HeatPicture): number => rows[0]?.values.length ?? 0;

/** Bin at a share 0 … 1 of the width. */
export function binAtShare(heat: HeatPicture, share: number): number {
  const count = binsOf(heat);
  const bin = heat.binAt === undefined ? Math.floor(share * count) : Math.floor(heat.binAt(share));
  return Math.max(0, Math.min(count - 1, bin));
}

/**
 * Paints `heat` into a canvas of `width` × `height` CSS pixels at `ratio` pixels each. One pass over the pixels of one
 * line per row; where rows are thinner than a pixel the row with the highest value of a line is drawn: a single
 * bad PE among thousands stays visible.
 */
export function paintHeat(
  canvas: HTMLCanvasElement,
  heat: HeatPicture,
  width: number,
  height: number,
  ratio: number,
  ground: string,
  ink: string,
): void {
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext('2d');
  if (context === null || wide === 0 || high === 0) return;
  context.setTransform(1, 0, 0, 1, 0, 0);
  const { rows, scale } = heat;
  const image = context.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  const table = palette(scale.palette);
  const colours = Uint32Array.from(
    { length: table.length / 3 },
    (_, k) => (255 << 24) | (table[3 * k + 2] << 16) | (table[3 * k + 1] << 8) | table[3 * k],
  );
  const bins = Int32Array.from({ length: wide }, (_, x) => binAtShare(heat, (x + 0.5) / wide));
  const line = new Uint32Array(wide);
  const steps = new Int16Array(wide);
  for (let y = 0; y < high && rows.length > 0; ) {
    const first = Math.floor((y * rows.length) / high);
    const last = Math.max(first, Math.ceil(((y + 1) * rows.length) / high) - 1);
    steps.fill(-1);
    for (let row = first; row <= last && row < rows.length; row++) {
      const { values } = rows[row];
      for (let x = 0; x < wide; x++) {
        const step = stepOf(values[bins[x]], scale);
        if (step > steps[x]) steps[x] = step;
      }
    }
    // A line between rows that are high enough to have one.
    const until =
      last > first ? y + 1 : Math.max(y + 1, Math.ceil(((first + 1) * high) / rows.length));
    const seam = until - y >= 6 * ratio ? Math.round(ratio) : 0;
    for (let x = 0; x < wide; x++) line[x] = steps[x] < 0 ? 0 : colours[steps[x]];
    for (; y < Math.min(until - seam, high); y++) pixels.set(line, y * wide);
    y = Math.max(y, Math.min(until, high));
  }
  context.putImageData(image, 0, 0);
  // Below what was measured: reading pixels back would cost more than painting them.
  context.globalCompositeOperation = 'destination-over';
  context.fillStyle = ground;
  context.fillRect(0, 0, wide, high);
  context.globalCompositeOperation = 'source-over';
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  for (const [left, top, w, h] of hatched(heat, width, height)) {
    hatch(context, left, top, w, h, ink);
  }
}

/** Rectangles of suspect cells. */
function hatched(
  heat: HeatPicture,
  width: number,
  height: number,
): [number, number, number, number][] {
  const each = height / heat.rows.length;
  const count = binsOf(heat);
  return heat.rows.flatMap(({ suspect }, k) => {
    if (suspect === undefined) return [];
    const { from = 0, to = count } = suspect;
    const [left, right] = [from, to].map((bin) => shareOf(heat, bin) * width);
    return [[left, k * each, right - left, each] as [number, number, number, number]];
  });
}

/** Share of the width at which a bin begins. */
function shareOf(heat: HeatPicture, bin: number): number {
  const count = binsOf(heat);
  if (heat.binAt === undefined) return bin / count;
  let [low, high] = [0, 1];
  for (let k = 0; k < 30; k++) {
    const middle = (low + high) / 2;
    if (heat.binAt(middle) < bin) low = middle;
    else high = middle;
  }
  return high;
}

/** The same as SVG elements, each run of one colour a rectangle. */
export function heatSvg(heat: HeatPicture, width: number, height: number, ink: string): string {
  const { rows, scale } = heat;
  const count = binsOf(heat);
  const each = height / Math.max(1, rows.length);
  const edges = Array.from({ length: count + 1 }, (_, bin) => shareOf(heat, bin) * width);
  const number = (value: number) => String(Number(value.toFixed(2)));
  const parts: string[] = [`<defs>${hatchPattern(ink)}</defs>`];
  rows.forEach(({ values }, row) => {
    for (let bin = 0; bin < count; ) {
      const step = stepOf(values[bin], scale);
      let end = bin + 1;
      while (end < count && stepOf(values[end], scale) === step) end++;
      const [left, right] = [edges[bin], edges[end]];
      if (step >= 0 && right > left) {
        parts.push(
          `<rect x="${number(left)}" y="${number(row * each)}" width="${number(right - left)}" height="${number(each)}" fill="${hexColour(step, scale.palette)}"/>`,
        );
      }
      bin = end;
    }
  });
  for (const [left, top, w, h] of hatched(heat, width, height)) {
    parts.push(
      `<rect x="${number(left)}" y="${number(top)}" width="${number(w)}" height="${number(h)}" fill="url(#${HATCH_ID})"/>`,
    );
  }
  return parts.join('');
}
