/**
 * Timers: fields of an LP's state that each refer to one event, which the LP may cancel or postpone.
 *
 * A timer counts its generations: an odd one is pending, an even one is not. Its event carries the generation that armed
 * it. Cancelling, arming again and firing move the timer on, and an event of another generation is dropped when its time
 * comes. The count is part of the state, so it is undone, kept by checkpoints and compared as all of the state is.
 *
 *     cells of a timer   generation (u32) · –     time at which it is due
 */
import type { Cells, CellsField } from '../model/cells.ts';
import { type Fields, fieldOf, type Length, type StructOf } from '../model/struct.ts';
import { sealed } from '../model/struct-class.ts';
import { ModelError } from './model-error.ts';

/** Cells of one timer. */
export const TIMER_CELLS = 2;
const DUE = 1;

/** A timer of an LP: armed and cancelled by `lp.arm` and `lp.cancel`. */
export interface Timer {
  /** Whether it is armed, and its event is still to come. */
  readonly pending: boolean;
  /** Virtual time of its event; NaN where it is not pending. */
  readonly time: number;
}

/** The timers of a field that has several. */
export interface Timers {
  /** Number of timers. */
  readonly length: number;
  /** Timer number `index`. @throws ModelError outside of 0…length-1 */
  get(index: number): Timer;
}

/** What an LP does with its timers. Undone with its event, as all that an LP does. */
export interface TimerCalls<M extends Fields> {
  /**
   * Sends this LP an event at `now + delay` that it may take back, and returns its message. A timer has one event: where it is
   * pending, the earlier one is cancelled. When the event comes the timer is no longer pending.
   * @param timer a field of `lp.state` that was declared by `timer()`, or one of `timers(n)`
   * @param delay ≥ 0, in virtual time
   * @param priority as in `send`
   * @throws ModelError for what is no timer of this LP, a negative or NaN delay
   */
  arm(timer: Timer, delay: number, priority?: number): StructOf<M>;
  /** Cancels the event of `timer`: it does not happen. Does nothing where the timer is not pending. */
  cancel(timer: Timer): void;
}

/** A timer as the engine sees it. A model may have its own copy of this module, so its class proves nothing. */
export interface EngineTimer extends Timer {
  readonly cells: Cells;
  /** Its first cell, from the start of the state. */
  readonly place: number;
  /** Begins a pending generation, due at `time`; returns it. */
  begin(time: number): number;
  /** Ends the pending generation. */
  end(): void;
}

class LpTimer implements EngineTimer {
  readonly cells: Cells;
  private readonly k: number;

  /** @param k its first cell, of `cells` */
  constructor(cells: Cells, k: number) {
    this.cells = cells;
    this.k = k;
  }

  get place(): number {
    return this.cells.at + this.k;
  }

  get pending(): boolean {
    return (this.cells.half(2 * this.k) & 1) === 1;
  }

  get time(): number {
    return this.pending ? this.cells.get(this.k + DUE) : Number.NaN;
  }

  begin(time: number): number {
    const { cells, k } = this;
    const next = ((cells.half(2 * k) + 1) | 1) >>> 0;
    cells.setHalf(2 * k, next);
    cells.set(k + DUE, time);
    return next;
  }

  end(): void {
    const { cells, k } = this;
    cells.setHalf(2 * k, cells.half(2 * k) + 1);
  }

  toJSON(): object {
    const { pending, time } = this;
    return pending ? { pending, time } : { pending };
  }
}
sealed(LpTimer, 'a timer', ['cells', 'k']);

class LpTimers implements Timers {
  private readonly cells: Cells;
  private readonly all: readonly LpTimer[];

  constructor(cells: Cells, count: number) {
    this.cells = cells;
    this.all = Array.from({ length: count }, (_, k) => new LpTimer(cells, k * TIMER_CELLS));
  }

  get length(): number {
    return this.all.length;
  }

  get(index: number): Timer {
    const one = this.all[index];
    if (one === undefined)
      throw new ModelError(`${this.cells.where}.get(${index}): timers are 0…${this.length - 1}`);
    return one;
  }

  toJSON(): object {
    return this.all;
  }
}
sealed(LpTimers, 'timers', ['cells', 'all']);

/**
 * A field of an LP's state that is a timer: an event to the LP itself that it may cancel or arm anew.
 * @example
 * ```ts
 * import { defineModel, timer } from 'triscope/sim';
 *
 * // Calls that give up after 3 units of time without an answer.
 * export default defineModel({
 *   name: 'calls',
 *   lps: () => 10,
 *   end: 1000,
 *   state: { patience: timer(), lost: 'u32' },
 *   message: { gaveUp: 'bool' },
 *   init: (lp) => void lp.send(lp.id, 1),
 *   forward(lp, { gaveUp }) {
 *     if (gaveUp) lp.state.lost++;
 *     else lp.cancel(lp.state.patience); // the answer has come
 *     lp.send(lp.id, lp.exponential(2));
 *     lp.arm(lp.state.patience, 3).gaveUp = true;
 *   },
 * });
 * ```
 */
export function timer(): CellsField<Timer, Timer> {
  return {
    kind: 'cells',
    cells: TIMER_CELLS,
    timers: true,
    view: (cells) => new LpTimer(cells, 0),
  };
}

/**
 * A field that is `length` timers, each on its own: one for each customer that waits, say.
 * @param length number of timers, or what makes it of the model's options
 * @throws RangeError for a length that is not a positive integer
 * @example
 * ```ts
 * import { defineModel, timers } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'alarms',
 *   lps: () => 10,
 *   end: 100,
 *   state: { alarms: timers(4), rang: 'u32' },
 *   message: {},
 *   init: (lp) => void lp.arm(lp.state.alarms.get(0), 1),
 *   forward(lp) {
 *     lp.state.rang++;
 *     lp.arm(lp.state.alarms.get(lp.integer(0, 3)), lp.exponential(1));
 *     lp.arm(lp.state.alarms.get(0), 2);
 *   },
 * });
 * ```
 */
export function timers(length: Length): CellsField<Timers, Timers> {
  return fieldOf(length, (n): CellsField<Timers, Timers> => {
    if (!Number.isInteger(n) || n < 1)
      throw new RangeError(`timers(${n}): the length must be a positive integer`);
    return {
      kind: 'cells',
      cells: TIMER_CELLS * n,
      timers: true,
      view: (cells) => new LpTimers(cells, n),
    };
  });
}

/** A timer in a field that has other cells, too: at cell `k`. Such a field says `timers: true`. */
export const timerAt = (cells: Cells, k: number): EngineTimer => new LpTimer(cells, k);

/** Cancels a timer of a field, for the LP that the field is of. */
export const cancelTimer = (one: EngineTimer): void =>
  (one.cells.host as unknown as TimerCalls<Fields>).cancel(one);

/** `given` as the engine sees it. @throws ModelError unless it is a timer of the LP `host` */
export function engineTimer(method: string, given: Timer, host: object): EngineTimer {
  const isTimer = typeof given === 'object' && given !== null && 'begin' in given;
  if (!isTimer || (given as EngineTimer).cells.host !== host) {
    throw new ModelError(
      `lp.${method}(): not a timer of this LP; declare one in the state (patience: timer()) and give lp.state.patience`,
    );
  }
  return given as EngineTimer;
}
