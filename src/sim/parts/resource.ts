/** Units that customers use for a while, such as servers, machines or places, and the line of customers who wait for some. */
import type { Cells, CellsField } from '../../model/cells.ts';
import { FieldUseError } from '../../model/field-error.ts';
import { fieldOf, type Length } from '../../model/struct.ts';
import { sealed } from '../../model/struct-class.ts';
import {
  type Customer,
  expectPlaces,
  type Line,
  LpLine,
  lineCells,
  type ReadonlyLine,
} from './line.ts';

const CAPACITY = 0;
const BUSY = 1;
const OWN = 2;

/** A resource, read-only. */
export interface ReadonlyResource {
  /** Number of units. */
  readonly capacity: number;
  /** Units in use. */
  readonly busy: number;
  /** Units not in use; negative if the capacity was lowered below the number in use. */
  readonly free: number;
  /** The customers who wait. */
  readonly line: ReadonlyLine;
}

/** The units of a resource, and the customers who wait for some. */
export interface Resource extends ReadonlyResource {
  readonly line: Line;
  /**
   * Changes the number of units: in `init`, from the model's options, or later.
   * @param capacity number of units
   * @throws FieldUseError unless it is a number from 0 on
   */
  resize(capacity: number): void;
  /**
   * Gives the first customer in the line the units that it requests, if they are free; the customers behind wait until then.
   * Call it until it returns undefined, whenever a customer has joined the line or units were released.
   * @returns the customer who begins to use them
   */
  grant(): Customer | undefined;
  /**
   * Releases `amount` units.
   * @param amount 1 by default
   * @throws FieldUseError if fewer are in use
   */
  release(amount?: number): void;
}

class LpResource implements Resource {
  readonly line: LpLine;
  private readonly cells: Cells;
  /** The capacity if none was set. */
  private readonly usual: number;

  constructor(cells: Cells, places: number, usual: number) {
    this.cells = cells;
    this.usual = usual;
    this.line = new LpLine(cells, places, OWN);
  }

  get capacity(): number {
    // Stored as a difference, because the state is all zero at the start.
    return this.usual + this.cells.get(CAPACITY);
  }

  get busy(): number {
    return this.cells.get(BUSY);
  }

  get free(): number {
    return this.capacity - this.busy;
  }

  resize(capacity: number): void {
    const { cells, usual } = this;
    cells.expectNumber('resize', capacity);
    if (capacity < 0) throw new FieldUseError(`${cells.where}.resize(${capacity}): less than 0`);
    cells.set(CAPACITY, capacity - usual);
  }

  grant(): Customer | undefined {
    const { line, cells } = this;
    const { first } = line;
    if (first === undefined || first.amount > this.free) return undefined;
    cells.set(BUSY, this.busy + first.amount);
    return line.next();
  }

  release(amount = 1): void {
    const { cells, busy } = this;
    cells.expectNumber('release', amount);
    if (!(amount >= 0 && amount <= busy))
      throw new FieldUseError(`${cells.where}.release(${amount}): ${busy} in use`);
    cells.set(BUSY, busy - amount);
  }

  toJSON(): object {
    const { capacity, busy, line } = this;
    return { capacity, busy, line };
  }
}
sealed(LpResource, 'a resource', ['line', 'cells', 'usual']);

/** Sizes of a resource. */
export interface ResourceOptions {
  /** Number of units until `resize` changes it; 1 by default. */
  readonly capacity?: number;
  /** Maximum number of customers who wait at a time, or a function of the model's options; 64 bytes of state each. */
  readonly places: Length;
}

/**
 * A field of an LP's state: units that customers use for a while, and the line of customers who wait for some.
 * @throws RangeError for a number of places that is not a positive integer, a capacity that is not a number from 0 on
 * @example
 * ```ts
 * import { defineModel, int } from 'triscope/sim';
 * import { resource } from 'triscope/sim/parts';
 *
 * export default defineModel({
 *   name: 'desks',
 *   lps: () => 1,
 *   end: 1000,
 *   options: { desks: int(3, 'how many there are', { min: 1 }) },
 *   state: { desks: resource({ places: 500 }), served: 'u32' },
 *   message: { leaves: 'bool' },
 *   init(lp) {
 *     lp.state.desks.resize(lp.params.desks);
 *     lp.send(lp.id, 1);
 *   },
 *   forward(lp, { leaves }) {
 *     const { desks } = lp.state;
 *     if (leaves) desks.release();
 *     else {
 *       desks.line.join(lp.now);
 *       lp.send(lp.id, lp.exponential(0.5));
 *     }
 *     while (desks.grant() !== undefined) {
 *       lp.state.served++;
 *       lp.send(lp.id, lp.exponential(1)).leaves = true;
 *     }
 *   },
 * });
 * ```
 */
export function resource(options: ResourceOptions): CellsField<Resource, ReadonlyResource> {
  const { capacity = 1, places } = options;
  if (!(capacity >= 0 && capacity < Infinity))
    throw new RangeError(`resource(): capacity: ${capacity}: must be a number from 0 on`);
  return fieldOf(places, (n): CellsField<Resource, ReadonlyResource> => {
    expectPlaces('resource()', n);
    return {
      kind: 'cells',
      cells: OWN + lineCells(n),
      timers: true,
      view: (cells) => new LpResource(cells, n, capacity),
    };
  });
}
