/** What /api/query takes and gives. Runs in the server and in the page. */

export interface QueryAsked {
  /** One statement that only reads: docs/query.md. */
  readonly sql: string;
  /** Rows at most. */
  readonly limit?: number;
}

/** A cell: integers beyond 2^53, and times, as text; missing is null. */
export type QueryCell = null | boolean | number | string | readonly unknown[] | object;

export interface QueryAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly QueryCell[])[];
  /** Whether there are more rows than these. */
  readonly more: boolean;
}
