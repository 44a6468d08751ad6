/** Numbers and short lists as text. */
import {
  counted,
  duration,
  percent,
  shareText,
  short,
  whole,
} from '../../src/model/measures/index.ts';

export { counted, duration, percent, shareText, short, whole };

/** “2.08 GHz”, “10 kB/s”, “3.5 cores”, “17 %”. */
export function withUnit(value: number, unit: string): string {
  if (unit === '%') return percent(value);
  // A unit has one prefix: no “k MiB”.
  if (/^[kMGT]i?B/.test(unit) && Math.abs(value) >= 1000) return `${whole(value)} ${unit}`;
  const text = short(value);
  if (unit === '' || text === '–') return text;
  // A prefix belongs to its unit.
  return /[kMG]$/.test(text) && /^[A-Z]/i.test(unit) ? `${text}${unit}` : `${text} ${unit}`;
}

/** “a, b and c” */
export function listed(texts: readonly string[]): string {
  return texts.length < 2
    ? (texts[0] ?? '')
    : `${texts.slice(0, -1).join(', ')} and ${texts[texts.length - 1]}`;
}

/** Mean of the values that exist; NaN without any. */
export function meanOf(values: ArrayLike<number>): number {
  let [sum, count] = [0, 0];
  for (let k = 0; k < values.length; k++) {
    if (Number.isNaN(values[k])) continue;
    sum += values[k];
    count++;
  }
  return count === 0 ? Number.NaN : sum / count;
}

/** NaN of nothing. */
export function leastOf(values: ArrayLike<number>): number {
  let least = Number.NaN;
  for (let k = 0; k < values.length; k++) {
    if (!Number.isNaN(values[k]) && !(least <= values[k])) least = values[k];
  }
  return least;
}

/** NaN of nothing. */
export function mostOf(values: ArrayLike<number>): number {
  let most = Number.NaN;
  for (let k = 0; k < values.length; k++) {
    if (!Number.isNaN(values[k]) && !(most >= values[k])) most = values[k];
  }
  return most;
}
