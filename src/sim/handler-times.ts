/** Cost of handlers by type of LP, from the events that are timed one by one. */

/** Of a type of LP on a PE. */
export interface HandlerCost {
  readonly type: string;
  readonly lps: number;
  /** Events timed, and the seconds in their handlers. */
  readonly timed: number;
  readonly seconds: number;
}

export class HandlerTimes {
  private readonly names: readonly string[];
  private readonly typeIndex: Uint8Array | null;
  private readonly lps: number;
  private readonly counts: Float64Array;
  private readonly times: Float64Array;
  private type = 0;

  /** @param typeIndex by LP of the PE; null where all are of the first type */
  constructor(names: readonly string[], typeIndex: Uint8Array | null, lps: number) {
    this.names = names;
    this.typeIndex = typeIndex;
    this.lps = lps;
    this.counts = new Float64Array(names.length);
    this.times = new Float64Array(names.length);
  }

  /** An event of LP `index` is handled and timed. */
  begin(index: number): void {
    this.type = this.typeIndex === null ? 0 : this.typeIndex[index];
  }

  end(milliseconds: number): void {
    this.counts[this.type]++;
    this.times[this.type] += milliseconds / 1000;
  }

  /** Types that the PE has LPs of. */
  costs(): HandlerCost[] {
    const { typeIndex } = this;
    const lps = this.names.map(() => 0);
    if (typeIndex === null) lps[0] = this.lps;
    else for (const type of typeIndex) lps[type]++;
    return this.names.flatMap((type, k) =>
      lps[k] === 0 ? [] : { type, lps: lps[k], timed: this.counts[k], seconds: this.times[k] },
    );
  }
}
