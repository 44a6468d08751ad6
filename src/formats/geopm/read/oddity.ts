/** A suspect spot, and how it was read. */
export interface Oddity {
  readonly line: number;
  readonly what: string;
}
