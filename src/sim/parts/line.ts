/**
 * A line of customers in an LP's state: by priority, then in the order in which they came; each may leave before its turn.
 *
 * A doubly linked list over places. Joining after customers of its own priority and leaving write a few cells each, whatever the
 * length: all that is written is remembered for undoing.
 *
 *     head   first, last (u32, place + 1; 0: none) · free list, places ever used · length, – · customers so far
 *     place  value · since · priority · number of the customer · before, after · amount · timer (2 cells)
 */
import type { Cells, CellsField } from '../../model/cells.ts';
import { FieldOverflowError } from '../../model/field-error.ts';
import { fieldOf, type Length } from '../../model/struct.ts';
import { sealed } from '../../model/struct-class.ts';
import { cancelTimer, type EngineTimer, TIMER_CELLS, type Timer, timerAt } from '../timer.ts';

// Halves of the head's cells, and a cell.
const FIRST = 0;
const LAST = 1;
const FREE = 2;
const USED = 3;
const LENGTH = 4;
const JOINED = 3;
const HEAD = 4;
// Cells of a place; BEFORE and AFTER are the halves of one.
const VALUE = 0;
const SINCE = 1;
const PRIORITY = 2;
const NUMBER = 3;
const LINKS = 4;
const AMOUNT = 5;
const PATIENCE = 6;
const PLACE = PATIENCE + TIMER_CELLS;

/** A customer who waits in a line, or was just taken from it. */
export interface Customer {
  /** The number that the model gave the customer when it joined. */
  readonly value: number;
  /** Virtual time at which it joined. */
  readonly since: number;
  /** Its priority: lower ones come first. */
  readonly priority: number;
  /** Units that it requests. */
  readonly amount: number;
  /** Number that identifies it as long as it waits. */
  readonly ticket: number;
}

/** A line, read-only. */
export interface ReadonlyLine {
  /** Number of customers that wait. */
  readonly length: number;
  /** Number of customers that there is room for. */
  readonly places: number;
  /** Whether the line is full. */
  readonly isFull: boolean;
  /** The first customer; undefined if nobody waits. */
  readonly first: Customer | undefined;
}

/** How a customer joins. */
export interface Joining {
  /** Lower ones come first; 1 by default. */
  readonly priority?: number;
  /** Units that it requests, in the line of a resource; 1 by default. */
  readonly amount?: number;
}

/** A line of customers. */
export interface Line extends ReadonlyLine {
  /**
   * Adds a customer after those of its priority.
   * @param value any number, which the customer keeps
   * @returns its ticket
   * @throws FieldOverflowError where the line is full
   */
  join(value: number, how?: Joining): number;
  /** Takes the first customer and cancels its timer; undefined if nobody waits. */
  next(): Customer | undefined;
  /**
   * The customer with `ticket` leaves before its turn.
   * @returns the customer; undefined if nobody waits with this ticket
   */
  leave(ticket: number): Customer | undefined;
  /** Whether a customer waits with `ticket`. */
  has(ticket: number): boolean;
  /**
   * The timer of the customer with `ticket`, to be armed with the event at which it loses patience. Cancelled when the customer
   * is taken or leaves.
   * @throws FieldOverflowError if nobody waits with this ticket
   */
  patience(ticket: number): Timer;
}

/** Cells of a line with `places`. */
export const lineCells = (places: number): number => HEAD + PLACE * places;

export class LpLine implements Line {
  readonly places: number;
  private readonly cells: Cells;
  /** Where its cells begin. */
  private readonly at: number;
  private readonly timers: readonly EngineTimer[];

  constructor(cells: Cells, places: number, at = 0) {
    this.cells = cells;
    this.places = places;
    this.at = at;
    this.timers = Array.from({ length: places }, (_, k) =>
      timerAt(cells, this.placeOf(k + 1) + PATIENCE),
    );
  }

  get length(): number {
    return this.head(LENGTH);
  }

  get isFull(): boolean {
    return this.length === this.places;
  }

  get first(): Customer | undefined {
    const p = this.head(FIRST);
    return p === 0 ? undefined : this.customer(p);
  }

  join(value: number, { priority = 1, amount = 1 }: Joining = {}): number {
    const { cells, at } = this;
    cells.expectNumber('join', value);
    cells.expectNumber('join', priority);
    cells.expectNumber('join', amount);
    const p = this.take();
    const place = this.placeOf(p);
    const number = cells.get(at + JOINED) + 1;
    cells.set(at + JOINED, number);
    cells.set(place + VALUE, value);
    cells.set(place + SINCE, cells.host.now);
    cells.set(place + PRIORITY, priority);
    cells.set(place + NUMBER, number);
    cells.set(place + AMOUNT, amount);
    let before = this.head(LAST);
    while (before !== 0 && cells.get(this.placeOf(before) + PRIORITY) > priority)
      before = this.link(before, 0);
    const after = before === 0 ? this.head(FIRST) : this.link(before, 1);
    this.setLink(p, 0, before);
    this.setLink(p, 1, after);
    this.chain(before, p, p, after);
    this.setHead(LENGTH, this.length + 1);
    return number * this.places + p - 1;
  }

  next(): Customer | undefined {
    const p = this.head(FIRST);
    return p === 0 ? undefined : this.remove(p);
  }

  leave(ticket: number): Customer | undefined {
    const p = this.find(ticket);
    return p === 0 ? undefined : this.remove(p);
  }

  has(ticket: number): boolean {
    return this.find(ticket) !== 0;
  }

  patience(ticket: number): Timer {
    const p = this.find(ticket);
    if (p === 0)
      throw new FieldOverflowError(`${this.cells.where}.patience(${ticket}): nobody waits with it`);
    return this.timers[p - 1];
  }

  toJSON(): object {
    const { length, places, first } = this;
    return { length, places, first };
  }

  private head(half: number): number {
    return this.cells.half(2 * this.at + half);
  }

  private setHead(half: number, value: number): void {
    this.cells.setHalf(2 * this.at + half, value);
  }

  private placeOf(p: number): number {
    return this.at + HEAD + (p - 1) * PLACE;
  }

  /** The neighbour of `p`. @param side 0: before, 1: after */
  private link(p: number, side: 0 | 1): number {
    return this.cells.half(2 * (this.placeOf(p) + LINKS) + side);
  }

  private setLink(p: number, side: 0 | 1, to: number): void {
    this.cells.setHalf(2 * (this.placeOf(p) + LINKS) + side, to);
  }

  /** Makes `p` what comes after `before`, and `q` what comes before `after`; where there is none, the ends of the line. */
  private chain(before: number, p: number, q: number, after: number): void {
    if (before === 0) this.setHead(FIRST, p);
    else this.setLink(before, 1, p);
    if (after === 0) this.setHead(LAST, q);
    else this.setLink(after, 0, q);
  }

  private take(): number {
    const free = this.head(FREE);
    if (free !== 0) {
      this.setHead(FREE, this.link(free, 1));
      return free;
    }
    const used = this.head(USED);
    if (used === this.places)
      throw new FieldOverflowError(`${this.cells.where}: the line is full (${used} places)`);
    this.setHead(USED, used + 1);
    return used + 1;
  }

  /** The place of the customer with `ticket`; 0 for none. */
  private find(ticket: number): number {
    const k = ticket % this.places;
    if (!(k >= 0 && k < this.head(USED)) || !Number.isInteger(ticket)) return 0;
    const number = (ticket - k) / this.places;
    return number > 0 && this.cells.get(this.placeOf(k + 1) + NUMBER) === number ? k + 1 : 0;
  }

  private customer(p: number): Customer {
    const { cells } = this;
    const place = this.placeOf(p);
    return {
      value: cells.get(place + VALUE),
      since: cells.get(place + SINCE),
      priority: cells.get(place + PRIORITY),
      amount: cells.get(place + AMOUNT),
      ticket: cells.get(place + NUMBER) * this.places + p - 1,
    };
  }

  private remove(p: number): Customer {
    const { cells } = this;
    const customer = this.customer(p);
    const before = this.link(p, 0);
    const after = this.link(p, 1);
    this.chain(before, after, before, after);
    cells.set(this.placeOf(p) + NUMBER, 0);
    this.setLink(p, 1, this.head(FREE));
    this.setHead(FREE, p);
    this.setHead(LENGTH, this.length - 1);
    cancelTimer(this.timers[p - 1]);
    return customer;
  }
}
sealed(LpLine, 'a line', ['places', 'cells', 'at', 'timers']);

/** @throws RangeError unless `given` is a positive integer */
export function expectPlaces(what: string, given: number): number {
  if (!Number.isInteger(given) || given < 1)
    throw new RangeError(`${what}: ${given}: places must be a positive integer`);
  return given;
}

/**
 * A field of an LP's state that is a line of customers, by priority and in the order in which they come. Each may have patience, a
 * timer, and leave before its turn.
 * @param places most customers that wait at a time, or what makes it of the model's options; 64 bytes of state each
 * @throws RangeError for a number of places that is not a positive integer
 * @example
 * ```ts
 * import { defineModel } from 'triscope/sim';
 * import { line } from 'triscope/sim/parts';
 *
 * // Every customer waits for 5 units of time at most; one is served per unit.
 * export default defineModel({
 *   name: 'patience',
 *   lps: () => 1,
 *   end: 1000,
 *   state: { waiting: line(100), left: 'u32' },
 *   message: { kind: 'u8', ticket: 'f64' }, // 0: one comes, 1: one is served, 2: one loses patience
 *   init(lp) {
 *     lp.send(lp.id, 1).kind = 0;
 *     lp.send(lp.id, 1).kind = 1;
 *   },
 *   forward(lp, { kind, ticket }) {
 *     const { waiting } = lp.state;
 *     if (kind === 0) {
 *       const mine = waiting.join(lp.now);
 *       const over = lp.arm(waiting.patience(mine), 5);
 *       over.kind = 2;
 *       over.ticket = mine;
 *       lp.send(lp.id, lp.exponential(0.9)).kind = 0;
 *     } else if (kind === 1) {
 *       waiting.next();
 *       lp.send(lp.id, 1).kind = 1;
 *     } else if (waiting.leave(ticket)) lp.state.left++;
 *   },
 * });
 * ```
 */
export function line(places: Length): CellsField<Line, ReadonlyLine> {
  return fieldOf(places, (n): CellsField<Line, ReadonlyLine> => {
    expectPlaces('line()', n);
    return {
      kind: 'cells',
      cells: lineCells(n),
      timers: true,
      view: (cells) => new LpLine(cells, n),
    };
  });
}
