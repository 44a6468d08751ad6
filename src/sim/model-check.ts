/** What is wrong with a model as it is declared, or with what its handlers gave back. */

import { didYouMean } from '../model/nearest.ts';
import { ModelError } from './model-error.ts';

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
  'prepare',
  'message',
  'map',
  'gvtHook',
  'instruments',
  'instrumentOf',
];

/** Refuses what is no part of a model: a misspelt one would never be called. @throws ModelError with the nearest name */
export function expectParts(what: string, given: object, kind: 'single' | 'multi' | 'type'): void {
  const parts =
    kind === 'type'
      ? TYPE_PARTS
      : [...MODEL_PARTS, ...(kind === 'single' ? TYPE_PARTS : ['types', 'typeOf'])];
  for (const key of Object.keys(given)) {
    if (parts.includes(key)) continue;
    const near = didYouMean(key, parts);
    throw new ModelError(
      `${what}: '${key}' is not part of ${kind === 'type' ? 'an LP type' : 'a model'}${near === '' ? `; parts are ${parts.join(', ')}` : near}`,
    );
  }
}

/** Refuses functions that give back a promise or a generator. @throws ModelError that names the function */
export function expectPlain(what: string, name: string, f: unknown): void {
  if (f === undefined) return;
  if (typeof f !== 'function') throw new ModelError(`${what}: ${name} must be a function`);
  const made = f.constructor.name;
  if (made === 'AsyncFunction' || made === 'AsyncGeneratorFunction') {
    throw new ModelError(
      `${what}: ${name}() is async: code after its first await would run outside of its event; leave async out`,
    );
  }
  if (made === 'GeneratorFunction') {
    throw new ModelError(`${what}: ${name}() is a generator, which would never run; remove the *`);
  }
}

/** What a handler returned, where that is something. @throws ModelError for a promise */
export function expectNoPromise(returned: unknown): void {
  const then = (returned as { readonly then?: unknown } | null)?.then;
  if (typeof then === 'function') {
    throw new ModelError(
      'the handler returned a promise: code that runs later would be outside of its event; a handler must be done when it returns',
    );
  }
}
