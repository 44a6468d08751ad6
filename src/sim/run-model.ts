/** A model for one run: sized by its options, with its tables. */
import type { RunConfig } from './config.ts';
import type { Model } from './model.ts';
import { PREPARE, SetupRandom } from './rng/setup-random.ts';
import type { Tables } from './tables.ts';

/** `model` with the fields that it has with these options. @throws ModelError for fields that cannot be */
export const sizedModel = (model: Model, options: RunConfig['options']): Model =>
  model.sizes === null ? model : { ...model, ...model.sizes(options), sizes: null };

/**
 * `model` as a run has it.
 * @param tables the result of `makeTables`
 * @throws ModelError for invalid fields
 */
export function modelOfRun(model: Model, config: RunConfig, tables: Tables): Model {
  const sized = sizedModel(model, config.options);
  return {
    ...sized,
    prepare: (options, run) =>
      sized.prepare(options, { ...run, random: new SetupRandom(config.seeds, PREPARE), tables }),
  };
}
