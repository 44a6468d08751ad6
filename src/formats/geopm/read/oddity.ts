/** Something that is not as it should be, and how it was read. */
export interface Oddity {
  readonly line: number;
  readonly what: string;
}
