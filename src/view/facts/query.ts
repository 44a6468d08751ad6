/** What /api/query takes and gives. Runs in the server and in the page. */

export interface QueryAsked {
  /** One statement that only reads: docs/query.md. */
  readonly sql: string;
  /** Rows at most. */
  readonly limit?: number;
}
