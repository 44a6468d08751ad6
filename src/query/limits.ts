/** Limits of a query. */
export interface Limits {
  /** Seconds that it may take. */
  readonly timeLimit?: number;
  /** Memory for intermediate results and values, such as `512MiB`. */
  readonly memory?: string;
  /** Ends the query. */
  readonly signal?: AbortSignal;
}
