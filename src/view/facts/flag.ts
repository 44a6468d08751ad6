/** Texts at places of the time axis. Runs in the server and in the page. */

/** A note, a mark or a finding at a moment or stretch of a run. */
export interface Flag {
  readonly kind: 'note' | 'mark' | 'finding';
  /** Seconds. */
  readonly from: number;
  /** The end of a stretch; null at a moment. */
  readonly to: number | null;
  readonly text: string;
}

/** In the order of the axis. */
export const byFrom = (a: Flag, b: Flag): number => a.from - b.from;
