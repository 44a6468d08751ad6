/**
 * Calls that a handler must not make: clocks, random numbers other than its LP's, and
 * timers. With them, a run would differ from the next, and an event from its own repetition. Users' models are compiled with
 * these names replaced by the functions here (compile-model.ts), which refuse while handlers run.
 */

/** One instance for all copies of this module in a thread: a model may use another copy than the engine. */
const state = (() => {
  const key = Symbol.for('triscope.sim.handling');
  const all = globalThis as { [key: symbol]: { depth: number } | undefined };
  all[key] ??= { depth: 0 };
  return all[key];
})();

/** Runs `work`, which calls handlers. */
export function handling<T>(work: () => T): T {
  state.depth++;
  try {
    return work();
  } finally {
    state.depth--;
  }
}

/** A call that makes a run differ from the next. */
class OutsideError extends Error {
  override readonly name = 'OutsideError';
}

const expectOutside = (name: string, why: string) => {
  if (state.depth > 0) throw new OutsideError(`${name}: ${why}`);
};

/** `method` of `owner`, refused while handlers run. */
function refusing<O extends object, K extends keyof O>(
  owner: O,
  method: K,
  name: string,
  why: string,
): O[K] {
  const original = owner[method] as (...args: unknown[]) => unknown;
  return ((...args: unknown[]) => {
    expectOutside(`${name}()`, why);
    return original.apply(owner, args);
  }) as O[K];
}

const NOT_AGAIN = 'differs from run to run, and when an event is handled again';
const DRAW = `${NOT_AGAIN}; draw with lp.uniform()`;
const CLOCK = `${NOT_AGAIN}; virtual time is lp.now`;
const LATER =
  'acts after its event is over; send an event to the LP itself (lp.send(lp.id, delay))';

const END =
  'ends all that runs here, without results; end the run with lp.stop(), or throw an error';

export const random = refusing(Math, 'random', 'Math.random', DRAW);
export const now = refusing(performance, 'now', 'performance.now', CLOCK);
export const hrtime = Object.assign(refusing(process, 'hrtime', 'process.hrtime', CLOCK), {
  bigint: refusing(process.hrtime, 'bigint', 'process.hrtime.bigint', CLOCK),
});
export const exit = refusing(process, 'exit', 'process.exit', END);
export const nextTick = refusing(process, 'nextTick', 'process.nextTick', LATER);
export const randomUUID = refusing(crypto, 'randomUUID', 'crypto.randomUUID', DRAW);
export const getRandomValues = refusing(crypto, 'getRandomValues', 'crypto.getRandomValues', DRAW);
export const timeout = refusing(globalThis, 'setTimeout', 'setTimeout', LATER);
export const interval = refusing(globalThis, 'setInterval', 'setInterval', LATER);
export const immediate = refusing(globalThis, 'setImmediate', 'setImmediate', LATER);
export const microtask = refusing(globalThis, 'queueMicrotask', 'queueMicrotask', LATER);

export const fetching = refusing(globalThis, 'fetch', 'fetch', LATER);

const dateNow = refusing(Date, 'now', 'Date.now', CLOCK);

/** `Date`, which refuses the present time while handlers run. */
export const date = new Proxy(Date, {
  get: (target, key) => (key === 'now' ? dateNow : Reflect.get(target, key)),
  construct: (target, args, made) => {
    if (args.length === 0) expectOutside('new Date()', CLOCK);
    return Reflect.construct(target, args, made);
  },
  apply: (target) => {
    expectOutside('Date()', CLOCK);
    return target();
  },
});

const promised = () => expectOutside('a promise', LATER);

/** `Promise`, which refuses to create promises while handlers run. */
export const promise = new Proxy(Promise, {
  get: (target, key) => {
    const value: unknown = Reflect.get(target, key);
    if (typeof value !== 'function') return value;
    return (...args: unknown[]) => {
      promised();
      return value.apply(target, args);
    };
  },
  construct: (target, args, made) => {
    promised();
    return Reflect.construct(target, args, made);
  },
});

/** Names that are replaced in a user's model, and the export above that replaces each. */
export const REPLACED: Readonly<Record<string, string>> = {
  'Math.random': 'random',
  'globalThis.Math.random': 'random',
  Date: 'date',
  Promise: 'promise',
  fetch: 'fetching',
  'process.exit': 'exit',
  'performance.now': 'now',
  'process.hrtime': 'hrtime',
  'process.nextTick': 'nextTick',
  'crypto.randomUUID': 'randomUUID',
  'crypto.getRandomValues': 'getRandomValues',
  setTimeout: 'timeout',
  setInterval: 'interval',
  setImmediate: 'immediate',
  queueMicrotask: 'microtask',
};
