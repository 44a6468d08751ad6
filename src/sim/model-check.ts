/** Checks a model's declaration, and the values that its handlers return. */

import { didYouMean } from '../model/nearest.ts';
import { allowed, checkNumber, OptionError, type OptionSpec } from '../model/option.ts';
import { areSized, type Fields, layoutOf, sizedFields } from '../model/struct.ts';
import { ENGINE_OPTIONS } from './engine-options.ts';
import { DeclarationError, ModelError } from './model-error.ts';
import { withPlace } from './model-place.ts';
import { sealedOptions } from './sealed.ts';

/** The parts of a type of LP. */
const TYPE_PARTS = ['state', 'init', 'forward', 'reverse', 'commit', 'final', 'instrument'];
const MODEL_PARTS = [
  'name',
  'help',
  'options',
  'lps',
  'end',
  'lookahead',
  'warmup',
  'tables',
  'prepare',
  'message',
  'map',
  'gvtHook',
  'drawing',
  'instruments',
  'instrumentOf',
];

/** Refuses properties that are not part of a model: a misspelt handler would never be called. @throws ModelError with the nearest name */
export function expectParts(what: string, given: object, kind: 'single' | 'multi' | 'type'): void {
  const parts =
    kind === 'type'
      ? [...TYPE_PARTS, 'lookahead']
      : [...MODEL_PARTS, ...(kind === 'single' ? TYPE_PARTS : ['types', 'typeOf'])];
  for (const key of Object.keys(given)) {
    if (parts.includes(key)) continue;
    const near = didYouMean(key, parts);
    throw new DeclarationError(
      `${what}: '${key}' is not part of ${kind === 'type' ? 'an LP type' : 'a model'}${near === '' ? `; parts are ${parts.join(', ')}` : near}`,
      [key],
    );
  }
}

/** Refuses names that are not `known`. @throws ModelError with the nearest name */
function expectNames(
  what: string,
  part: readonly string[],
  given: object,
  known: readonly string[],
): void {
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const near = didYouMean(key, known);
    const all = `; there are ${known.join(', ')}`;
    throw new DeclarationError(
      `${what}: ${part.join('.')}.${key}: no such name${near === '' ? all : near}`,
      [...part, key],
    );
  }
}

/** @throws ModelError if `given` is not an object */
export function expectObject(
  what: string,
  part: readonly string[],
  given: unknown,
): asserts given is object {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return;
  throw new DeclarationError(`${what}: ${part.join('.')} must be an object, { … }`, part);
}

const shown = (value: unknown) =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);

/** The properties of a model's option. */
const SPEC = [
  ...['kind', 'default', 'help', 'min', 'max', 'unit', 'placeholder', 'fallback', 'bare', 'words'],
  ...['as', 'note', 'named', 'noEffect', 'none', 'choices', 'short', 'variable', 'names', 'hidden'],
];
const TYPE_OF: Readonly<Record<OptionSpec['kind'], string>> = {
  int: 'number',
  float: 'number',
  size: 'number',
  bool: 'boolean',
  string: 'string',
};

function expectOptions(what: string, options: unknown): void {
  expectObject(what, ['options'], options);
  for (const [name, spec] of Object.entries(options) as [string, OptionSpec | null][]) {
    const part = ['options', name];
    const wrong = (why: string) => new DeclarationError(`${what}: options.${name} ${why}`, part);
    if (typeof spec !== 'object' || spec === null || !Object.hasOwn(TYPE_OF, spec.kind)) {
      throw wrong('must be what int(), float(), size(), flag(), oneOf() or text() give');
    }
    expectNames(what, part, spec, SPEC);
    const type = TYPE_OF[spec.kind];
    const given: string = typeof spec.default;
    if (given !== type)
      throw wrong(`has the default ${shown(spec.default)}, which must be a ${type}`);
    if (typeof spec.default !== 'number') continue;
    try {
      checkNumber(name, spec, spec.default);
    } catch (error) {
      if (!(error instanceof OptionError)) throw error;
      throw wrong(`has the default ${spec.default}, and ${allowed(spec)}`);
    }
  }
}

/** A model's own `end`, `lookahead` and `warmup`. @throws ModelError for invalid values */
function expectTimes(
  what: string,
  given: Readonly<Record<string, unknown>>,
  part: readonly string[] = [],
): void {
  for (const name of ['end', 'lookahead', 'warmup'] as const) {
    const value = given[name];
    if (value === undefined) continue;
    if (typeof value === 'number' && value >= 0 && value < Infinity) continue;
    throw new DeclarationError(
      `${what}: ${name} is ${shown(value)}: ${allowed(ENGINE_OPTIONS[name])}`,
      [...part, name],
    );
  }
}

/** @throws ModelError for invalid fields */
export function expectFields(what: string, part: string, name: string, fields: unknown): void {
  if (typeof fields !== 'object' || fields === null)
    throw new DeclarationError(`${what} needs ${part}: its fields, or {}`, [part]);
  for (const [key, field] of Object.entries(fields as Fields)) {
    try {
      layoutOf(name, { [key]: field });
    } catch (error) {
      throw new DeclarationError(`${what}: ${(error as Error).message}`, [part, key]);
    }
  }
}

/** The fields for some values of the options. @throws ModelError for invalid lengths */
export function sizing(what: string, part: string, fields: Fields, options: object): Fields {
  const one = (name: string, field: Fields[string]) => {
    try {
      return sizedFields(
        { [name]: field },
        sealedOptions({ ...options }) as Record<string, unknown>,
      );
    } catch (error) {
      throw new DeclarationError(`${what}: ${part}.${name}: ${(error as Error).message}`, [
        part,
        name,
      ]);
    }
  };
  if (!areSized(fields)) return fields;
  return Object.assign({}, ...Object.entries(fields).map(([name, field]) => one(name, field)));
}

/** @throws ModelError for fields that a message cannot have */
export function expectMessage(what: string, fields: Fields): void {
  for (const [name, field] of Object.entries(fields)) {
    if (typeof field === 'object' && field?.kind === 'cells')
      throw new DeclarationError(
        `${what}, message.${name}: statistics, timers, parts and records belong to a state, not a message`,
        ['message', name],
      );
  }
}

function expectMap(what: string, map: unknown): void {
  if (map === undefined || map === 'linear' || map === 'round-robin') return;
  if (typeof map !== 'object' || map === null) {
    const near = typeof map === 'string' ? didYouMean(map, ['linear', 'round-robin']) : '';
    throw new DeclarationError(
      `${what}: map is ${shown(map)}; it is 'linear', 'round-robin' or { pe(lp, lps, pes) }${near}`,
      ['map'],
    );
  }
  expectNames(what, ['map'], map, ['pe', 'kp']);
  if (typeof (map as { pe?: unknown }).pe !== 'function')
    throw new DeclarationError(`${what}: map needs pe(lp, lps, pes): the PE of each LP`, ['map']);
}

function expectHook(what: string, hook: unknown): void {
  if (hook === undefined) return;
  expectObject(what, ['gvtHook'], hook);
  expectNames(what, ['gvtHook'], hook, ['at', 'every', 'run']);
  const { at, every, run } = hook as Readonly<Record<string, unknown>>;
  if (at !== undefined && typeof at !== 'number')
    throw new DeclarationError(
      `${what}: gvtHook.at is ${shown(at)}; it must be a virtual time, a number`,
      ['gvtHook', 'at'],
    );
  if (every !== undefined && !(Number.isInteger(every) && Number(every) > 0))
    throw new DeclarationError(
      `${what}: gvtHook.every is ${shown(every)}; it must be a positive integer`,
      ['gvtHook', 'every'],
    );
  if (run === undefined)
    throw new DeclarationError(`${what}: gvtHook needs run(context)`, ['gvtHook']);
  expectPlain(what, 'gvtHook.run', run, ['gvtHook', 'run']);
}

function expectInstrument(what: string, part: readonly string[], instrument: unknown): void {
  if (instrument === undefined) return;
  expectObject(what, part, instrument);
  expectNames(what, part, instrument, ['sample', 'traceEvent', 'traceRollback']);
  for (const [key, one] of Object.entries(instrument)) {
    expectObject(what, [...part, key], one);
    const rows = key === 'sample' ? ['rows'] : [];
    expectNames(what, [...part, key], one, ['fields', ...rows, 'fill']);
  }
}

function expectTables(what: string, tables: unknown): void {
  if (tables === undefined) return;
  expectObject(what, ['tables'], tables);
  for (const [name, make] of Object.entries(tables))
    expectPlain(what, `tables.${name}`, make, ['tables', name]);
}

/** Checks the parts that a model has once, whatever its LP types. @throws ModelError that says what is wrong, and where */
export function expectCommon(what: string, m: Readonly<Record<string, unknown>>): void {
  for (const name of ['help', 'options', 'instruments'] as const) {
    if (m[name] === undefined) continue;
    if (name === 'help') {
      if (typeof m.help !== 'string')
        throw new DeclarationError(`${what}: help is ${shown(m.help)}; it must be a text`, [name]);
    } else if (name === 'options') expectOptions(what, m.options);
    else {
      expectObject(what, [name], m.instruments);
      for (const [key, one] of Object.entries(m.instruments))
        expectInstrument(what, [name, key], one);
    }
  }
  expectTables(what, m.tables);
  expectTimes(what, m);
  expectMap(what, m.map);
  expectHook(what, m.gvtHook);
  expectDrawing(what, m.drawing);
}

function expectDrawing(what: string, drawing: unknown): void {
  if (drawing === undefined) return;
  expectObject(what, ['drawing'], drawing);
  expectNames(what, ['drawing'], drawing, ['at', 'links']);
  const { at, links } = drawing as Readonly<Record<string, unknown>>;
  if (at === undefined)
    throw new DeclarationError(`${what}: drawing needs at(lp, params): the LP’s place`, [
      'drawing',
    ]);
  expectPlain(what, 'drawing.at', at, ['drawing', 'at']);
  expectPlain(what, 'drawing.links', links, ['drawing', 'links']);
}

/** Checks the parts that each type of LP has. @throws ModelError that says what is wrong, and where */
export function expectType(what: string, name: string, given: unknown): void {
  expectObject(what, ['types', name], given);
  const type = given as Readonly<Record<string, unknown>>;
  for (const handler of ['forward', 'init'] as const) {
    if (type[handler] === undefined)
      throw new DeclarationError(`${what} needs ${handler}()`, ['name']);
  }
  expectTimes(what, { lookahead: type.lookahead }, ['types', name]);
  for (const handler of ['init', 'forward', 'reverse', 'commit', 'final'])
    expectPlain(what, handler, type[handler]);
  expectInstrument(what, ['instrument'], type.instrument);
}

/**
 * Wraps a model's function: its errors name it, and the place where they were thrown.
 * @param name the function's name in messages
 */
export function placed<A extends unknown[], R>(
  what: string,
  name: string,
  f: (...args: A) => R,
): (...args: A) => R {
  return (...args) => {
    try {
      return f(...args);
    } catch (error) {
      // A ModelError that the model throws itself is passed on as one line for the user.
      if (error instanceof ModelError || error instanceof OptionError) throw error;
      throw new ModelError(`${what}, ${name}(): ${withPlace(error)}`, { cause: error });
    }
  };
}

/** As `placed`, of a function of the options: undeclared ones are refused. */
export const asked = <O extends object, A extends unknown[], R>(
  what: string,
  name: string,
  f: (options: O, ...rest: A) => R,
): ((options: O, ...rest: A) => R) =>
  placed(what, name, (options: O, ...rest: A) => f(sealedOptions(options), ...rest));

/** Refuses functions that return a promise or a generator. @throws ModelError that names the function */
export function expectPlain(
  what: string,
  name: string,
  f: unknown,
  part: readonly string[] = [name],
): void {
  if (f === undefined) return;
  if (typeof f !== 'function')
    throw new DeclarationError(`${what}: ${name} must be a function`, part);
  const made = f.constructor.name;
  if (made === 'AsyncFunction' || made === 'AsyncGeneratorFunction') {
    throw new DeclarationError(
      `${what}: ${name}() is async: code after its first await would run outside of its event; leave async out`,
      part,
    );
  }
  if (made === 'GeneratorFunction') {
    throw new DeclarationError(
      `${what}: ${name}() is a generator, which would never run; remove the *`,
      part,
    );
  }
}

/** What a handler returned, where that is something. @throws ModelError for a promise */
export function expectNoPromise(returned: unknown): void {
  const then = (returned as { readonly then?: unknown } | null | undefined)?.then;
  if (typeof then === 'function') {
    throw new ModelError(
      'the handler returned a promise: code that runs later would be outside of its event; a handler must be done when it returns',
    );
  }
}
