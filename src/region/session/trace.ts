/** Samples as text: CSV whose header is quoted, numbers as C prints them. */
import { generalText } from '../../formats/geopm/number-text.ts';
import { hashText, rawText } from '../../formats/geopm/values.ts';
import { quotedText } from '../../model/csv.ts';
import type { SignalFormat } from '../signals/provider.ts';
import type { WatchColumn } from './requests.ts';

const DOUBLE_DIGITS = 16;

/**
 * `value` as its signal's format says; `nan` (`NAN` of hashes) where it is absent.
 * @example
 * ```ts
 * import { Platform, valueText } from 'triscope/signals';
 *
 * const platform = Platform.open();
 * const format = platform.info('TIME')?.format;
 * if (format !== undefined) console.log(valueText(1.5, format));
 * platform.close();
 * ```
 */
export function valueText(value: number, format: SignalFormat): string {
  if (format === 'hex') return Number.isNaN(value) ? 'NAN' : hashText(value);
  if (format === 'raw64') return Number.isNaN(value) ? 'NAN' : rawText(value);
  if (Number.isNaN(value)) return 'nan';
  if (format === 'integer') return String(Math.trunc(value));
  return generalText(value, format === 'float' ? 6 : DOUBLE_DIGITS);
}

/**
 * The first line of a trace: names of its columns, without a line's end.
 * @example
 * ```ts
 * import { headerText, Platform, requestedColumns } from 'triscope/signals';
 *
 * const platform = Platform.open();
 * const columns = requestedColumns(platform, [{ signal: 'TIME', domain: 'board', index: '0' }]);
 * console.log(headerText(columns, ','));
 * platform.close();
 * ```
 */
export function headerText(columns: readonly WatchColumn[], delimiter: string): string {
  return `${columns.map(({ name }) => quotedText(name)).join(delimiter)}\n`;
}

/**
 * A line of a trace, without its end: numbers with all their digits, hexadecimal where the signal is; `nan` for what is
 * absent.
 * @example
 * ```ts
 * import { Platform, requestedColumns, rowText } from 'triscope/signals';
 *
 * const platform = Platform.open();
 * const columns = requestedColumns(platform, [{ signal: 'TIME', domain: 'board', index: '0' }]);
 * console.log(rowText(columns, [Number.NaN], '|')); // nan
 * platform.close();
 * ```
 */
export function rowText(
  columns: readonly WatchColumn[],
  values: ArrayLike<number>,
  delimiter: string,
): string {
  return `${columns.map(({ info }, k) => valueText(values[k], info.format)).join(delimiter)}\n`;
}

/**
 * A row as a line of JSON, by the columns' names: absent values are null, hashes text.
 * @example
 * ```ts
 * import { Platform, requestedColumns, rowJson } from 'triscope/signals';
 *
 * const platform = Platform.open();
 * const columns = requestedColumns(platform, [{ signal: 'TIME', domain: 'board', index: '0' }]);
 * console.log(rowJson(columns, [1.5])); // {"TIME":1.5}
 * platform.close();
 * ```
 */
export function rowJson(columns: readonly WatchColumn[], values: ArrayLike<number>): string {
  const cells = columns.map(({ name, info }, k) => {
    const value = values[k];
    if (Number.isNaN(value)) return [name, null];
    const isText = info.format === 'hex' || info.format === 'raw64';
    return [name, isText ? valueText(value, info.format) : value];
  });
  return `${JSON.stringify(Object.fromEntries(cells))}\n`;
}
