/** Checks a model's declaration, as the modeller writes it, and makes of it what engines use. */

import { defaultsOf, type OptionSpecs, type OptionValues } from '../model/option.ts';
import { areSized, type Fields } from '../model/struct.ts';
import type {
  CustomMapping,
  Drawing,
  GvtHook,
  Instrument,
  LpType,
  Model,
  ModelFields,
  PrepareFacts,
} from './model.ts';
import * as check from './model-check.ts';
import { DeclarationError, ModelError } from './model-error.ts';
import type { ReadonlyTables, TableContext, Tables } from './tables.ts';

interface ModelCommon<O extends OptionSpecs, M extends Fields, P, L extends Tables> {
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
  /** Typed arrays that all LPs read: each is created once per run and shared by all PEs of a process. `prepare` receives them. */
  readonly tables?: {
    readonly [K in keyof L]: (options: OptionValues<O>, run: TableContext) => L[K];
  };
  /** Checks options and works out constants, once per PE. @throws Error with a line for the user. */
  prepare?(options: OptionValues<O>, run: PrepareFacts & { readonly tables: ReadonlyTables<L> }): P;
  /** Fields of every message. */
  readonly message: M;
  readonly map?: 'linear' | 'round-robin' | CustomMapping;
  readonly gvtHook?: GvtHook<P>;
  /** Instruments by name, for `instrumentOf`. */
  readonly instruments?: Readonly<Record<string, Instrument<Fields, M, P>>>;
  /** Where an animation of a run (`--animate`) draws LPs; in a grid without it. */
  readonly drawing?: Drawing<P>;
  /**
   * Name of the instrument of one LP: one of `instruments` or an LP type; null for none, undefined for its type's.
   * Where any LP has a part for traces, only LPs that have one are traced.
   */
  instrumentOf?(lp: number, params: P): string | null | undefined;
}

/** One of several types of LPs. */
interface OneOfTypes<S extends Fields, M extends Fields, P> extends LpType<S, M, P> {
  /** Least offset of an event to LPs of this type, in virtual time, where that is more than `--lookahead`. */
  readonly lookahead?: number;
}

interface SingleTypeModel<
  O extends OptionSpecs,
  S extends Fields,
  M extends Fields,
  P,
  L extends Tables,
> extends ModelCommon<O, M, P, L>,
    LpType<S, M, P> {}

interface MultiTypeModel<
  O extends OptionSpecs,
  T extends Readonly<Record<string, Fields>>,
  M extends Fields,
  P,
  L extends Tables,
> extends ModelCommon<O, M, P, L> {
  readonly types: { readonly [K in keyof T]: OneOfTypes<T[K], M, P> };
  /** The type of each LP. */
  typeOf(lp: number, params: P): keyof T & string;
}

type AnyType = LpType<Fields, Fields, unknown>;
type Options = OptionValues<OptionSpecs>;

/** A type of LP with its fields, for some values of the options. */
function typeWith(type: AnyType, state: Fields): AnyType {
  if (type.state === state) return type;
  return Object.assign(Object.create(Object.getPrototypeOf(type)), type, { state });
}

const placedMap = (where: string, map: CustomMapping): CustomMapping => ({
  pe: check.placed(where, 'map.pe', map.pe.bind(map)),
  ...(map.kp && { kp: check.placed(where, 'map.kp', map.kp.bind(map)) }),
});

const placedDrawing = (where: string, drawing: Drawing<unknown>): Drawing<unknown> => ({
  at: check.placed(where, 'drawing.at', drawing.at.bind(drawing)),
  ...(drawing.links && {
    links: check.placed(where, 'drawing.links', drawing.links.bind(drawing)),
  }),
});

/** The least of some lookaheads; undefined where one is not declared. */
const leastOf = (all: readonly (number | undefined)[]): number | undefined =>
  all.includes(undefined) ? undefined : Math.min(...all.map(Number));

/** The fields of a model's messages and states. */
class Declared {
  private readonly where: string;
  private readonly message: Fields;
  private readonly types: ReadonlyMap<string, AnyType>;

  constructor(where: string, message: Fields, types: ReadonlyMap<string, AnyType>) {
    this.where = where;
    this.message = message;
    this.types = types;
  }

  /** Whether options size any. */
  get isSized(): boolean {
    return [this.message, ...[...this.types.values()].map(({ state }) => state)].some(areSized);
  }

  /** @throws ModelError for invalid fields */
  fields(options: Options): ModelFields {
    const { where, types } = this;
    const message = this.given(where, 'message', 'message', this.message, options);
    check.expectMessage(where, message);
    const sized = [...types].map(([name, type]) => {
      const what = types.size > 1 ? `${where}, LP type '${name}'` : where;
      return [name, typeWith(type, this.given(what, 'state', name, type.state, options))] as const;
    });
    return { message, types: new Map(sized) };
  }

  private given(what: string, part: string, name: string, fields: Fields, options: Options) {
    check.expectObject(what, [part], fields);
    const made = check.sizing(what, part, fields, options);
    check.expectFields(what, part, name, made);
    return made;
  }
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
  L extends Tables = Readonly<Record<never, never>>,
>(model: SingleTypeModel<O, S, M, P, L>): Model;
export function defineModel<
  const O extends OptionSpecs,
  const T extends Readonly<Record<string, Fields>>,
  const M extends Fields,
  P = OptionValues<O>,
  L extends Tables = Readonly<Record<never, never>>,
>(model: MultiTypeModel<O, T, M, P, L>): Model;
export function defineModel(input: unknown): Model {
  const m = input as Partial<
    MultiTypeModel<OptionSpecs, Record<string, Fields>, Fields, unknown, Tables>
  > &
    Partial<SingleTypeModel<OptionSpecs, Fields, Fields, unknown, Tables>>;
  if (typeof m !== 'object' || m === null) throw new ModelError('defineModel needs an object');
  if (typeof m.name !== 'string' || m.name === '') throw new ModelError('a model needs a name');
  const where = `model '${m.name}'`;
  const multi = m.types !== undefined;
  check.expectParts(where, m, multi ? 'multi' : 'single');
  if (typeof m.lps !== 'function')
    throw new DeclarationError(`${where} needs lps(): the number of LPs`, [m.lps ? 'lps' : 'name']);
  check.expectCommon(where, m);
  for (const name of ['lps', 'prepare', 'typeOf', 'instrumentOf'] as const)
    check.expectPlain(where, name, m[name]);
  const types = new Map<string, AnyType>(
    multi ? Object.entries(m.types ?? {}) : [[m.name, m as AnyType]],
  );
  if (types.size === 0)
    throw new DeclarationError(`${where} needs at least one LP type`, ['types']);
  if (multi && typeof m.typeOf !== 'function') {
    throw new DeclarationError(
      `${where} has several LP types and needs typeOf(): the type of each LP`,
      ['types'],
    );
  }
  for (const [name, type] of types) {
    const what = multi ? `${where}, LP type '${name}'` : where;
    if (multi) check.expectParts(what, type, 'type');
    check.expectType(what, name, type);
  }
  const lookaheads = new Map(
    Object.entries(m.types ?? {}).flatMap(([name, { lookahead }]) =>
      lookahead === undefined ? [] : [[name, lookahead] as const],
    ),
  );
  const declared = new Declared(where, m.message as Fields, types);
  const single = m.name;
  const { map = 'linear', drawing } = m;
  const lps = check.asked(where, 'lps', m.lps.bind(m));
  const given = (m.prepare ?? ((options: object) => options)) as Model['prepare'];
  const prepare = check.asked(where, 'prepare', given.bind(m));
  const typeOf = m.typeOf ?? (() => single);
  const instrumentOf = m.instrumentOf ?? (() => undefined);
  const tables = Object.entries(m.tables ?? {}).map(
    ([name, make]) => [name, check.asked(where, `tables.${name}`, make.bind(m.tables))] as const,
  );
  return {
    name: m.name,
    help: m.help ?? '',
    options: m.options ?? {},
    end: m.end,
    lookahead: m.lookahead ?? leastOf([...types.keys()].map((name) => lookaheads.get(name))),
    lookaheads,
    warmup: m.warmup,
    ...declared.fields(defaultsOf(m.options ?? {})),
    sizes: declared.isSized ? (options) => declared.fields(options) : null,
    tables: Object.fromEntries(tables),
    map: typeof map === 'string' ? map : placedMap(where, map),
    gvtHook: m.gvtHook,
    drawing: drawing && placedDrawing(where, drawing),
    instruments: m.instruments ?? {},
    instrumentOf: check.placed(where, 'instrumentOf', instrumentOf.bind(m)),
    lps,
    prepare,
    typeOf: check.placed(where, 'typeOf', typeOf.bind(m)),
  };
}
