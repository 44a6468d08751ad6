/**
 * Lookaheads of types of LPs: how much later than its sender's time an event to an LP of a type is at least. A PE goes as far
 * ahead of GVT as the least of those of its own LPs, since nothing else can reach it.
 */
import type { LpContext } from './lp.ts';
import type { Model } from './model.ts';

/** The lookaheads of one run. */
class TypeLookaheads {
  /** Number of each LP's type, in the order of the model. */
  private readonly typeOf: Uint8Array;
  private readonly names: readonly string[];
  /** Least offset of an event to an LP of each type. */
  private readonly least: Float64Array;
  private readonly usual: number;

  /** @param typeOf number of the type of the LP with a global id */
  constructor(model: Model, lookahead: number, lps: number, typeOf: (lp: number) => number) {
    this.names = [...model.types.keys()];
    this.usual = lookahead;
    this.least = Float64Array.from(this.names, (name) =>
      Math.max(lookahead, model.lookaheads.get(name) ?? 0),
    );
    this.typeOf = Uint8Array.from({ length: lps }, (_, lp) => typeOf(lp));
  }

  /** Least offset of an event to any of these LPs; the run's lookahead where there are none. */
  leastOf(ids: Int32Array): number {
    let least = Infinity;
    for (const lp of ids) least = Math.min(least, this.least[this.typeOf[lp]]);
    return least === Infinity ? this.usual : least;
  }

  /** Least offset of what reaches all LPs. */
  get toAll(): number {
    return Math.max(...this.least);
  }

  /** Sees to it that `lp` sends nothing sooner. */
  guard(lp: LpContext): void {
    const { least, typeOf, names } = this;
    const send = lp.send.bind(lp);
    lp.send = (dest, delay, priority) => {
      const type = typeOf[dest];
      if (type !== undefined && delay < least[type] && dest !== lp.id)
        lp.refuseSooner(dest, delay, names[type], least[type]);
      return send(dest, delay, priority);
    };
  }
}

/** Those of a model; null where its types have none of their own. */
export const typeLookaheads = (
  model: Model,
  lookahead: number,
  lps: number,
  typeOf: (lp: number) => number,
): TypeLookaheads | null =>
  model.lookaheads.size === 0 ? null : new TypeLookaheads(model, lookahead, lps, typeOf);
