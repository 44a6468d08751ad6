/** What must be the same for a run to continue from a checkpoint: the model, and all settings on which results depend. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { OptionError } from '../../model/option.ts';
import { layoutOf } from '../../model/struct.ts';
import type { RunConfig } from '../config.ts';
import { type Model, ModelError } from '../model.ts';
import { sizedModel } from '../run-model.ts';
import type { Settings } from '../settings.ts';
import type { Checkpoint, ModelIdentity, SameSettings } from './file.ts';

/** SHA-256 of a user's model. */
export const sourceOf = (path: string): string =>
  createHash('sha256').update(readFileSync(path)).digest('hex');

/** The identity of a model with these options. */
export function identityOf(
  { model: given, path }: { readonly model: Model; readonly path?: string },
  options: RunConfig['options'],
): ModelIdentity {
  const model = sizedModel(given, options);
  const structs = [
    layoutOf('message', model.message),
    ...[...model.types].map(([name, { state }]) => layoutOf(name, state)),
  ];
  const fields = structs.map(({ fields, size }) => [size, fields]);
  return {
    name: model.name,
    path: path ?? null,
    source: path === undefined ? null : sourceOf(path),
    fields: createHash('sha256').update(JSON.stringify(fields)).digest('hex'),
  };
}

/** @throws ModelError unless `now` is the model of the checkpoint */
export function expectSameModel({ file, head }: Checkpoint, now: ModelIdentity): void {
  const then = head.model;
  if (now.name !== then.name) {
    throw new ModelError(
      `${file}: is a checkpoint of the model '${then.name}', not of '${now.name}'`,
    );
  }
  if (now.fields !== then.fields) {
    throw new ModelError(
      `${file}: the fields of the messages or states of '${then.name}' have changed since; run it from its beginning`,
    );
  }
  if (now.source !== then.source && now.source !== null && then.source !== null) {
    throw new ModelError(
      `${file}: ${basename(now.path ?? then.name)} has changed since; run it from its beginning, or restore the file`,
    );
  }
}

const shown = (value: unknown) => (Array.isArray(value) ? value.join(' ') : String(value));

/**
 * `given`, completed by those of the checkpoint's settings that must not change.
 * @throws OptionError for a setting that is given and differs
 */
export function settingsAfter({ file, head }: Checkpoint, given: Settings): Settings {
  return settingsAsIn(head.settings, given, `the checkpoint ${file}`);
}

/**
 * `given`, completed by the settings of a run before on which its events depend.
 * @param what what that run left, such as `the checkpoint FILE`
 * @throws OptionError for a setting that is given and differs
 */
export function settingsAsIn(then: SameSettings, given: Settings, what: string): Settings {
  const { end, warmup, lookahead, seeds, coreSeeds } = then;
  const expectSame = (name: string, now: unknown, before: unknown) => {
    if (now === undefined || shown(now) === shown(before)) return;
    throw new OptionError(
      `--${name}=${shown(now)}: ${what} is of a run with ${shown(before)}; leave --${name} out`,
    );
  };
  expectSame('end', given.end, end);
  expectSame('warmup', given.warmup, warmup);
  expectSame('lookahead', given.lookahead, lookahead);
  expectSame('rng-seed1…4', given.seeds, seeds);
  expectSame('core-rng-seed1…4', given.coreSeeds, coreSeeds);
  for (const [name, value] of Object.entries(given.options ?? {}))
    expectSame(name, value, then.options[name]);
  return { ...given, end, warmup, lookahead, seeds, coreSeeds, options: then.options };
}
