/**
 * How far beyond GVT one PE may go. If it goes too far, work is rolled back; if not far enough, PEs wait for each
 * other. The window shrinks if many events were rolled back lately, and grows if the PE had to
 * wait (after S. Das and R. Fujimoto, "An Adaptive Memory Management Protocol for Time Warp", 1997).
 */

/** Share of events rolled back above which the window shrinks, and below which it grows if the PE had to wait. */
const TOO_MANY = 0.03;
const FEW = 0.02;
/**
 * Events handled per GVT. A GVT has its price too: below the first number the window shrinks only if FAR_TOO_MANY are
 * rolled back, and below the second one it grows unless they are.
 */
const WORTH_A_GVT = 256;
const TOO_FEW = 128;
const FAR_TOO_MANY = 0.1;
/** Number of events after which the last stretch is judged. */
const STRETCH = 512;

export class OptimismWindow {
  /** Virtual time beyond GVT; Infinity initially, when nothing is known yet. */
  size: number;
  private readonly fixed: boolean;
  private readonly tooMany: number;
  private readonly few: number;
  private processed = 0;
  private rolledBack = 0;
  private waited = 0;
  private gvts = 0;

  /**
   * @param bound the user's `--max-opt-lookahead`; Infinity lets the window adapt
   * @param slowGvt GVTs take so long that waiting pays only if FAR_TOO_MANY events are rolled back
   */
  constructor(bound: number, lookahead: number, slowGvt: boolean) {
    this.tooMany = slowGvt ? FAR_TOO_MANY : TOO_MANY;
    this.few = slowGvt ? FAR_TOO_MANY : FEW;
    this.fixed = Number.isFinite(bound);
    this.size = this.fixed ? bound : lookahead > 0 ? 8 * lookahead : Infinity;
  }

  /** Called when the PE had events, but none within the window. */
  wait(): void {
    this.waited++;
  }

  /**
   * Judges the stretch since the last call.
   * @param span returns the virtual time from GVT to the furthest event handled
   */
  adapt(processed: number, rolledBack: number, span: () => number): void {
    this.gvts++;
    const handled = processed - this.processed;
    if (this.fixed || handled < STRETCH) return;
    const share = (rolledBack - this.rolledBack) / handled;
    const perGvt = handled / this.gvts;
    if (share > (perGvt > WORTH_A_GVT ? this.tooMany : FAR_TOO_MANY)) {
      const from = Number.isFinite(this.size) ? this.size : Math.max(span(), 0);
      if (from > 0) this.size = from * 0.8;
    } else if (this.waited > 0 && share < (perGvt < TOO_FEW ? FAR_TOO_MANY : this.few)) {
      this.size *= 1.25;
    }
    this.gvts = 0;
    this.processed = processed;
    this.rolledBack = rolledBack;
    this.waited = 0;
  }
}
