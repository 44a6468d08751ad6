/**
 * Where a daemon's record groups go besides the log: a publisher to a broker, an exporter of metrics.
 *
 *     header + group      at the start, at rotation, and where the schemas changed
 *     group               otherwise; it begins with its blank line
 */

export interface GroupFacts {
  /** Whether a header stands before the group. */
  readonly header: boolean;
  /** `$hostname` of the header. */
  readonly host: string;
  /** Samples that the daemon missed so far because an earlier one took too long. */
  readonly missed: number;
  /** Groups that it lost so far. */
  readonly lost: number;
  /** Groups that wait to be written. */
  readonly waiting: number;
}

/** Where record groups go beside the log: `write` takes one group's bytes and must not wait. */
export interface GroupSink {
  /** What its errors are about: `amqp`. */
  readonly name: string;
  /**
   * Takes a group. `bytes` are its own until it returns: what waits must copy them. It must return at once; an error
   * is reported, and harms neither the log nor other sinks.
   */
  write(bytes: Uint8Array, facts: GroupFacts): void;
  /** Groups that it took and dropped; final after `close`. Not given: it keeps none, so that what the log lacks is lost. */
  readonly lost?: number;
  /** Groups that it keeps to be delivered later. */
  readonly waiting?: number;
  /** Ends: what waits is delivered or stored. The daemon waits for it. */
  close(): Promise<void> | void;
}
