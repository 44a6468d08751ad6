/** Objects for handlers whose names are known: reading or writing any other name is an error. */
import { FieldUseError } from '../model/field-error.ts';
import { chainEnd } from '../model/struct-class.ts';

/** Complete objects: nothing may be added to them. */
const complete = new WeakSet<object>();

/**
 * Ends the prototype chain of `prototype`, so that unknown names are errors; known names cost no more than before.
 * @param what the name of such an object in messages
 * @param acts methods that similar objects have, and this one has not
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

/** Declares that an object of a sealed kind is complete, and that its `state` is never replaced. */
export function seal(object: object): void {
  if ('state' in object) Object.defineProperty(object, 'state', { writable: false });
  complete.add(object);
}

/** Options as a model's functions see them: undeclared names are errors, and nothing may be written. */
export function sealedOptions<O extends object>(options: O): O {
  const sealed = Object.create(chainEnd('options', Object.keys(options), 'name')) as O;
  // Not assigned: an assignment would reach the end of the prototype chain.
  Object.defineProperties(sealed, Object.getOwnPropertyDescriptors(options));
  return Object.freeze(sealed);
}
