import { TriscopeError } from '../model/error.ts';

/**
 * A model or a run that cannot work: the message is for the user.
 * @example
 * ```ts
 * import { defineModel, int, ModelError } from 'triscope/sim';
 *
 * export default defineModel({
 *   name: 'calls',
 *   options: { people: int(10, 'people'), calls: int(2, 'calls of each') },
 *   lps: (options) => options.people,
 *   state: {},
 *   message: {},
 *   prepare(options) {
 *     if (options.calls >= options.people) throw new ModelError('--calls must be below --people');
 *     return options;
 *   },
 *   init() {},
 *   forward() {},
 * });
 * ```
 */
export class ModelError extends TriscopeError {
  override readonly name: string = 'ModelError';
}

/** An invalid declaration of a model: `part` gives the place in it, such as `options`, `servers`. */
export class DeclarationError extends ModelError {
  readonly part: readonly string[];

  constructor(message: string, part: readonly string[]) {
    super(message);
    this.part = part;
  }
}
