/** `--checkpoint` and `--restart` of `triscope sim run`. */
import { float, text } from '../model/option.ts';
import { readCheckpoint } from '../sim/checkpoint/file.ts';
import { expectSameModel, identityOf, settingsAfter } from '../sim/checkpoint/identity.ts';
import type { CheckpointOptions } from '../sim/checkpoint/run.ts';
import type { Settings } from '../sim/settings.ts';
import { UsageError } from './errors.ts';
import type { RunCommand } from './run-command.ts';

export const CHECKPOINT_OPTIONS = {
  checkpoint: text('', 'write the run’s state to FILE, from which --restart resumes', {
    placeholder: 'FILE',
    names: 'path',
  }),
  'checkpoint-every': float(0, 'virtual time from one checkpoint to the next', {
    min: 0,
    fallback: 'a tenth of the end time',
  }),
  'checkpoint-at': float(0, 'one checkpoint, at this virtual time', {
    min: 0,
    fallback: 'none',
  }),
  restart: text('', 'resume from a checkpoint; MODEL may be left out', {
    placeholder: 'FILE',
    names: 'input',
  }),
};

type Asked = RunCommand<typeof CHECKPOINT_OPTIONS>;

/** The checkpoints that are asked for, and for a restart the settings of the run that goes on. @throws UsageError, CheckpointError, OptionError */
export function checkpointsOf({ loaded, own, settings }: Omit<Asked, 'values'>): {
  readonly checkpoints: CheckpointOptions;
  readonly settings: Settings;
} {
  const { checkpoint: file, restart: path } = own;
  const every = own['checkpoint-every'];
  const at = own['checkpoint-at'];
  const times = every ?? at;
  if (typeof file !== 'string' && times !== undefined) {
    const name = every === undefined ? 'checkpoint-at' : 'checkpoint-every';
    throw new UsageError(`--${name} needs --checkpoint=FILE, the file to write`);
  }
  const restart = typeof path === 'string' ? readCheckpoint(path) : null;
  if (restart !== null) expectSameModel(restart, identityOf(loaded, restart.head.settings.options));
  return {
    checkpoints: {
      ...(typeof file === 'string' && {
        checkpoint: {
          file,
          ...(every !== undefined && { every }),
          ...(at !== undefined && { at: [at] }),
        },
      }),
      ...(restart !== null && { restart }),
    },
    settings: restart === null ? settings : settingsAfter(restart, settings),
  };
}

/** The model of the checkpoint that `args` names; null where there is none. */
export function modelOfRestart(args: readonly string[]): string | null {
  const at = args.findIndex((word) => /^--restart(=|$)/.test(word));
  if (at < 0) return null;
  const path = args[at].includes('=') ? args[at].slice('--restart='.length) : args[at + 1];
  if (path === undefined || path === '') return null;
  const { name, path: own } = readCheckpoint(path).head.model;
  return own ?? name;
}
