/** What /api/names gives. */
export interface NameFacts {
  /** Such as `pe`, `lp`, `host`, `region`. */
  readonly domain: string;
  readonly name: string;
}
