/** The modeller's interface: a model's declaration, and what its handlers receive. */

import type { OptionSpecs, OptionValues } from '../model/option.ts';
import type { Fields, ReadonlyStructOf, Scalar, StructOf } from '../model/struct.ts';
import { ModelError } from './model-error.ts';
import type { Random } from './rng/random.ts';
import type { TableMakers, Tables } from './tables.ts';
import type { TimerCalls } from './timer.ts';

export { ModelError };

/** The event being handled, beside its message. Valid during the call only. */
export interface EventInfo {
  /** Global id of the LP that sent it, in `forward` or in `init`. */
  readonly source: number;
  /** Virtual time at which the event was sent. */
  readonly sendTime: number;
  /** Among events of equal time the one of lower priority comes first; 1 if `send` got none. */
  readonly priority: number;
  /** 32 bits that `forward` may leave for `reverse` (0 before every `forward`). ROSS's `tw_bf`. */
  bits: number;
}

/** What every handler may read of its LP. */
export interface LpView<S extends Fields, P> {
  /** Global id, 0…lps-1. */
  readonly id: number;
  /** Name of its LP type. */
  readonly type: string;
  /** Number of its PE, from 0 on. */
  readonly pe: number;
  /** KP on its PE. */
  readonly kp: number;
  /** Number of LPs of the whole run. */
  readonly lps: number;
  /** Virtual time of the current event; 0 in `init`, the end time in `final`. */
  readonly now: number;
  /** Virtual time at which the run ends: events at or past it are not created. */
  readonly end: number;
  /** Virtual time from which on statistics count (`--warmup`). */
  readonly warmup: number;
  /** Least offset of an event to another LP (`--lookahead`). */
  readonly lookahead: number;
  /** The return value of the model's `prepare`; the options themselves if it has none. */
  readonly params: P;
  /** The event that is handled. */
  readonly event: EventInfo;
  /** The LP's state, which only handlers may write. */
  readonly state: ReadonlyStructOf<S>;
}

/**
 * An LP during one call of its handlers. Everything done through it is undone when the event is rolled
 * back: draws, sends, output, suspension; and writes to `state`, unless the LP type has a `reverse`.
 */
export interface Lp<S extends Fields, M extends Fields, P>
  extends Omit<LpView<S, P>, 'state'>,
    Random,
    TimerCalls<M> {
  /** The LP's state: fields as the model declares them. */
  readonly state: StructOf<S>;
  /**
   * Creates an event for LP `dest` at `now + delay` and returns its message, zeroed, to be filled
   * before the next `send` (the object is the same each time).
   * @param delay ≥ 0, in virtual time; at least `lookahead` to another LP, which all but sequential runs check
   * @param priority among events of equal time, lower comes first; default 1
   * @throws ModelError for an unknown LP, a negative or NaN delay, a lookahead violation
   */
  send(dest: number, delay: number, priority?: number): StructOf<M>;
  /** Prints a line when, and only if, this event is committed. ROSS's `tw_output`. */
  output(text: string): void;
  /**
   * Stops this LP from handling events until this event is rolled back: for states that only a wrong
   * speculation can reach. If the event commits after all, the run fails with `reason`.
   */
  suspend(reason: string): void;
  /** Asks that the model's GVT hook be called at the first GVT that commits this event. */
  requestHook(): void;
  /**
   * Ends the run, if this event is committed: events at or past `now + delay` do not happen. With 0 all events of this very
   * time still do. The least of several counts. As a message to all LPs, it takes `lookahead` at least in conservative runs.
   * @param delay ≥ 0, in virtual time; `lookahead` by default
   */
  stop(delay?: number): void;
  /** Natural logarithm of `x`, the same bits on every JavaScript engine and platform. */
  log(x: number): number;
  /** e to the power `x`, the same bits everywhere. */
  exp(x: number): number;
  /** `x` to the power `y`, the same bits everywhere. */
  pow(x: number, y: number): number;
  /** Sine of `x` radians, the same bits everywhere; NaN beyond 2^20 radians. */
  sin(x: number): number;
  /** Cosine of `x` radians, the same bits everywhere; NaN beyond 2^20 radians. */
  cos(x: number): number;
  /** Square root of `x`: `Math.sqrt`, which is the same bits everywhere. */
  sqrt(x: number): number;
}

/** What a model records of its own: scalar fields, in the order of the file. */
type RecordedFields = Readonly<Record<string, Scalar>>;

/** The fields to be filled, zero before. A name that was not declared is a TypeError. */
export interface Datum {
  [field: string]: number | bigint | boolean;
}

/** `collect` is true before each call; false drops this record whole, the engine's part included. */
interface CollectControl {
  collect: boolean;
}

/**
 * A model's additions to the run's instrumentation (ROSS's `st_model_types`). Without them nothing changes. The
 * functions only read the LP; each is called if its option is set.
 */
export interface Instrument<S extends Fields, M extends Fields, P> {
  /** Once per LP at each sampling point of `--model-stats`. */
  readonly sample?: {
    readonly fields: RecordedFields;
    /** Number of rows that the LP makes: of its links, its customers; one where it is not given. */
    rows?(lp: LpView<S, P>): number;
    /** @param row number of the row, from 0 on */
    fill(lp: LpView<S, P>, data: Datum, control: CollectControl, row: number): void;
  };
  /** Once per event of `--event-trace=all` (just handled) or `committed`. */
  readonly traceEvent?: {
    readonly fields: RecordedFields;
    fill(
      lp: LpView<S, P>,
      message: ReadonlyStructOf<M>,
      data: Datum,
      control: CollectControl,
    ): void;
  };
  /** Once per event that causes a rollback, with `--event-trace=rollbacks`. */
  readonly traceRollback?: {
    readonly fields: RecordedFields;
    fill(
      lp: LpView<S, P>,
      message: ReadonlyStructOf<M>,
      data: Datum,
      control: CollectControl,
    ): void;
  };
}

/** The handlers of one type of LP. */
export interface LpHandlers<S extends Fields, M extends Fields, P> {
  /** Called once per LP at virtual time 0, in no particular order among PEs. */
  init(lp: Lp<S, M, P>): void;
  /** Handles one event. */
  forward(lp: Lp<S, M, P>, message: StructOf<M>): void;
  /**
   * Undoes what `forward` did to `state` and `message`. Without it the engine logs writes to the state
   * and undoes them itself (`message` is then read-only). Draws and sends are always the engine's to undo.
   */
  reverse?(lp: Lp<S, M, P>, message: StructOf<M>): void;
  /** Called once per committed event, in order of receive time for each LP. The state may already include later events. */
  commit?(lp: LpView<S, P>, message: ReadonlyStructOf<M>): void;
  /** Called once per LP after the end. */
  final?(lp: LpView<S, P>, results: Results): void;
  /** What LPs of this type record. */
  readonly instrument?: Instrument<S, M, P>;
}

/** The handlers and state of one type of LP. */
export interface LpType<S extends Fields, M extends Fields, P> extends LpHandlers<S, M, P> {
  /** Fields of the LP's state; zero at the start. */
  readonly state: S;
}

/** Collects the results of `final`: merged over all LPs and PEs, shown with the run's statistics. */
export interface Results {
  /** Adds `value` to the total called `name`. */
  add(name: string, value: number): void;
  /** Keeps the largest `value` called `name`. */
  max(name: string, value: number): void;
  /** Adds `weight` to bin `bin` (an integer ≥ 0) of the histogram called `name`. */
  count(name: string, bin: number, weight?: number): void;
  /** Adds one row about this LP: rows are not merged, and ordered by LP at the end. */
  row(name: string, values: Readonly<Record<string, number>>): void;
}

/** Where a model places its LPs. */
export interface CustomMapping {
  /**
   * @param lp global id of the LP, 0…lps-1
   * @param lps number of LPs of the run
   * @param pes number of PEs of the run
   * @returns number of the LP's PE, 0…pes-1
   */
  pe(lp: number, lps: number, pes: number): number;
  /**
   * @param lp global id of the LP
   * @param indexOnPe how many LPs with lower ids its PE has
   * @param kps number of KPs on each PE
   * @returns number of the LP's KP on its PE, 0…kps-1
   */
  kp?(lp: number, indexOnPe: number, kps: number): number;
}

/** Facts of a run that a model's functions may use. */
export interface RunFacts {
  /** Number of PEs. */
  readonly pes: number;
  /** Virtual time at which the run ends. */
  readonly end: number;
  /** Least offset of an event to another LP, in virtual time. */
  readonly lookahead: number;
}

/** What `prepare` may use beside the options. */
export interface PrepareFacts extends RunFacts {
  /** Number of LPs of the run. */
  readonly lps: number;
  /** A random stream of the run's seeds, of which no LP draws: the same numbers on each PE, and in each run with these seeds. */
  readonly random: Random;
}

/** Fields of messages and of states, for some values of the options. */
export interface ModelFields {
  readonly message: Fields;
  readonly types: ReadonlyMap<string, LpType<Fields, Fields, unknown>>;
}

/** A PE at a GVT: every event before `gvt` is committed and, for hooks at a time, none after it is done. */
export interface GvtHookContext<P> {
  /** Number of this PE, from 0 on. */
  readonly pe: number;
  /** Number of PEs of the run. */
  readonly pes: number;
  /** The GVT, in virtual time. */
  readonly gvt: number;
  /** What the model's `prepare` returned. */
  readonly params: P;
  /** The LPs of this PE, one view after another (the same object, moved). */
  lps(): Iterable<LpView<Fields, P>>;
  /** Calls the hook again when GVT reaches the virtual time `time`. */
  again(time: number): void;
  /** Prints a line. */
  output(text: string): void;
}

/** When the hook runs: at a virtual time (all events before it done, none after), every n-th GVT, or when an LP asks. */
export interface GvtHook<P> {
  /** Virtual time at which it runs. */
  readonly at?: number;
  /** Number of GVT computations from one call to the next. */
  readonly every?: number;
  /** Called on each PE. */
  run(context: GvtHookContext<P>): void;
}

/** How an animation draws a model's LPs (`--animate`). */
export interface Drawing<P> {
  /** The place of LP `lp` as [x, y], in any unit of length; y grows downwards. */
  at(lp: number, params: P): readonly [number, number];
  /** LPs with which a line joins LP `lp`; a line may be told from either end, or from both. */
  links?(lp: number, params: P): readonly number[];
}

/** A model: its LP types by name, whichever way they were declared. Where options size its fields, they are those of the defaults. */
export interface Model extends ModelFields {
  /** Lower case, as it appears in commands. */
  readonly name: string;
  /** One sentence; '' where the model has none. */
  readonly help: string;
  /** The model's own options, beside the engine's. */
  readonly options: OptionSpecs;
  /** Default of `--end`, in virtual time. */
  readonly end: number | undefined;
  /** Default of `--lookahead`, in virtual time. */
  readonly lookahead: number | undefined;
  /** Least offset of an event to an LP of a type, in virtual time, where that is more than the run's lookahead. */
  readonly lookaheads: ReadonlyMap<string, number>;
  /** Default of `--warmup`, in virtual time. */
  readonly warmup: number | undefined;
  /** Its fields for other options; null if no field depends on options. */
  readonly sizes: ((options: OptionValues<OptionSpecs>) => ModelFields) | null;
  /** Which LP is on which PE and KP. */
  readonly map: 'linear' | 'round-robin' | CustomMapping;
  /** What is called at GVTs; undefined for none. */
  readonly gvtHook: GvtHook<unknown> | undefined;
  /** Where the page draws the LPs; undefined for a grid. */
  readonly drawing: Drawing<unknown> | undefined;
  /** Instruments by name. */
  readonly instruments: Readonly<Record<string, Instrument<Fields, Fields, unknown>>>;
  /** Name of the instrument of the LP with global id `lp`; null for none, undefined for its type's. */
  instrumentOf(lp: number, params: unknown): string | null | undefined;
  /** Number of LPs for these options. */
  lps(options: OptionValues<OptionSpecs>, run: { readonly pes: number }): number;
  /** What handlers get as `params`. */
  prepare(
    options: OptionValues<OptionSpecs>,
    run: Omit<PrepareFacts, 'random'> & { readonly random?: Random; readonly tables?: Tables },
  ): unknown;
  /** What makes its tables. */
  readonly tables: TableMakers;
  /** Name of the type of the LP with global id `lp`. */
  typeOf(lp: number, params: unknown): string;
}

/** Whether a value imported from somewhere is what `defineModel` returns. */
export function isModel(value: unknown): value is Model {
  const m = value as Partial<Model> | null;
  return (
    typeof m === 'object' && m !== null && m.types instanceof Map && typeof m.lps === 'function'
  );
}
