/** Rows of results. */

/**
 * A value in a result. 64-bit integers are numbers where a number holds them exactly, bigints beyond; missing is null;
 * times, intervals and bytes are DuckDB's text of them, with all digits; lists and structs hold values.
 */
export type Value = null | boolean | number | bigint | string | Value[] | { [key: string]: Value };
/** A row of a result by names of columns. */
export type Row = Readonly<Record<string, Value>>;
