/** Finds a model: built in, by name, or a user's module, by path (.js, .mjs, .ts, .mts). */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT } from '../model/error.ts';
import { compileModel } from './compile-model.ts';
import { isModel, type Model, ModelError } from './model.ts';
import { DeclarationError } from './model-error.ts';
import { placeIn, withPart, withPlace } from './model-place.ts';
import { BUILT_IN } from './models/index.ts';
import { VARIABLES } from './module-state.ts';

/**
 * How a thread names a model to another: a built-in name, or the URL of a module that Node can import. `linked`: the same
 * for threads that run a linked script (bin/link.mjs), whose modules the model then imports.
 */
export type ModelReference =
  | { readonly name: string }
  | { readonly url: string; readonly linked: string | null };

/** Whether this thread runs such a script. */
const isLinked = (): boolean => Symbol.for('triscope.linked') in globalThis;

/** A model as it was found: by name, or in a file. `dispose` removes what was compiled for it. */
export interface LoadedModel {
  /** The model itself. */
  readonly model: Model;
  /** How another thread finds it. */
  readonly reference: ModelReference;
  /** Path of a user's model. */
  readonly path?: string;
  /** The variables at the top of a user's modules in this thread, as they are now. */
  variables?(): ModuleVariable[];
  /** Removes the files that were made to load it. */
  dispose(): void;
}

export interface ModuleVariable {
  readonly name: string;
  /** Place of its declaration, such as `shop.ts:3:5`. */
  place(): string;
  readonly value: unknown;
}

/**
 * No such model.
 * @example
 * ```ts
 * import { loadModel, ModelNotFoundError } from 'triscope/sim';
 *
 * const loaded = await loadModel('shop.ts').catch((error: unknown) => {
 *   if (error instanceof ModelNotFoundError) return null;
 *   throw error;
 * });
 * loaded?.dispose();
 * ```
 */
export class ModelNotFoundError extends ModelError {
  override readonly name = 'ModelNotFoundError';
  override readonly exitCode = EXIT.usage;
}

/** A module that exports no model. */
class NoModelError extends ModelError {}

/**
 * Imports the module behind a reference.
 * @param shown its name in messages
 * @throws ModelError if it exports no model
 */
export async function importModel(reference: ModelReference, shown?: string): Promise<Model> {
  if ('name' in reference) {
    const loader = BUILT_IN[reference.name];
    if (loader === undefined)
      throw new ModelNotFoundError(`there is no built-in model '${reference.name}'`);
    return (await loader()).default;
  }
  const { url, linked } = reference;
  const module = (await import(linked !== null && isLinked() ? linked : url)) as {
    default?: unknown;
    model?: unknown;
  };
  const model = module.default ?? module.model;
  if (!isModel(model)) {
    throw new NoModelError(
      `${shown ?? reference.url}: contains no model; use export default defineModel({ … })`,
    );
  }
  return model;
}

/** The path that a `file:` URL names; other texts unchanged. @throws ModelNotFoundError */
function pathOf(given: string | URL): string {
  const text = String(given);
  if (text.startsWith('file:')) return fileURLToPath(text);
  if (typeof given === 'string') return given;
  throw new ModelNotFoundError(
    `there is no model '${text}': the only addresses that are read begin with file:`,
  );
}

/**
 * Loads a model by built-in name, path or `file:` address (`new URL('shop.ts', import.meta.url)`).
 * @throws ModelNotFoundError where there is none; ModelError where the file is not a model
 * @example
 * ```ts
 * import { loadModel, verify } from 'triscope/sim';
 *
 * const loaded = await loadModel(new URL('shop.ts', import.meta.url));
 * const rows = await verify(loaded, { end: 100 });
 * console.log(rows.every((row) => row.same));
 * loaded.dispose();
 * ```
 */
export async function loadModel(given: string | URL): Promise<LoadedModel> {
  const nameOrPath = pathOf(given);
  if (Object.hasOwn(BUILT_IN, nameOrPath)) {
    const reference = { name: nameOrPath };
    return { model: await importModel(reference), reference, dispose: () => {} };
  }
  const path = resolve(nameOrPath);
  if (!existsSync(path)) {
    throw new ModelNotFoundError(
      `there is no model '${nameOrPath}': it is neither a file nor one of ${Object.keys(BUILT_IN).join(', ')}`,
    );
  }
  const { url, linked, variables, dispose } = await compileModel(path);
  const reference = { url, linked };
  try {
    const model = await importModel(reference, nameOrPath);
    const valuesOf = (await import(url))[VARIABLES] as () => unknown[];
    return {
      model,
      reference,
      path,
      variables: () => {
        const values = valuesOf();
        return variables.map(({ name, row, column }, k) => ({
          name,
          place: () => placeIn(url, row, column),
          value: values[k],
        }));
      },
      dispose,
    };
  } catch (error) {
    if (error instanceof NoModelError) {
      dispose();
      throw error;
    }
    const part = error instanceof DeclarationError;
    const message =
      error instanceof ModelNotFoundError ? '' : part ? withPart(error, path) : withPlace(error);
    dispose();
    if (message === '') throw error;
    throw new ModelError(error instanceof ModelError ? message : `${nameOrPath}: ${message}`);
  }
}
