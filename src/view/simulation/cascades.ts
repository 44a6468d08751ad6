/**
 * Cascades: a late event rolls a KP back, that cancels events that it had sent, which rolls back others. Each rollback
 * names its parent, so a cascade is a tree with the late event at its root. Runs in the server.
 *
 *     straggler ──► rollback 1/7 ──┬──► 0/3 ──► 1/9
 *                                  └──► 0/4
 */
import { STEP, type Steps, sorted } from '../steps.ts';
import type { Cause, Rollbacks } from './rollbacks.ts';

/** A cascade and what it cost. */
export interface Cascade {
  /** PE and number of the rollback that began it. */
  readonly pe: number;
  readonly id: number;
  readonly kp: number;
  readonly cause: Cause;
  /** The rollback named a parent that is not in the recording. */
  readonly orphan: boolean;
  /** Seconds at which it began, and at which its last rollback was. */
  readonly from: number;
  readonly to: number;
  /** Who sent the straggler. */
  readonly sourcePe: number;
  readonly sourceLp: number;
  readonly rollbacks: number;
  /** 1: the root alone. */
  readonly generations: number;
  readonly pes: number;
  readonly undone: number;
  /** Undone by the root rollback alone. */
  readonly undoneAtOnce: number;
  /** Largest virtual time that one of its rollbacks went back; null where it is not known. */
  readonly depth: number | null;
}

/** One rollback of a cascade. */
export interface CascadeNode {
  readonly pe: number;
  readonly id: number;
  readonly kp: number;
  readonly cause: Cause;
  readonly t: number;
  /** Place of its parent in the list; -1: the root. */
  readonly parent: number;
  readonly generation: number;
  readonly sourcePe: number;
  readonly sourceLp: number;
  readonly undone: number;
  /** Virtual time rolled back to, and over. */
  readonly to: number | null;
  readonly depth: number | null;
}

interface CascadeFilter {
  /** Seconds; cascades with a rollback in [from, to). */
  readonly from?: number;
  readonly to?: number;
  /** Only cascades with a rollback of this PE, or this KP. */
  readonly pe?: number;
  readonly kp?: number;
  readonly most: number;
}

export interface CascadeList {
  /** Worst first: by events undone, then rollbacks, then time. */
  readonly cascades: readonly Cascade[];
  /** All that fit the filter, those included that are not listed. */
  readonly count: number;
  readonly rollbacks: number;
  readonly undone: number;
  /** Events undone by rollbacks that a rollback caused. */
  readonly undoneByParents: number;
}

/** Parent of a rollback that an earlier row told of under the same number. */
const TWICE = -2;
const ON_PATH = 1;
const DONE = 2;

/** Rows of the rollbacks of all cascades, tied to their roots. */
export class CascadeIndex {
  readonly length: number;
  private readonly all: Rollbacks;
  /** By row: its parent's row; -1: a root; or TWICE. */
  private readonly parents: Int32Array;
  private readonly roots: Int32Array;
  private readonly generations: Int32Array;
  private readonly orphans: Uint8Array;
  /** By root: sums over its cascade. */
  private readonly counts: Uint32Array;
  private readonly undone: Float64Array;
  private readonly depths: Float64Array;
  private readonly ends: Float64Array;
  private readonly lengths: Uint32Array;
  private readonly byParents: Float64Array;

  /** Of all rollbacks that there are. */
  static *of(all: Rollbacks): Steps<CascadeIndex> {
    const index = new CascadeIndex(all);
    yield* index.tie();
    yield* index.sum();
    return index;
  }

  private constructor(all: Rollbacks) {
    this.length = all.length;
    this.all = all;
    const { length } = all;
    this.parents = new Int32Array(length).fill(-1);
    this.roots = new Int32Array(length).fill(-1);
    this.generations = new Int32Array(length);
    this.orphans = new Uint8Array(length);
    this.counts = new Uint32Array(length);
    this.undone = new Float64Array(length);
    this.depths = new Float64Array(length).fill(Number.NaN);
    this.ends = new Float64Array(length);
    this.lengths = new Uint32Array(length);
    this.byParents = new Float64Array(length);
  }

  private *tie(): Steps<void> {
    const all = this.all;
    const [pes, ids] = [all.column('pe_id'), all.column('rollback_id')];
    const [parentPes, parentIds] = [all.column('parent_pe'), all.column('parent_id')];
    const rowOf = new Map<number, number>();
    const key = (pe: number, id: number) => pe * 2 ** 32 + id;
    for (let row = 0; row < this.length; row++) {
      if (row % STEP === 0) yield STEP;
      const own = key(pes[row], ids[row]);
      if (rowOf.has(own)) this.parents[row] = TWICE;
      else rowOf.set(own, row);
    }
    for (let row = 0; row < this.length; row++) {
      if (row % STEP === 0) yield STEP;
      if (this.parents[row] === TWICE || !(parentIds[row] > 0)) continue;
      const parent = rowOf.get(key(parentPes[row], parentIds[row]));
      if (parent === undefined || parent === row) this.orphans[row] = 1;
      else this.parents[row] = parent;
    }
    yield* this.climb();
  }

  /** Finds each row's root and generation. A damaged file may hold a ring: it is cut where it was entered. */
  private *climb(): Steps<void> {
    const parents = this.parents;
    const seen = new Uint8Array(this.length);
    const path: number[] = [];
    for (let start = 0; start < this.length; start++) {
      if (start % STEP === 0) yield STEP;
      if (parents[start] === TWICE || seen[start] !== 0) continue;
      path.length = 0;
      let at = start;
      while (seen[at] === 0) {
        seen[at] = ON_PATH;
        path.push(at);
        if (parents[at] >= 0) at = parents[at];
      }
      if (seen[at] === ON_PATH) {
        if (parents[at] >= 0) this.orphans[at] = 1;
        parents[at] = -1;
        this.roots[at] = at;
      }
      for (const row of path.reverse()) {
        seen[row] = DONE;
        if (row === at) continue;
        this.roots[row] = this.roots[parents[row]];
        this.generations[row] = this.generations[parents[row]] + 1;
      }
    }
  }

  private *sum(): Steps<void> {
    const all = this.all;
    const [undone, depths] = [all.column('events_undone'), all.column('depth')];
    const times = all.column('real_time');
    for (let row = 0; row < this.length; row++) {
      if (row % STEP === 0) yield STEP;
      const root = this.roots[row];
      if (root < 0) continue;
      this.counts[root]++;
      this.undone[root] += undone[row];
      if (!(this.depths[root] >= depths[row])) this.depths[root] = depths[row];
      this.ends[root] = Math.max(this.ends[root], times[row]);
      this.lengths[root] = Math.max(this.lengths[root], this.generations[row] + 1);
      const isCaused = this.parents[row] >= 0 || this.orphans[row] === 1;
      if (isCaused) this.byParents[root] += undone[row];
    }
  }

  /** The worst cascades, and sums over all that fit. */
  *list(filter: CascadeFilter): Steps<CascadeList> {
    const roots = yield* this.chosen(filter);
    const times = this.all.column('real_time');
    const { undone, counts, byParents } = this;
    const worst = yield* sorted(
      roots,
      (a, b) => undone[b] - undone[a] || counts[b] - counts[a] || times[a] - times[b] || a - b,
      filter.most,
    );
    const sums = { rollbacks: 0, undone: 0, undoneByParents: 0 };
    for (const [k, root] of roots.entries()) {
      if (k % STEP === 0) yield STEP;
      sums.rollbacks += counts[root];
      sums.undone += undone[root];
      sums.undoneByParents += byParents[root];
    }
    const pes = yield* this.pesOf(worst);
    const cascades = worst.map((root) => this.cascade(root, pes.get(root) as number));
    return { cascades, count: roots.length, ...sums };
  }

  /** PEs that each of some cascades reached. */
  private *pesOf(roots: readonly number[]): Steps<Map<number, number>> {
    const found = new Map(roots.map((root) => [root, new Set<number>()]));
    const pes = this.all.column('pe_id');
    for (let row = 0; row < this.length; row++) {
      if (row % STEP === 0) yield STEP;
      found.get(this.roots[row])?.add(pes[row]);
    }
    return new Map([...found].map(([root, set]) => [root, set.size]));
  }

  /** Roots of the cascades that fit. */
  private *chosen({ from, to, pe, kp }: CascadeFilter): Steps<number[]> {
    const all = this.all;
    const [times, pes, kps] = [all.column('real_time'), all.column('pe_id'), all.column('kp_id')];
    const fits = new Uint8Array(this.length);
    const roots: number[] = [];
    for (let row = 0; row < this.length; row++) {
      if (row % STEP === 0) yield STEP;
      const root = this.roots[row];
      const t = times[row];
      if (root < 0 || (from !== undefined && t < from) || (to !== undefined && t >= to)) continue;
      if ((pe !== undefined && pes[row] !== pe) || (kp !== undefined && kps[row] !== kp)) continue;
      if (fits[root] === 0) roots.push(root);
      fits[root] = 1;
    }
    return roots;
  }

  private cascade(root: number, pes: number): Cascade {
    const all = this.all;
    return {
      pe: all.column('pe_id')[root],
      id: all.column('rollback_id')[root],
      kp: all.column('kp_id')[root],
      cause: all.cause(root),
      orphan: this.orphans[root] === 1,
      from: all.column('real_time')[root],
      to: this.ends[root],
      sourcePe: all.column('source_pe')[root],
      sourceLp: all.column('source_lp')[root],
      rollbacks: this.counts[root],
      generations: this.lengths[root],
      pes,
      undone: this.undone[root],
      undoneAtOnce: all.column('events_undone')[root],
      depth: known(this.depths[root]),
    };
  }

  /** The rollbacks of the cascade that (pe, id) is part of, parents before children; at most `most`. Null: no such. */
  *tree(
    pe: number,
    id: number,
    most: number,
  ): Steps<{ readonly nodes: CascadeNode[]; readonly left: number } | null> {
    const all = this.all;
    const [pes, ids] = [all.column('pe_id'), all.column('rollback_id')];
    let root = -1;
    // A rollback that was said twice has no root the second time.
    for (let row = 0; row < this.length; row++) {
      if (row % STEP === 0) yield STEP;
      if (pes[row] === pe && ids[row] === id && this.roots[row] >= 0) root = this.roots[row];
    }
    if (root < 0) return null;
    const times = all.column('real_time');
    const members: number[] = [];
    for (let row = 0; row < this.length; row++) {
      if (row % STEP === 0) yield STEP;
      if (this.roots[row] === root) members.push(row);
    }
    const { generations } = this;
    // Parents are of an earlier generation than their children.
    const listed = yield* sorted(
      members,
      (a, b) => generations[a] - generations[b] || times[a] - times[b] || a - b,
      most,
    );
    const place = new Map(listed.map((row, k) => [row, k]));
    const column = (key: Parameters<Rollbacks['column']>[0], row: number) => all.column(key)[row];
    const nodes = listed.map((row) => ({
      pe: pes[row],
      id: ids[row],
      kp: column('kp_id', row),
      cause: all.cause(row),
      t: times[row],
      parent: row === root ? -1 : (place.get(this.parents[row]) ?? -1),
      generation: this.generations[row],
      sourcePe: column('source_pe', row),
      sourceLp: column('source_lp', row),
      undone: column('events_undone', row),
      to: known(column('straggler_recv_time', row)),
      depth: known(column('depth', row)),
    }));
    return { nodes, left: members.length - nodes.length };
  }
}

const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
