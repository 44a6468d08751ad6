/** `triscope region restore`: puts back settings of the machine that a killed controller left changed. */
import { hostname } from 'node:os';
import { flag } from '../../model/option.ts';
import { isAlive } from '../../os/alive.ts';
import {
  readSavedControls,
  restoreControls,
  savedControlsFiles,
  savedControlsFolder,
} from '../../region/controller/index.ts';
import type { Platform } from '../../region/signals/index.ts';
import { type Call, command } from '../command.ts';
import { EXIT } from '../errors.ts';
import { ROOT } from '../root-option.ts';
import { platformOptions, withPlatform } from '../signal-options.ts';

const OPTIONS = {
  root: { ...ROOT, help: 'the machine is a recorded tree, as with region launch --root' },
  force: flag(false, 'even if the controller still seems to be running'),
  json: flag(false, 'print [{"file": …, "restored": [{path, text}], "error": null or why not}]'),
};

interface Outcome {
  readonly file: string;
  readonly restored: readonly { readonly path: string; readonly text: string }[];
  readonly error: string | null;
}

/** Returns the exit code. @throws UsageError */
async function run({ words: named, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const files = named.length > 0 ? named : savedControlsFiles(savedControlsFolder());
  const force = given.force === true;
  const outcomes: Outcome[] = [];
  let unreadable: unknown;
  if (files.length > 0) {
    withPlatform(platformOptions(given), (platform) => {
      for (const file of files) {
        try {
          const outcome = restore(file, platform, force, named.length > 0);
          if (outcome !== null) outcomes.push(outcome);
        } catch (error) {
          // The settings of the other files are put back all the same.
          unreadable ??= error;
        }
      }
    });
  }
  if (given.json) process.stdout.write(`${JSON.stringify(outcomes)}\n`);
  for (const { restored, error } of outcomes) {
    if (error !== null) process.stderr.write(`triscope: ${error}\n`);
    if (given.json) continue;
    for (const { path, text } of restored) process.stdout.write(`${path}: ${text}\n`);
  }
  if (unreadable !== undefined) throw unreadable;
  return outcomes.every(({ error }) => error === null) ? 0 : EXIT.failed;
}

/** Null: the file does not concern this host. @throws SavedControlsError */
function restore(
  file: string,
  platform: Platform,
  force: boolean,
  isNamed: boolean,
): Outcome | null {
  const saved = readSavedControls(file);
  const refuse = (error: string): Outcome => ({ file, restored: [], error });
  const elsewhere = saved.host !== hostname();
  if ((elsewhere || isAlive(saved.pid)) && !force) {
    // A folder that several hosts share holds others' files too.
    if (elsewhere && !isNamed) return null;
    const why = elsewhere ? `it belongs to host ${saved.host}` : `process ${saved.pid} still runs`;
    return refuse(`${file}: ${why}; --force restores it anyway`);
  }
  try {
    restoreControls(file, saved, platform.controls);
    return { file, restored: saved.settings, error: null };
  } catch (error) {
    return refuse((error as Error).message);
  }
}

export const regionRestore = command({
  about:
    'Restores settings of the machine that region launch changed before it was killed: all saved files of this host (triscope/controls below $XDG_STATE_HOME), unless some are named. Only settings that region launch changes on this machine are restored, whatever a file names.',
  arguments: [
    {
      name: 'FILE',
      help: 'file with the saved settings',
      optional: true,
      many: true,
      names: 'path',
    },
  ],
  options: OPTIONS,
  examples: ['region restore'],
  run,
});
