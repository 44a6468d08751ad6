/** `--replay` of `triscope sim run`: the events of a run that was recorded, again, with its settings. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, TriscopeError } from '../model/error.ts';
import { text } from '../model/option.ts';
import { settingsAsIn } from '../sim/checkpoint/identity.ts';
import { BUILT_IN } from '../sim/models/index.ts';
import type { Settings } from '../sim/settings.ts';
import type { RunResult } from '../sim/statistics.ts';
import { UsageError } from './errors.ts';
import type { RunCommand } from './run-command.ts';

export const REPLAY_OPTIONS = {
  replay: text('', 'handle the events of a recorded run again, on one PE; MODEL may be left out', {
    placeholder: 'RUN',
    names: 'input',
  }),
};

/** What is read of a recording: `sim-result.json`, and the command of `recording.json`. */
type Recorded = Pick<RunResult, 'model' | 'config' | 'eventDigest' | 'finished'>;

/** There is no such recording, or it cannot be replayed. */
class ReplayError extends TriscopeError {
  override readonly name = 'ReplayError';
  override readonly exitCode = EXIT.input;
}

function json(path: string, file: string): unknown {
  try {
    return JSON.parse(readFileSync(join(path, file), 'utf8'));
  } catch {
    throw new ReplayError(
      `--replay=${path}: is not a recording of a finished simulation (there is no ${file} in it that can be read)`,
    );
  }
}

function recordedRun(path: string): Recorded {
  const result = json(path, 'sim-result.json') as Partial<Recorded> | null;
  if (typeof result?.config?.options !== 'object' || typeof result.eventDigest !== 'string')
    throw new ReplayError(`--replay=${path}: its sim-result.json has no settings of a run`);
  return result as Recorded;
}

/** A run that is replayed: its settings, and what to compare. */
export interface Replay {
  readonly settings: Settings;
  /** Number of PEs for which the model is sized. */
  readonly sizedFor: number;
  /** Compares the events with those of the recording. @returns what to tell, and whether they are others */
  compared(result: RunResult): { readonly words: string; readonly differs: boolean };
}

/** The run that is to be replayed; null where none is. @throws ReplayError, UsageError, OptionError for settings that differ */
export function replayOf({
  loaded,
  own,
  settings,
}: Pick<RunCommand<typeof REPLAY_OPTIONS>, 'loaded' | 'own' | 'settings'>): Replay | null {
  const path = own.replay;
  if (typeof path !== 'string') return null;
  const { model, config, eventDigest, finished } = recordedRun(path);
  if (model !== loaded.model.name)
    throw new UsageError(
      `--replay=${path}: it is a run of model '${model}', not of '${loaded.model.name}'`,
    );
  return {
    settings: settingsAsIn(config, settings, `the recording ${path}`),
    sizedFor: config.pes,
    compared(result) {
      if (!finished || !result.finished)
        return { words: `${path}: one of both runs did not end: not compared`, differs: false };
      if (result.eventDigest === eventDigest)
        return { words: `the same events as in ${path}`, differs: false };
      const words = `other events than in ${path}: the model was changed, or keeps something outside of its state (triscope sim verify)`;
      return { words, differs: true };
    },
  };
}

/** The model of the recording that `args` names; null where there is none. @throws ReplayError, UsageError */
export function modelOfReplay(args: readonly string[]): string | null {
  const at = args.findIndex((word) => /^--replay(=|$)/.test(word));
  if (at < 0) return null;
  const path = args[at].includes('=') ? args[at].slice('--replay='.length) : args[at + 1];
  if (path === undefined || path === '') return null;
  const { model } = recordedRun(path);
  if (Object.hasOwn(BUILT_IN, model)) return model;
  const { madeBy } = json(path, 'recording.json') as { madeBy?: { command?: string[] } };
  // triscope sim run MODEL
  const word = madeBy?.command?.[3] ?? '-';
  if (existsSync(word)) return word;
  throw new UsageError(
    `--replay=${path}: the file of model '${model}' is not known here: give its path before --replay`,
  );
}
