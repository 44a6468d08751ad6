/** A store: items that are put in and taken out, and the line of customers who wait for one. */
import type { Cells, CellsField } from '../../model/cells.ts';
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

/** A store, read-only. */
export interface ReadonlyStore {
  /** The items in it: by priority, then in the order in which they were put in. */
  readonly items: ReadonlyLine;
  /** The customers who wait for an item. */
  readonly line: ReadonlyLine;
}

/** An item, and the customer who gets it. */
export interface Handed {
  /** The item that is handed over. */
  readonly item: Customer;
  /** The customer who gets it. */
  readonly customer: Customer;
}

/** The items, and the customers who wait for one. */
export interface Store extends ReadonlyStore {
  /** The items: `items.join(value)` puts one in, `items.isFull` says whether there is no more room, `items.patience` is the timer with which an item perishes. */
  readonly items: Line;
  readonly line: Line;
  /** Gives the first item to the first customer, if there are both. Call it until it returns undefined. */
  hand(): Handed | undefined;
}

class LpStore implements Store {
  readonly items: LpLine;
  readonly line: LpLine;

  constructor(cells: Cells, items: number, places: number) {
    this.items = new LpLine(cells, items);
    this.line = new LpLine(cells, places, lineCells(items));
  }

  hand(): Handed | undefined {
    const { items, line } = this;
    if (items.length === 0 || line.length === 0) return undefined;
    return { item: items.next() as Customer, customer: line.next() as Customer };
  }

  toJSON(): object {
    const { items, line } = this;
    return { items, line };
  }
}
sealed(LpStore, 'a store', ['items', 'line']);

/** Sizes of a store. */
export interface StoreOptions {
  /** Maximum number of items in it at a time, or a function of the model's options; 64 bytes of state each. */
  readonly items: Length;
  /** Maximum number of customers who wait at a time, likewise; 64 bytes of state each. */
  readonly places: Length;
}

/**
 * A field of an LP's state: items that are put in and taken out, and the line of customers who wait for one.
 * @throws RangeError for a number of items or places that is not a positive integer
 * @example
 * ```ts
 * import { defineModel } from 'triscope/sim';
 * import { store } from 'triscope/sim/parts';
 *
 * // Bread is baked one by one, as long as there is room on the shelf; customers wait for it.
 * export default defineModel({
 *   name: 'bakery',
 *   lps: () => 1,
 *   end: 1000,
 *   state: { shelf: store({ items: 20, places: 500 }), sold: 'u32' },
 *   message: { baked: 'bool' },
 *   init(lp) {
 *     lp.send(lp.id, 1).baked = true;
 *     lp.send(lp.id, 1);
 *   },
 *   forward(lp, { baked }) {
 *     const { shelf } = lp.state;
 *     if (baked) {
 *       if (!shelf.items.isFull) shelf.items.join(lp.now);
 *       lp.send(lp.id, lp.exponential(1)).baked = true;
 *     } else {
 *       shelf.line.join(lp.now);
 *       lp.send(lp.id, lp.exponential(1.2));
 *     }
 *     while (shelf.hand() !== undefined) lp.state.sold++;
 *   },
 * });
 * ```
 */
export function store(options: StoreOptions): CellsField<Store, ReadonlyStore> {
  const { items, places } = options;
  return fieldOf(items, (most) =>
    fieldOf(places, (n): CellsField<Store, ReadonlyStore> => {
      expectPlaces('store(), items', most);
      expectPlaces('store()', n);
      return {
        kind: 'cells',
        cells: lineCells(most) + lineCells(n),
        timers: true,
        view: (cells) => new LpStore(cells, most, n),
      };
    }),
  );
}
