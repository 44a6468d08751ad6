/** Where the simulation's pictures come from: the server for a recording, the page's own samples for a live run. */
import { type Breakdown, breakdownOf } from '../../../src/view/simulation/breakdown.ts';
import type { CascadeList, CascadeNode } from '../../../src/view/simulation/cascades.ts';
import type { EventDensity, SingleEvent } from '../../../src/view/simulation/event-view.ts';
import {
  type Heat,
  type HeatAsk,
  type HeatMetric,
  heatMetrics,
  heatOf,
} from '../../../src/view/simulation/heat.ts';
import type { Level } from '../../../src/view/simulation/levels.ts';
import { type Matrix, matrixOfSends } from '../../../src/view/simulation/matrix.ts';
import { type Order, ordered } from '../../../src/view/simulation/order.ts';
import { unpack } from '../../../src/view/simulation/packed.ts';
import type { SingleRollback } from '../../../src/view/simulation/rollback-view.ts';
import { atOnce } from '../../../src/view/steps.ts';
import { LiveSource } from '../live.ts';
import type { Page } from '../page.svelte.ts';
import { AnswerError, type PageSource } from '../source.ts';

/** The selection: seconds, and the entity that contains everything shown; '' for all. */
export interface Looked {
  readonly from: number;
  readonly to: number;
  readonly within: string;
}

export interface ServedHeat extends Heat {
  /** Why marked cells are doubtful; '' where none is. */
  readonly doubt: string;
}

export interface ServedCascades extends CascadeList {
  /** Rollbacks of the whole run; of one that goes on, those that are kept. */
  readonly recorded: number;
}

export interface Tree {
  readonly nodes: readonly CascadeNode[];
  /** Rollbacks that are not in `nodes`. */
  readonly left: number;
}

export interface SomeRollbacks {
  readonly rollbacks: readonly SingleRollback[];
  readonly total: number;
}

/** Null where nothing of it was recorded. */
export interface SimSource {
  metrics(level: Level): Promise<readonly HeatMetric[]>;
  heat(ask: HeatAsk, order: Order): Promise<ServedHeat | null>;
  breakdown(from: number, to: number): Promise<Breakdown | null>;
  matrix(of: 'best' | 'rollbacks', level: Level, looked: Looked): Promise<Matrix | null>;
  cascades(looked: Looked, most: number): Promise<ServedCascades>;
  tree(pe: number, id: number): Promise<Tree | null>;
  density(level: Level, looked: Looked, sender: string, bins: number): Promise<EventDensity | null>;
  events(looked: Looked, sender: string, most: number): Promise<readonly SingleEvent[]>;
  /** Those that undid most, and how many there are in all. */
  rollbacks(looked: Looked, most: number): Promise<SomeRollbacks>;
}

class ApiSim implements SimSource {
  private readonly source: PageSource;
  private readonly _metrics = new Map<Level, Promise<readonly HeatMetric[]>>();
  /** Whether what there is does not change. */
  private readonly isWhole: boolean;

  constructor(source: PageSource, isWhole: boolean) {
    this.source = source;
    this.isWhole = isWhole;
  }

  metrics(level: Level) {
    let metrics = this._metrics.get(level);
    if (metrics === undefined) {
      metrics = this.source.json<readonly HeatMetric[]>('heatmap/metrics', { level });
      metrics.catch(() => this._metrics.delete(level));
      if (this.isWhole) this._metrics.set(level, metrics);
    }
    return metrics;
  }

  async heat(ask: HeatAsk, sort: Order): Promise<ServedHeat | null> {
    const { level, metric, within, from, to, bins } = ask;
    const known = await this.metrics(level);
    if (!known.some(({ key }) => key === metric)) return null;
    const asked = { level, metric, within, from, to, bins, sort };
    return unpack<ServedHeat>(await this.source.bytes('heatmap', asked));
  }

  breakdown(from: number, to: number) {
    return this.source.json<Breakdown | null>('breakdown', { from, to });
  }

  async matrix(of: 'best' | 'rollbacks', level: Level, looked: Looked) {
    const matrix = unpack<Matrix>(await this.source.bytes('matrix', { of, level, ...looked }));
    return matrix.rows.length === 0 ? null : matrix;
  }

  cascades(looked: Looked, most: number) {
    return this.source.json<ServedCascades>('cascades', { ...looked, most });
  }

  tree(pe: number, id: number) {
    return this.source.json<Tree>('cascades/tree', { pe, id });
  }

  async density(level: Level, looked: Looked, sender: string, bins: number) {
    const asked = { level, ...looked, sender, bins };
    const density = unpack<EventDensity>(await this.source.bytes('events/density', asked));
    return density.all === 0 ? null : density;
  }

  async events(looked: Looked, sender: string, most: number) {
    const asked = { ...looked, sender, most };
    return (await this.source.json<{ events: SingleEvent[] }>('events', asked)).events;
  }

  rollbacks(looked: Looked, most: number) {
    return this.source.json<SomeRollbacks>('rollbacks', { ...looked, most });
  }
}

/**
 * Of a run that goes on. LPs' samples and rollbacks are too many to be sent: the server is asked for them. Single events
 * are not streamed: those are shown when the run has ended.
 */
class LiveSim implements SimSource {
  private readonly source: LiveSource;
  private readonly api: ApiSim;

  constructor(source: LiveSource) {
    this.source = source;
    this.api = new ApiSim(source, false);
  }

  private get samples() {
    return this.source.kept.store;
  }

  async metrics(level: Level) {
    return level === 'lp' ? this.api.metrics(level) : atOnce(heatMetrics)(this.samples, level);
  }

  async heat(ask: HeatAsk, order: Order): Promise<ServedHeat | null> {
    if (ask.level === 'lp') return this.api.heat(ask, order);
    const heat = atOnce(heatOf)(this.samples, ask);
    return heat === null ? null : { ...atOnce(ordered)(heat, order), doubt: '' };
  }

  async breakdown(from: number, to: number) {
    return atOnce(breakdownOf)(this.samples, from, to);
  }

  async matrix(of: 'best' | 'rollbacks', level: Level, looked: Looked) {
    if (of === 'rollbacks') return this.api.matrix(of, level, looked);
    return atOnce(matrixOfSends)(this.samples, { level, ...looked, of: 'sends' });
  }

  cascades(looked: Looked, most: number) {
    return this.api.cascades(looked, most);
  }

  async tree(pe: number, id: number) {
    try {
      return await this.api.tree(pe, id);
    } catch (error) {
      // Only the newest are kept.
      if (error instanceof AnswerError && error.status === 404) return null;
      throw error;
    }
  }

  async density() {
    return null;
  }

  async events() {
    return [];
  }

  rollbacks(looked: Looked, most: number) {
    return this.api.rollbacks(looked, most);
  }
}

const made = new WeakMap<PageSource, SimSource>();

/** Null before the page has opened anything. */
export function simOf({ source }: Page): SimSource | null {
  if (source === null) return null;
  let sim = made.get(source);
  if (sim === undefined) {
    sim = source instanceof LiveSource ? new LiveSim(source) : new ApiSim(source, true);
    made.set(source, sim);
  }
  return sim;
}
