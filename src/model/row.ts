/** Rows of results. */

/**
 * A value in a result. 64-bit integers are numbers where a number holds them exactly, bigints beyond; missing is null;
 * lists and structs hold values.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Date
  | Value[]
  | { [key: string]: Value };
export type Row = Readonly<Record<string, Value>>;
