/**
 * How far beyond GVT one PE may go. If it goes too far, work is rolled back; if not far enough, PEs wait for each
 * other. The window shrinks if many events were rolled back lately, and grows if the PE had to
 * wait (after S. Das and R. Fujimoto, "An Adaptive Memory Management Protocol for Time Warp", 1997).
 *
 * Two threads whose GVTs cost less than what they would have to keep of events, in order to undo them, go in step:
 * no further than the lookahead, where nothing can be rolled back.
 */

import { ZERO } from './zero.ts';

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
/**
 * Events of a PE in a time of one lookahead from which on threads go in step, and below which they no longer do, after so many
 * stretches.
 */
const ENOUGH = 12;
const NOT_ENOUGH = 9;
const SPARSE = 4;
/** The same from which on an exchange comes several times in a step. */
const MANY = 128;

/** Whether threads go in step: only while there are so many events in a lookahead, or always. */
type Steps = 'never' | 'dense' | 'always';

export class OptimismWindow {
  /** Virtual time beyond GVT where threads do not go in step; Infinity initially, when nothing is known yet. */
  private wide: number;
  private inStep: boolean;
  private many = false;
  /** Stretches with too few events for steps, one after the other. */
  private sparse = 0;
  private readonly steps: Steps;
  private readonly lookahead: number;
  private readonly fixed: boolean;
  private readonly tooMany: number;
  private readonly few: number;
  /** Events of this PE in a lookahead, in the last stretch; 0 before the first. */
  density = ZERO;
  private processed = ZERO;
  private rolledBack = ZERO;
  private committed = ZERO;
  private waited = 0;
  private gvts = 0;
  private gvt = ZERO;

  /**
   * @param bound the user's `--max-opt-lookahead`; Infinity lets the window adapt
   * @param slowGvt GVTs take so long that waiting pays only if FAR_TOO_MANY events are rolled back
   * @param steps when threads go in step: always where nothing can be undone
   */
  constructor(bound: number, lookahead: number, slowGvt: boolean, steps: Steps) {
    this.steps = steps;
    this.lookahead = lookahead;
    this.tooMany = slowGvt ? FAR_TOO_MANY : TOO_MANY;
    this.few = slowGvt ? FAR_TOO_MANY : FEW;
    this.fixed = steps !== 'always' && Number.isFinite(bound);
    this.inStep = steps !== 'never' && !this.fixed;
    this.wide = this.fixed ? bound : lookahead > 0 ? 8 * lookahead : Infinity;
  }

  /** Whether this thread goes in step with the other. */
  get stepping(): boolean {
    return this.inStep;
  }

  /** Whether steps are so long that the threads exchange in the middle of them. */
  get longSteps(): boolean {
    return this.many;
  }

  /** Virtual time beyond GVT. */
  get size(): number {
    return this.inStep ? this.lookahead : this.wide;
  }

  /** Called when the PE had events, but none within the window. */
  wait(): void {
    this.waited++;
  }

  /**
   * Judges the stretch since the last call.
   * @param committed events committed: those before GVT
   * @param gvt the present one
   * @param span returns the virtual time from GVT to the furthest event handled
   */
  adapt(
    processed: number,
    rolledBack: number,
    committed: number,
    gvt: number,
    span: () => number,
  ): void {
    this.gvts++;
    const handled = processed - this.processed;
    if (this.fixed || handled < STRETCH) return;
    const share = (rolledBack - this.rolledBack) / handled;
    const perGvt = handled / this.gvts;
    const perLookahead = ((committed - this.committed) * this.lookahead) / (gvt - this.gvt);
    this.density = perLookahead < Infinity ? perLookahead : 0;
    if (this.steps === 'dense') this.chooseSteps(perLookahead);
    this.many = perLookahead >= MANY;
    if (!this.inStep) this.widen(share, perGvt, span);
    this.gvts = 0;
    this.gvt = gvt;
    this.committed = committed;
    this.processed = processed;
    this.rolledBack = rolledBack;
    this.waited = 0;
  }

  private chooseSteps(perLookahead: number): void {
    this.sparse = perLookahead < NOT_ENOUGH ? this.sparse + 1 : 0;
    if (perLookahead >= ENOUGH) this.inStep = true;
    else if (this.sparse >= SPARSE) this.inStep = false;
  }

  private widen(share: number, perGvt: number, span: () => number): void {
    if (share > (perGvt > WORTH_A_GVT ? this.tooMany : FAR_TOO_MANY)) {
      const from = Number.isFinite(this.wide) ? this.wide : Math.max(span(), 0);
      if (from > 0) this.wide = from * 0.8;
    } else if (this.waited > 0 && share < (perGvt < TOO_FEW ? FAR_TOO_MANY : this.few)) {
      this.wide *= 1.25;
    }
  }
}
