/** What a modeller writes: a model's declaration, and what its handlers see. */

import type { OptionSpecs, OptionValues } from '../model/option.ts';
import type { Fields, ReadonlyStructOf, Scalar, StructOf } from '../model/struct.ts';
import { expectParts, expectPlain } from './model-check.ts';
import { ModelError } from './model-error.ts';

export { ModelError };

/** The event being handled, beside its message. Valid during the call only. */
export interface EventInfo {
  /** Global id of the LP that sent it, in `forward` or in `init`. */
  readonly source: number;
  /** Virtual time at which it was sent. */
  readonly sendTime: number;
  /** Among events of equal time the one of lower priority comes first; 1 where `send` was given none. */
  readonly priority: number;
  /** 32 bits that `forward` may leave for `reverse` (0 before every `forward`). ROSS's `tw_bf`. */
  bits: number;
}

/** Draws from the LP's own random stream; rolled back by the engine. See `rng/distributions.ts`. */
export interface Random {
  /** Uniform in (0, 1). One draw. */
  uniform(): number;
  /** Uniform integer in lo…hi, both included. One draw. */
  integer(lo: number, hi: number): number;
  /** Uniform 64-bit unsigned integer in lo…hi, both included. */
  ulong(lo: bigint, hi: bigint): bigint;
  /** Exponential with the given mean. One draw. */
  exponential(mean: number): number;
  /** Number of successes in `n` independent trials that succeed with probability `p`, 0 to 1. n draws. */
  binomial(n: number, p: number): number;
  /** Number of trials up to and including the first success of probability `p`; mean 1 / p. As many draws as the result says. */
  geometric(p: number): number;
  /** Number of events where `mean` are expected (Poisson). One draw more than the result. */
  poisson(mean: number): number;
  /**
   * Gamma: mean shape × scale, variance shape × scale². By rejection: two draws per round; one draw for shape 1, which is
   * the exponential distribution.
   * @param shape above 0, without a unit
   * @param scale at least 0, in the unit of the result
   */
  gamma(shape: number, scale: number): number;
  /**
   * Pareto: P(X > x) = (scale / x)^shape. The mean is shape × scale / (shape - 1) for a shape above 1, else infinite. One draw.
   * @param scale the least value, at least 0, in the unit of the result
   * @param shape above 0, without a unit. ROSS takes the shape first
   */
  pareto(scale: number, shape: number): number;
  /**
   * Weibull, by its mean: the usual scale parameter is mean / Γ(1 + 1 / shape). One draw.
   * @param mean at least 0, in the unit of the result
   * @param shape at least 1/170, without a unit; 1 is the exponential distribution
   */
  weibull(mean: number, shape: number): number;
  /** Standard normal (mean 0, standard deviation 1). Two draws for every second value. */
  normal01(): number;
  /** Normal with mean and standard deviation `sd` in the unit of the result. Draws as `normal01`. */
  normalSd(mean: number, sd: number): number;
  /** e^X with X normal; `mean` and `sd` are those of X, the logarithm. Draws as `normal01`. */
  lognormal(mean: number, sd: number): number;
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
  /** What the model's `prepare` made of its options; the options themselves without one. */
  readonly params: P;
  readonly event: EventInfo;
  readonly state: ReadonlyStructOf<S>;
}

/**
 * An LP during one call of its handlers. Everything done through it is undone when the event is rolled
 * back: draws, sends, output, suspension; and writes to `state`, unless the LP type has a `reverse`.
 */
export interface Lp<S extends Fields, M extends Fields, P>
  extends Omit<LpView<S, P>, 'state'>,
    Random {
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
 * What a model adds to the run's instrumentation (ROSS's `st_model_types`). Without one nothing changes. The
 * functions only read the LP; each part is called where its option asks for it.
 */
export interface Instrument<S extends Fields, M extends Fields, P> {
  /** Once per LP at each sampling point of `--model-stats`. */
  readonly sample?: {
    readonly fields: RecordedFields;
    fill(lp: LpView<S, P>, data: Datum, control: CollectControl): void;
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

/** The handlers and state of one type of LP. */
export interface LpType<S extends Fields, M extends Fields, P> {
  /** Fields of the LP's state; zero at the start. */
  readonly state: S;
  /** Called once per LP at virtual time 0, in no particular order among PEs. */
  init(lp: Lp<S, M, P>): void;
  /** Handles one event. */
  forward(lp: Lp<S, M, P>, message: StructOf<M>): void;
  /**
   * Undoes what `forward` did to `state` and `message`. Without it the engine logs writes to the state
   * and undoes them itself (`message` is then read-only). Draws and sends are always the engine's to undo.
   */
  reverse?(lp: Lp<S, M, P>, message: StructOf<M>): void;
  /** Called once per committed event, in order of receive time for each LP. The state may be ahead of it. */
  commit?(lp: LpView<S, P>, message: ReadonlyStructOf<M>): void;
  /** Called once per LP after the end. */
  final?(lp: LpView<S, P>, results: Results): void;
  /** What LPs of this type record. */
  readonly instrument?: Instrument<S, M, P>;
}

/** Where `final` puts results: merged over all LPs and PEs, shown with the run's statistics. */
export interface Results {
  /** Adds `value` to the total called `name`. */
  add(name: string, value: number): void;
  /** Keeps the largest `value` called `name`. */
  max(name: string, value: number): void;
  /** Adds `weight` to bin `bin` (an integer ≥ 0) of the histogram called `name`. */
  count(name: string, bin: number, weight?: number): void;
  /** One row about this LP: kept apart, ordered by LP in the end. */
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

interface ModelCommon<O extends OptionSpecs, M extends Fields, P> {
  /** Lower case, as it appears in commands. */
  readonly name: string;
  /** One sentence. */
  readonly help?: string;
  /** The model's own options, beside the engine's. */
  readonly options?: O;
  /** Total number of LPs. */
  lps(options: OptionValues<O>, run: { readonly pes: number }): number;
  /** Default of `--end`, in virtual time. */
  readonly end?: number;
  /** Default of `--lookahead`, in virtual time. */
  readonly lookahead?: number;
  /** Default of `--warmup`, in virtual time. */
  readonly warmup?: number;
  /** Checks options and works out constants, once per PE. @throws Error with a line for the user. */
  prepare?(options: OptionValues<O>, run: RunFacts & { readonly lps: number }): P;
  /** Fields of every message. */
  readonly message: M;
  readonly map?: 'linear' | 'round-robin' | CustomMapping;
  readonly gvtHook?: GvtHook<P>;
  /** Instruments by name, for `instrumentOf`. */
  readonly instruments?: Readonly<Record<string, Instrument<Fields, M, P>>>;
  /**
   * Name of the instrument of one LP: one of `instruments` or an LP type; null for none, undefined for its type's.
   * Where any LP has a part for traces, only LPs that have one are traced.
   */
  instrumentOf?(lp: number, params: P): string | null | undefined;
}

interface SingleTypeModel<O extends OptionSpecs, S extends Fields, M extends Fields, P>
  extends ModelCommon<O, M, P>,
    LpType<S, M, P> {}

interface MultiTypeModel<
  O extends OptionSpecs,
  T extends Readonly<Record<string, Fields>>,
  M extends Fields,
  P,
> extends ModelCommon<O, M, P> {
  readonly types: { readonly [K in keyof T]: LpType<T[K], M, P> };
  /** The type of each LP. */
  typeOf(lp: number, params: P): keyof T & string;
}

/** A model ready to run: its LP types by name, whichever way they were declared. */
export interface Model {
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
  /** Default of `--warmup`, in virtual time. */
  readonly warmup: number | undefined;
  readonly message: Fields;
  readonly types: ReadonlyMap<string, LpType<Fields, Fields, unknown>>;
  readonly map: 'linear' | 'round-robin' | CustomMapping;
  readonly gvtHook: GvtHook<unknown> | undefined;
  readonly instruments: Readonly<Record<string, Instrument<Fields, Fields, unknown>>>;
  /** Name of the instrument of the LP with global id `lp`; null for none, undefined for its type's. */
  instrumentOf(lp: number, params: unknown): string | null | undefined;
  /** Number of LPs for these options. */
  lps(options: OptionValues<OptionSpecs>, run: { readonly pes: number }): number;
  /** What handlers get as `params`. */
  prepare(options: OptionValues<OptionSpecs>, run: RunFacts & { readonly lps: number }): unknown;
  /** Name of the type of the LP with global id `lp`. */
  typeOf(lp: number, params: unknown): string;
}

/**
 * Declares a model with one type of LP, or several (`types` and `typeOf`).
 * @throws ModelError that names what is missing or malformed
 * @example
 * ```ts
 * import { defineModel, float } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'ping',
 *   options: { mean: float(2, 'mean time between two pings') },
 *   lps: () => 100,
 *   end: 1000,
 *   lookahead: 1,
 *   state: { pings: 'u32' },
 *   message: { from: 'u32' },
 *   init(lp) {
 *     lp.send(lp.id, 1 + lp.exponential(lp.params.mean)).from = lp.id;
 *   },
 *   forward(lp) {
 *     lp.state.pings++;
 *     lp.send(lp.integer(0, lp.lps - 1), 1 + lp.exponential(lp.params.mean)).from = lp.id;
 *   },
 *   final: (lp, results) => results.add('pings', lp.state.pings),
 * });
 * ```
 */
export function defineModel<
  const O extends OptionSpecs,
  const S extends Fields,
  const M extends Fields,
  P = OptionValues<O>,
>(model: SingleTypeModel<O, S, M, P>): Model;
export function defineModel<
  const O extends OptionSpecs,
  const T extends Readonly<Record<string, Fields>>,
  const M extends Fields,
  P = OptionValues<O>,
>(model: MultiTypeModel<O, T, M, P>): Model;
export function defineModel(input: unknown): Model {
  const m = input as Partial<MultiTypeModel<OptionSpecs, Record<string, Fields>, Fields, unknown>> &
    Partial<SingleTypeModel<OptionSpecs, Fields, Fields, unknown>>;
  if (typeof m !== 'object' || m === null) throw new ModelError('defineModel needs an object');
  if (typeof m.name !== 'string' || m.name === '') throw new ModelError('a model needs a name');
  const where = `model '${m.name}'`;
  const multi = m.types !== undefined;
  expectParts(where, m, multi ? 'multi' : 'single');
  if (typeof m.lps !== 'function') throw new ModelError(`${where} needs lps(): the number of LPs`);
  if (typeof m.message !== 'object' || m.message === null)
    throw new ModelError(`${where} needs message: its fields, or {}`);
  for (const [name, field] of Object.entries(m.message)) {
    if (typeof field === 'object' && field?.kind === 'cells')
      throw new ModelError(
        `${where}, message.${name}: a statistic belongs to a state, not a message`,
      );
  }
  for (const name of ['lps', 'prepare', 'typeOf', 'instrumentOf'] as const)
    expectPlain(where, name, m[name]);
  const types = new Map<string, LpType<Fields, Fields, unknown>>(
    multi ? Object.entries(m.types ?? {}) : [[m.name, m as LpType<Fields, Fields, unknown>]],
  );
  if (types.size === 0) throw new ModelError(`${where} needs at least one LP type`);
  if (multi && typeof m.typeOf !== 'function') {
    throw new ModelError(`${where} has several LP types and needs typeOf(): the type of each LP`);
  }
  for (const [name, type] of types) {
    const what = multi ? `${where}, LP type '${name}'` : where;
    if (multi) expectParts(what, type, 'type');
    if (typeof type.forward !== 'function') throw new ModelError(`${what} needs forward()`);
    if (typeof type.init !== 'function') throw new ModelError(`${what} needs init()`);
    if (typeof type.state !== 'object' || type.state === null)
      throw new ModelError(`${what} needs state: its fields, or {}`);
    for (const handler of ['init', 'forward', 'reverse', 'commit', 'final'] as const)
      expectPlain(what, handler, type[handler]);
  }
  const single = m.name;
  const { lps, prepare, typeOf, instrumentOf } = m;
  return {
    name: m.name,
    help: m.help ?? '',
    options: m.options ?? {},
    end: m.end,
    lookahead: m.lookahead,
    warmup: m.warmup,
    message: m.message,
    types,
    map: m.map ?? 'linear',
    gvtHook: m.gvtHook,
    instruments: m.instruments ?? {},
    instrumentOf: (lp, params) => instrumentOf?.call(m, lp, params),
    lps: (options, run) => lps.call(m, options, run),
    prepare: (options, run) => (prepare === undefined ? options : prepare.call(m, options, run)),
    typeOf: (lp, params) => (typeOf === undefined ? single : typeOf.call(m, lp, params)),
  };
}

/** Whether a value imported from somewhere is what `defineModel` returns. */
export function isModel(value: unknown): value is Model {
  const m = value as Partial<Model> | null;
  return (
    typeof m === 'object' && m !== null && m.types instanceof Map && typeof m.lps === 'function'
  );
}
