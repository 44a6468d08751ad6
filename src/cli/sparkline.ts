/** A row of values as a row of blocks. */

const BLOCKS = '▁▂▃▄▅▆▇█';

/** Means of `width` stretches of equal length; NaN where one has no value. */
function stretches(values: ArrayLike<number>, width: number): number[] {
  if (values.length <= width) return Array.from(values);
  return Array.from({ length: width }, (_, k) => {
    const from = Math.floor((k * values.length) / width);
    const to = Math.floor(((k + 1) * values.length) / width);
    let sum = 0;
    let count = 0;
    for (let i = from; i < to; i++) {
      if (Number.isNaN(values[i])) continue;
      sum += values[i];
      count++;
    }
    return count === 0 ? Number.NaN : sum / count;
  });
}

/** At most `width` characters, from 0 to `top`; a blank where a value is missing. */
export function sparkline(values: ArrayLike<number>, top: number, width = 60): string {
  const last = BLOCKS.length - 1;
  return stretches(values, width)
    .map((value) => {
      if (Number.isNaN(value)) return ' ';
      const share = top > 0 ? value / top : 0;
      return BLOCKS[Math.min(last, Math.max(0, Math.round(share * last)))];
    })
    .join('');
}
