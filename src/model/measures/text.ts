/** Numbers of measures as text, formatted the same everywhere. */
import { DAY_SECONDS } from '../units.ts';

/** 12.3 as “12 %”, 1.23 as “1.2 %”, 99.43 as “99.4 %”, 0.001 as “less than 0.1 %”; “–” for what was not measured. */
export function percent(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return '–';
  if (value > 0 && value < 0.05) return 'less than 0.1 %';
  const isNear = (end: number) => value !== end && Math.abs(value - end) < 9.95;
  const digits = isNear(0) || isNear(100) ? 1 : 0;
  const text = Math.abs(value).toFixed(digits).replace(/\.0$/, '');
  return `${value < 0 && text !== '0' ? '−' : ''}${text} %`;
}

/** A change in per cent, with its sign: “+12.3 %”; one below 10 % with two digits. */
export const signedPercent = (percent: number): string =>
  `${percent > 0 ? '+' : ''}${percent.toFixed(Math.abs(percent) < 10 ? 2 : 1)} %`;

/** A share as per cent: 0.123 as “12 %”; “–” for what was not measured. */
export const shareText = (share: number | null): string =>
  percent(share === null ? null : 100 * share);

/** 1234567 as “1,234,567”. */
export const whole = (count: number): string => Math.round(count).toLocaleString('en-US');

/** “1 event”, “1,234 events”. */
export const counted = (count: number, noun: string): string =>
  `${whole(count)} ${noun}${Math.round(count) === 1 ? '' : 's'}`;

const PREFIXES = [
  [1e9, ' G'],
  [1e6, ' M'],
  [1e3, ' k'],
] as const;

/** 1234567 as “1.23 M”, 12.3 as “12”, 1.23 as “1.2”; with `digits` 12.3 as “12.3”; “–” for what was not measured. */
export function short(value: number, { digits = false } = {}): string {
  if (!Number.isFinite(value)) return '–';
  const [factor, prefix] = PREFIXES.find(([least]) => Math.abs(value) >= least) ?? [1, ''];
  if (digits) return `${Number((value / factor).toPrecision(3))}${prefix}`;
  if (factor > 1) return `${(value / factor).toPrecision(3)}${prefix}`;
  return Math.abs(value) >= 10 || value === 0 ? value.toFixed(0) : value.toPrecision(2);
}

const two = (value: number): string => String(value).padStart(2, '0');

/** Days from which on lengths are given in days, without seconds. */
const DAYS = 2;

/** 0.00453 as “4.53 ms”, 12.34 as “12.3 s”, 135 as “2:15 min”, 8257 as “2:17:37 h”, 2591400 as “29 d 23:50 h”; “–” for what was not measured. */
export function duration(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return '–';
  const size = Math.abs(seconds);
  const figure = (value: number) => String(Number(value.toPrecision(3)));
  if (size === 0) return '0 s';
  if (size < 0.9995e-3) return `${figure(seconds * 1e6)} µs`;
  if (size < 0.9995) return `${figure(seconds * 1e3)} ms`;
  if (size < 59.95) return `${figure(seconds)} s`;
  const whole = Math.round(size);
  const sign = seconds < 0 ? '−' : '';
  if (whole >= DAYS * DAY_SECONDS) {
    const all = Math.round(whole / 60);
    return `${sign}${Math.floor(all / 1440)} d ${Math.floor((all % 1440) / 60)}:${two(all % 60)} h`;
  }
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0
    ? `${sign}${hours}:${two(minutes)}:${two(whole % 60)} h`
    : `${sign}${minutes}:${two(whole % 60)} min`;
}

const DECIMAL = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/**
 * 1234567 as “1.23 MB”; with `binary` as “1.18 MiB”; “–” for what was not measured. A GB is 10^9 bytes, as of files and
 * networks; a GiB 2^30, as of memory: neither is used under the other’s name.
 */
export function bytes(count: number | null, { binary = false } = {}): string {
  if (count === null || !Number.isFinite(count)) return '–';
  const [base, units] = binary ? [1024, BINARY] : [1000, DECIMAL];
  let [value, k] = [count, 0];
  while (Math.abs(value) >= (k === 0 ? base : base * 0.9995) && k < units.length - 1) {
    value /= base;
    k++;
  }
  return `${k === 0 ? Math.round(value) : Number(value.toPrecision(3))} ${units[k]}`;
}
