/** Columns of a result as rows of plain values: made where they are used, because typed arrays cross threads without a copy. */
import type { Row, Value } from '../model/row.ts';
import type { ColumnBatch } from './column-batches.ts';

/** 64-bit integers that a number holds exactly become numbers. */
export function plain(value: unknown): Value {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value;
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
  }
  return value as Value;
}

/** The values of column number `k`. @param type its SQL type */
function valuesOf({ columns, missing }: ColumnBatch, k: number, type: string): Value[] {
  const column = columns[k];
  let values: Value[];
  if (!ArrayBuffer.isView(column) || isBig(column)) values = Array.from(column, plain);
  else if (type === 'BOOLEAN') values = Array.from(column, (value) => value !== 0);
  else values = Array.from<Value>(column);
  const gone = missing[k];
  if (gone === null) return values;
  for (let row = 0; row < gone.length; row++) if (gone[row] === 1) values[row] = null;
  return values;
}

const isBig = (column: ArrayBufferView): column is BigInt64Array | BigUint64Array =>
  column instanceof BigInt64Array || column instanceof BigUint64Array;

/** A value for each column. */
export function rowsOf(batch: ColumnBatch, types: readonly string[]): Value[][] {
  const columns = types.map((type, k) => valuesOf(batch, k, type));
  return Array.from({ length: batch.rows }, (_, row) => columns.map((values) => values[row]));
}

/** The same as objects; of columns of one name the last counts. */
export function objectsOf(
  batch: ColumnBatch,
  types: readonly string[],
  names: readonly string[],
): Row[] {
  const columns = types.map((type, k) => valuesOf(batch, k, type));
  return Array.from({ length: batch.rows }, (_, row) => {
    const object: Record<string, Value> = {};
    for (let k = 0; k < names.length; k++) {
      if (names[k] === '__proto__') setOwn(object, names[k], columns[k][row]);
      else object[names[k]] = columns[k][row];
    }
    return object;
  });
}

const setOwn = (object: object, name: string, value: Value) =>
  Object.defineProperty(object, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
