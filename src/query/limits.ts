/** What a query may take. */
export interface Limits {
  /** Seconds. */
  readonly timeLimit?: number;
  /** Of intermediate results and values, such as `512MiB`. */
  readonly memory?: string;
  /** Ends it. */
  readonly signal?: AbortSignal;
}
