/** Tables: typed arrays that all LPs read, made once for a run and shared by the PEs of a process. */
import type { OptionSpecs, OptionValues } from '../model/option.ts';
import type { RunConfig } from './config.ts';
import { DeclarationError } from './model-error.ts';
import type { Random } from './rng/random.ts';
import { SetupRandom, TABLES } from './rng/setup-random.ts';

type TypedArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

/** Tables by name. */
export type Tables = Readonly<Record<string, TypedArray>>;

/** Methods that would change a typed array, or give access to its memory. */
type Changing = 'set' | 'fill' | 'sort' | 'reverse' | 'copyWithin' | 'subarray' | 'buffer';

/** Tables as models see them: read-only. */
export type ReadonlyTables<L extends Tables> = {
  readonly [K in keyof L]: Readonly<Omit<L[K], Changing>>;
};

/** What the functions that make tables may use, beside the options. */
export interface TableContext {
  /** Number of LPs of the run. */
  readonly lps: number;
  /** Virtual time at which the run ends. */
  readonly end: number;
  /** A random stream of the run's seeds, of which neither an LP nor `prepare` draws. Tables are made in the order of their names in the model. */
  readonly random: Random;
}

/** How a model declares its tables. */
export type TableMakers = Readonly<
  Record<string, (options: OptionValues<OptionSpecs>, run: TableContext) => unknown>
>;

const KINDS = [
  ...[Int8Array, Uint8Array, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, BigInt64Array, BigUint64Array],
] as const;

/** The same elements in memory that threads share. */
function shared(made: TypedArray): TypedArray {
  const { buffer, byteOffset, byteLength } = made;
  const memory = new SharedArrayBuffer(byteLength);
  new Uint8Array(memory).set(new Uint8Array(buffer, byteOffset, byteLength));
  const Kind = KINDS.find((kind) => made instanceof kind) as Float64ArrayConstructor;
  return new Kind(memory);
}

/**
 * Makes the tables of a run. Where there are several PEs, they are in memory that threads share.
 * @throws ModelError where a function throws, or gives no typed array
 */
export function makeTables(
  model: { readonly name: string; readonly tables: TableMakers },
  config: RunConfig,
  lps: number,
): Tables {
  const random = new SetupRandom(config.seeds, TABLES);
  const facts: TableContext = { lps, end: config.end, random };
  const made = Object.entries(model.tables).map(([name, make]) => {
    const table = make(config.options, facts);
    if (!KINDS.some((kind) => table instanceof kind)) {
      throw new DeclarationError(
        `model '${model.name}': tables.${name}() must give a typed array, such as new Float64Array(n)`,
        ['tables', name],
      );
    }
    return [name, config.pes > 1 ? shared(table as TypedArray) : (table as TypedArray)] as const;
  });
  return Object.fromEntries(made);
}
