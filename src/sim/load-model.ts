/** Finds a model: built in, by name, or a user's module, by path (.js, .mjs, .ts, .mts). */

import { existsSync, writeFileSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EXIT } from '../model/error.ts';
import { scratchFolder } from '../os/scratch.ts';
import { isModel, type Model, ModelError } from './model.ts';
import { BUILT_IN } from './models/index.ts';

/** How a thread names a model to another: a built-in name, or the URL of a module that Node can import. */
export type ModelReference = { readonly name: string } | { readonly url: string };

export interface LoadedModel {
  readonly model: Model;
  readonly reference: ModelReference;
  /** Removes what was made to load it. */
  dispose(): void;
}

/** No such model. */
export class ModelNotFoundError extends ModelError {
  override readonly name = 'ModelNotFoundError';
  override readonly exitCode = EXIT.usage;
}

/**
 * Imports the module behind a reference.
 * @param shown what messages call it
 * @throws ModelError where it has no model to offer
 */
export async function importModel(reference: ModelReference, shown?: string): Promise<Model> {
  if ('name' in reference) {
    const loader = BUILT_IN[reference.name];
    if (loader === undefined)
      throw new ModelNotFoundError(`there is no built-in model '${reference.name}'`);
    return (await loader()).default;
  }
  const module = (await import(reference.url)) as { default?: unknown; model?: unknown };
  const model = module.default ?? module.model;
  if (!isModel(model)) {
    throw new ModelError(`${shown ?? reference.url}: no model; export default defineModel({ … })`);
  }
  return model;
}

/**
 * Loads a model by built-in name or path.
 * @throws ModelNotFoundError where there is neither; ModelError where the file is not a model
 */
export async function loadModel(nameOrPath: string): Promise<LoadedModel> {
  if (Object.hasOwn(BUILT_IN, nameOrPath)) {
    const reference = { name: nameOrPath };
    return { model: await importModel(reference), reference, dispose: () => {} };
  }
  const path = resolve(nameOrPath);
  if (!existsSync(path)) {
    throw new ModelNotFoundError(
      `no model '${nameOrPath}': neither a file nor one of ${Object.keys(BUILT_IN).join(', ')}`,
    );
  }
  const { url, dispose } = await moduleFor(path);
  try {
    return { model: await importModel({ url }, nameOrPath), reference: { url }, dispose };
  } catch (error) {
    dispose();
    if (error instanceof ModelError) throw error;
    throw new ModelError(
      `${nameOrPath}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

const EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts'];

/** A module that Node can import, made from the user's file and what it imports by relative path. */
async function moduleFor(path: string): Promise<{ url: string; dispose: () => void }> {
  if (!EXTENSIONS.includes(extname(path))) {
    throw new ModelError(`${path}: a model is a ${EXTENSIONS.join(', ')} file`);
  }
  const { build } = await import('esbuild');
  const here = new URL('..', import.meta.url);
  const own: Readonly<Record<string, string>> = {
    triscope: new URL('index.js', here).href,
    'triscope/sim': new URL('sim/index.js', here).href,
  };
  const result = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'silent',
    plugins: [
      {
        name: 'packages',
        setup(setup) {
          // This package by its own address, so that a model's file may lie anywhere; others as usual.
          setup.onResolve({ filter: /^triscope(\/sim)?$/ }, ({ path: name }) => ({
            path: own[name],
            external: true,
          }));
        },
      },
    ],
  }).catch(
    (error: { errors?: { text: string; location?: { file: string; line: number } | null }[] }) => {
      const first = error.errors?.[0];
      const place = first?.location ? `${first.location.file}:${first.location.line}` : path;
      throw new ModelError(`${place}: ${first?.text ?? String(error)}`);
    },
  );
  const folder = scratchFolder('triscope-model-');
  const file = join(folder.path, 'model.mjs');
  writeFileSync(file, result.outputFiles[0].contents);
  return {
    url: pathToFileURL(file).href,
    dispose: () => folder.remove(),
  };
}
