/** Objects that handlers get, whose names are known: one that they do not have is an error, read or written. */
import { FieldUseError } from '../model/field-error.ts';
import { chainEnd } from '../model/struct-class.ts';

/** What is complete: from then on nothing may be added to it. */
const complete = new WeakSet<object>();

/**
 * Ends the prototype chain of `prototype`, so that names that no object has are errors; those that it has cost what they did.
 * @param what how messages call such an object
 * @param acts what others of its kind can do, and it cannot
 */
export function sealNames(
  prototype: object,
  what: string,
  names: readonly string[],
  acts: readonly string[] = [],
): void {
  const end = chainEnd(what, names, 'name');
  const get = (target: object, key: string | symbol, instance: object) => {
    if (!acts.includes(String(key))) return Reflect.get(target, key, instance);
    throw new FieldUseError(
      `${what}.${String(key)}(): commit(), final(), hooks and instruments only read`,
    );
  };
  const set = (target: object, key: string | symbol, value: unknown, instance: object) =>
    complete.has(instance)
      ? Reflect.set(target, key, value, instance)
      : Reflect.defineProperty(instance, key, {
          value,
          writable: true,
          enumerable: true,
          configurable: true,
        });
  Object.setPrototypeOf(prototype, new Proxy(end, { get, set }));
}

/** Says that an object of a sealed kind is complete, and that its `state` stays the one that it has. */
export function seal(object: object): void {
  if ('state' in object) Object.defineProperty(object, 'state', { writable: false });
  complete.add(object);
}

/** Options as a model's functions see them: a name that was not declared is an error, and nothing may be written. */
export function sealedOptions<O extends object>(options: O): O {
  const sealed = Object.create(chainEnd('options', Object.keys(options), 'name')) as O;
  // Not assigned: that would ask the end of the chain.
  Object.defineProperties(sealed, Object.getOwnPropertyDescriptors(options));
  return Object.freeze(sealed);
}
