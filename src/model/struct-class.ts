/**
 * Generates the accessor class of a struct layout.
 *
 * An instance is a flyweight: `$b` names the struct it stands on, in 8-byte units from the start of the
 * memory, and is moved before each use. Offsets are literals in generated code, which V8 folds into one
 * load or store; a closure per field or a table look-up is 3 to 10 times slower.
 */
import { type CellsField, type FieldHost, StructCells, type WriteLog } from './cells.ts';
import { FieldOverflowError, FieldUseError, ReadonlyFieldError } from './field-error.ts';
import { didYouMean } from './nearest.ts';
import {
  type Fields,
  layoutOf,
  type Scalar,
  type StructLayout,
  type StructOf,
  type WordField,
  widthOf,
  wordScalar,
} from './struct.ts';

/** Typed views over one piece of memory. */
export interface Memory {
  readonly i8: Int8Array;
  readonly u8: Uint8Array;
  readonly i16: Int16Array;
  readonly u16: Uint16Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
  readonly i64: BigInt64Array;
  readonly u64: BigUint64Array;
  readonly f32: Float32Array;
  readonly f64: Float64Array;
}

/** All views over `buffer`. */
export function memoryOf(buffer: ArrayBufferLike): Memory {
  return {
    i8: new Int8Array(buffer),
    u8: new Uint8Array(buffer),
    i16: new Int16Array(buffer),
    u16: new Uint16Array(buffer),
    i32: new Int32Array(buffer),
    u32: new Uint32Array(buffer),
    i64: new BigInt64Array(buffer),
    u64: new BigUint64Array(buffer),
    f32: new Float32Array(buffer),
    f64: new Float64Array(buffer),
  };
}

/** The movable part of every generated accessor. */
export interface Flyweight {
  /** Start of the struct, in 8-byte units. */
  $b: number;
  /** Null where writes are not logged. */
  $log: WriteLog | null;
  /** The LP, where fields ask for it (`cells.ts`). */
  $host: FieldHost | null;
}

/** With `sent`, a struct at 0 is closed: its fields may neither be written nor read any more. */
export type Access = 'plain' | 'logged' | 'readonly' | 'sent';

/** A value as it would be written in a program. */
export const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);

/** What generated code throws. */
export const fail = {
  word(where: string, words: readonly string[], value: unknown): never {
    const near = typeof value === 'string' ? didYouMean(value, words) : '';
    const all = words.length > 20 ? `${words.slice(0, 20).join(', ')}…` : words.join(', ');
    throw new FieldUseError(
      `${where}: ${shown(value)} is none of its words${near === '' ? `; there are ${all}` : near}`,
    );
  },
  overflow(where: string, type: string, value: unknown): never {
    throw new FieldOverflowError(`${where}: ${shown(value)} does not fit in ${type}`);
  },
  assigned(where: string, how: string): never {
    throw new FieldUseError(`${where}: cannot be assigned to; ${how}`);
  },
  index(where: string, index: unknown, length: number): never {
    throw new FieldOverflowError(`${where}[${String(index)}]: index outside 0..${length - 1}`);
  },
  full(where: string, capacity: number): never {
    throw new FieldOverflowError(`${where}: the ring is full (capacity ${capacity})`);
  },
  empty(where: string): never {
    throw new FieldOverflowError(`${where}: the ring is empty`);
  },
  readonly(where: string, why: string): never {
    throw new ReadonlyFieldError(`${where}: read-only here; ${why}`);
  },
  closed(where: string, use: 'filled' | 'read'): never {
    const kept = `it was ${use} after the next send() or after its event, and would have been another event’s; fill each message before the next send()`;
    throw new ReadonlyFieldError(
      `${where}: ${use === 'filled' ? 'read-only' : 'no longer'} here; ${kept}`,
    );
  },
};

/** What JavaScript itself asks of an object that it awaits, compares or prints. */
const ASKED = new Set(['then', 'toJSON', 'asymmetricMatch', 'nodeType', 'tagName', '$$typeof']);

/**
 * The end of a prototype chain: reached by the names that an object does not have, and by those alone, so that a
 * misspelt field costs nothing where there is none.
 * @param kind what messages call a name
 */
export function chainEnd(
  where: string,
  names: readonly string[],
  kind: 'field' | 'name',
  views = false,
): object {
  const unknown = (key: string, use: 'read' | 'written'): never => {
    if (views && /^\d+$/.test(key)) {
      const method = use === 'read' ? `get(${key})` : `set(${key}, value)`;
      const by = names.includes(use === 'read' ? 'get' : 'set') ? `; use ${where}.${method}` : '';
      throw new FieldUseError(`${where}[${key}]: elements are not ${use} by index${by}`);
    }
    const near = didYouMean(key, names);
    const all = names.length === 0 ? 'none is declared' : `there are ${names.join(', ')}`;
    throw new FieldUseError(`${where}.${key}: no such ${kind}${near === '' ? `; ${all}` : near}`);
  };
  return new Proxy(Object.prototype, {
    get: (target, key, receiver) =>
      typeof key === 'symbol' || key in target || ASKED.has(key)
        ? Reflect.get(target, key, receiver)
        : unknown(key, 'read'),
    set: (_target, key) => unknown(String(key), 'written'),
  });
}

/** The view that holds a scalar, and the index of byte `offset` from `$b`, as source text. */
function slot(scalar: Scalar, offset: number, base = 'this.$b', extra = ''): string {
  const view = scalar === 'bool' ? 'u8' : scalar;
  const width = widthOf(scalar);
  const shift = { 1: 3, 2: 2, 4: 1, 8: 0 }[width] ?? 0;
  const at = shift === 0 ? base : `(${base} << ${shift})`;
  const owner = base === 'this.$b' ? 'this' : 'this.s';
  return `${owner}.$${view}[${at} + ${offset / width}${extra}]`;
}

/** Source that throws where `v` does not fit. @param where source of the field's name */
export function check(scalar: Scalar, where: string): string {
  const over = `fail.overflow(${where}, '${scalar}', v)`;
  switch (scalar) {
    case 'i8':
      return `if ((v << 24 >> 24) !== v) ${over};`;
    case 'u8':
      return `if ((v & 255) !== v) ${over};`;
    case 'i16':
      return `if ((v << 16 >> 16) !== v) ${over};`;
    case 'u16':
      return `if ((v & 65535) !== v) ${over};`;
    case 'i32':
      return `if ((v | 0) !== v) ${over};`;
    case 'u32':
      return `if ((v >>> 0) !== v) ${over};`;
    case 'i64':
      return `if (typeof v !== 'bigint' || BigInt.asIntN(64, v) !== v) ${over};`;
    case 'u64':
      return `if (typeof v !== 'bigint' || BigInt.asUintN(64, v) !== v) ${over};`;
    case 'f32':
      return `if (typeof v !== 'number' || (v - v === 0 && !(Math.abs(v) < 3.4028235677973366e38))) ${over};`;
    case 'f64':
      return `if (typeof v !== 'number') ${over};`;
    case 'bool':
      return `if (typeof v !== 'boolean') ${over};`;
  }
}

/** Source that throws where a message that is being sent is closed. @param where source of the field's name */
const open = (access: Access, where: string, use: 'filled' | 'read', base = 'this.$b') =>
  access === 'sent' ? `if (${base} === 0) fail.closed(${where}, '${use}');` : '';
const read = (scalar: Scalar, place: string) => (scalar === 'bool' ? `${place} !== 0` : place);
const value = (scalar: Scalar) => (scalar === 'bool' ? '(v ? 1 : 0)' : 'v');

function scalarSource(name: string, where: string, t: Scalar, offset: number, access: Access) {
  const place = slot(t, offset);
  const w = JSON.stringify(where);
  const log =
    access === 'logged' ? `if (this.$log !== null) this.$log.save(this.$b + ${offset >> 3});` : '';
  const set =
    access === 'readonly'
      ? `fail.readonly(${w}, why)`
      : `${open(access, w, 'filled')} ${check(t, w)} ${log} ${place} = ${value(t)};`;
  return `get ${name}() { ${open(access, w, 'read')} return ${read(t, place)}; } set ${name}(v) { ${set} }`;
}

/** The number of a word. @throws FieldUseError for what is none of the field's words */
export const wordIndex = ({ numbers, words }: WordField, where: string, value: unknown): number =>
  numbers.get(value) ?? fail.word(where, words, value);

function wordSource(
  name: string,
  where: string,
  field: WordField,
  k: number,
  offset: number,
  access: Access,
) {
  const place = slot(wordScalar(field), offset);
  const w = JSON.stringify(where);
  const log =
    access === 'logged' ? `if (this.$log !== null) this.$log.save(this.$b + ${offset >> 3});` : '';
  const set =
    access === 'readonly'
      ? `fail.readonly(${w}, why)`
      : `${open(access, w, 'filled')} const n = indexOf(words[${k}], ${w}, v); ${log} ${place} = n;`;
  return `get ${name}() { ${open(access, w, 'read')} return words[${k}].words[${place}]; } set ${name}(v) { ${set} }`;
}

/** Source of an expression for the 8-byte cell of element `i` in a view that starts at byte `offset`. */
function cellOf(t: Scalar, offset: number): string {
  const width = widthOf(t);
  return width === 8 ? `${offset >> 3} + i` : `((${offset} + i * ${width}) >> 3)`;
}

function viewSource(where: string, t: Scalar, offset: number, access: Access, ringOf?: number) {
  const data = ringOf === undefined ? offset : offset + 8;
  const save = (cell: string) =>
    access === 'logged' ? `if (this.s.$log !== null) this.s.$log.save(this.s.$b + ${cell});` : '';
  const element = slot(t, data, 'this.s.$b', ' + i');
  const w = JSON.stringify(where);
  const refuse =
    access === 'readonly' ? `fail.readonly(${w}, why);` : open(access, w, 'filled', 'this.s.$b');
  const expect = open(access, w, 'read', 'this.s.$b');
  if (ringOf === undefined) {
    return (length: number) => `class {
      s;
      constructor(s) { this.s = s; }
      get length() { return ${length}; }
      get(i) { ${expect} if ((i >>> 0) !== i || i >= ${length}) fail.index(${w}, i, ${length}); return ${read(t, element)}; }
      set(i, v) { ${refuse} if ((i >>> 0) !== i || i >= ${length}) fail.index(${w}, i, ${length});
        ${check(t, w)} ${save(cellOf(t, data))} ${element} = ${value(t)}; }
      fill(v) { for (let i = 0; i < ${length}; i++) this.set(i, v); }
    }`;
  }
  const head = `this.s.$u32[(this.s.$b << 1) + ${offset / 4}]`;
  const count = `this.s.$u32[(this.s.$b << 1) + ${offset / 4 + 1}]`;
  // Head and count may lie in two 8-byte cells where the ring starts in mid-cell.
  const saveBoth =
    save(String(offset >> 3)) + (offset % 8 === 0 ? '' : save(String((offset + 4) >> 3)));
  // By a remainder: V8 would compile `if (i >= capacity)` as never taken, and all of it once more when the ring first wraps.
  return (capacity: number) => `class {
    s;
    constructor(s) { this.s = s; }
    get length() { ${expect} return ${count}; }
    get capacity() { return ${capacity}; }
    get(k) { ${expect} const n = ${count}; if ((k >>> 0) !== k || k >= n) fail.index(${w}, k, n);
      const i = (${head} + k) % ${capacity}; return ${read(t, element)}; }
    push(v) { ${refuse} const n = ${count}; if (n === ${capacity}) fail.full(${w}, ${capacity});
      ${check(t, w)} const i = (${head} + n) % ${capacity};
      ${saveBoth} ${save(cellOf(t, data))} ${element} = ${value(t)}; ${count} = n + 1; }
    shift() { ${refuse} const n = ${count}; if (n === 0) fail.empty(${w});
      const i = ${head}; ${saveBoth} ${head} = i + 1 === ${capacity} ? 0 : i + 1; ${count} = n - 1; return ${read(t, element)}; }
    clear() { ${refuse} ${saveBoth} ${head} = 0; ${count} = 0; }
  }`;
}

type StructClass<F extends Fields> = new (
  memory: Memory,
  log: WriteLog | null,
) => StructOf<F> & Flyweight;

const VIEWS = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64', 'f32', 'f64'];

const UNWRITTEN = 'a received message may be written only by a model with reverse()';

/**
 * The accessor class for `layout`. Names that it does not have throw, read or written.
 * @param shift bytes added to every offset: where the struct starts inside a larger record; multiple of 8.
 * @param why with `readonly`: why it may not be written, for the error
 */
export function structClass<F extends Fields>(
  layout: StructLayout,
  access: Access,
  shift = 0,
  why = UNWRITTEN,
): StructClass<F> {
  const members: string[] = [];
  const inits: string[] = [];
  const own: CellsField[] = [];
  const words: WordField[] = [];
  for (const { name, field, offset } of layout.fields) {
    const where = `${layout.name}.${name}`;
    const at = offset + shift;
    if (typeof field === 'string') {
      members.push(scalarSource(name, where, field, at, access));
      continue;
    }
    if (field.kind === 'word') {
      members.push(wordSource(name, where, field, words.length, at, access));
      words.push(field);
      continue;
    }
    if (field.kind === 'cells') {
      const w = JSON.stringify(where);
      inits.push(
        `this.$_${name} = own[${own.length}].view(new Cells(this, ${at / 8}, ${w}, ${access === 'readonly' ? 'why' : 'null'}));`,
      );
      members.push(
        `$_${name}; get ${name}() { return this.$_${name}; } set ${name}(v) { fail.assigned(${w}, 'use its methods'); }`,
      );
      own.push(field);
      continue;
    }
    const [source, methods, how] =
      field.kind === 'array'
        ? [
            viewSource(where, field.of, at, access)(field.length),
            ['length', 'get', 'set', 'fill'],
            'use set(index, value) or fill(value)',
          ]
        : [
            viewSource(where, field.of, at, access, field.capacity)(field.capacity),
            ['length', 'capacity', 'get', 'push', 'shift', 'clear'],
            'use push(value), shift() or clear()',
          ];
    const w = JSON.stringify(where);
    inits.push(
      `this.$_${name} = new (guarded(${source}, ${w}, ${JSON.stringify(methods)}, true))(this);`,
    );
    members.push(
      `$_${name}; get ${name}() { return this.$_${name}; } set ${name}(v) { fail.assigned(${w}, '${how}'); }`,
    );
  }
  const source = `return class Struct {
    $b = 0; $log; $host = null; ${access === 'sent' ? '$next = null;' : ''} ${VIEWS.map((v) => `$${v};`).join(' ')}
    ${members.join('\n')}
    constructor(m, log) { this.$log = log; ${VIEWS.map((v) => `this.$${v} = m.${v};`).join(' ')} ${inits.join('\n')} }
  };`;
  const make = new Function('fail', 'guarded', 'why', 'own', 'Cells', 'words', 'indexOf', source);
  const names = layout.fields.map(({ name }) => name);
  return guarded(
    make(fail, guarded, why, own, StructCells, words, wordIndex) as StructClass<F>,
    layout.name,
    names,
    false,
  );
}

/** The class, its prototype chain ended by a guard. */
function guarded<C extends { readonly prototype: object }>(
  made: C,
  where: string,
  names: readonly string[],
  views: boolean,
): C {
  Object.setPrototypeOf(made.prototype, chainEnd(where, names, 'field', views));
  return made;
}

/** Reads one struct into a plain object: arrays and rings become arrays, fields of cells stay views with a `toJSON`. For messages and errors. */
export function plain(layout: StructLayout, struct: object): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  const from = struct as Record<string, unknown>;
  for (const { name, field } of layout.fields) {
    if (typeof field === 'string' || field.kind === 'cells' || field.kind === 'word')
      out[name] = from[name];
    else {
      const view = from[name] as { length: number; get(i: number): unknown };
      out[name] = Array.from({ length: view.length }, (_, i) => view.get(i));
    }
  }
  return out;
}

/**
 * Ends the prototype chain of a class of views: names that it does not have are errors, wherever they are read or written.
 * @param own what its constructor sets
 */
export function sealed(
  View: { readonly prototype: object },
  where: string,
  own: readonly string[],
): void {
  const names = Object.getOwnPropertyNames(View.prototype);
  const known = names.filter((name) => !['constructor', 'gather', 'toJSON'].includes(name));
  const end = chainEnd(where, known, 'field');
  const set = (target: object, key: string | symbol, value: unknown, instance: object) =>
    own.includes(String(key))
      ? Reflect.defineProperty(instance, key, { value, enumerable: true })
      : Reflect.set(target, key, value, instance);
  Object.setPrototypeOf(View.prototype, new Proxy(end, { set }));
}

export { layoutOf, type WriteLog };
