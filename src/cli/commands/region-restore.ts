/** `triscope region restore`: puts back settings of the machine that a killed controller left changed. */
import { hostname } from 'node:os';
import {
  readSavedControls,
  restoreControls,
  savedControlsFiles,
  savedControlsFolder,
} from '../../region/controller/index.ts';
import type { Platform } from '../../region/signals/index.ts';
import { EXIT } from '../errors.ts';
import { platformOptions, readWords, withPlatform } from '../signal-options.ts';

const USAGE = `usage: triscope region restore [FILE…] [--root DIR] [--force] [--json]

Puts back what region launch kept before it changed settings of the machine, and was killed.
All files of this host unless some are named; they are in
${savedControlsFolder()}.
Only settings that region launch changes on this machine are put back, whatever a file names.

  --root DIR   the machine is a recorded tree, as with region launch --root
  --force      also where the controller seems to run still
  --json       print [{"file": …, "restored": [{path, text}], "error": null or why not}]`;

const OPTIONS = {
  root: { type: 'string' },
  force: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

interface Outcome {
  readonly file: string;
  readonly restored: readonly { readonly path: string; readonly text: string }[];
  readonly error: string | null;
}

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns the exit code. @throws UsageError */
export async function regionRestore(args: readonly string[]): Promise<number> {
  const words = readWords(args, OPTIONS);
  if (words.values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const named = words.positionals;
  const files = named.length > 0 ? named : savedControlsFiles(savedControlsFolder());
  const force = words.values.force === true;
  const outcomes: Outcome[] = [];
  let unreadable: unknown;
  if (files.length > 0) {
    withPlatform(platformOptions(words), (platform) => {
      for (const file of files) {
        try {
          const outcome = restore(file, platform, force, named.length > 0);
          if (outcome !== null) outcomes.push(outcome);
        } catch (error) {
          // The others are put back all the same.
          unreadable ??= error;
        }
      }
    });
  }
  if (words.values.json) process.stdout.write(`${JSON.stringify(outcomes)}\n`);
  for (const { restored, error } of outcomes) {
    if (error !== null) process.stderr.write(`triscope: ${error}\n`);
    if (words.values.json) continue;
    for (const { path, text } of restored) process.stdout.write(`${path}: ${text}\n`);
  }
  if (unreadable !== undefined) throw unreadable;
  return outcomes.every(({ error }) => error === null) ? 0 : EXIT.failed;
}

/** Null: a file that is none of our business. @throws SavedControlsError */
function restore(
  file: string,
  platform: Platform,
  force: boolean,
  isNamed: boolean,
): Outcome | null {
  const saved = readSavedControls(file);
  const refuse = (error: string): Outcome => ({ file, restored: [], error });
  const elsewhere = saved.host !== hostname();
  if ((elsewhere || runs(saved.pid)) && !force) {
    // A folder that several hosts share holds others' files too.
    if (elsewhere && !isNamed) return null;
    const why = elsewhere ? `it is of host ${saved.host}` : `process ${saved.pid} still runs`;
    return refuse(`${file}: ${why}; --force restores it all the same`);
  }
  try {
    restoreControls(file, saved, platform.controls);
    return { file, restored: saved.settings, error: null };
  } catch (error) {
    return refuse((error as Error).message);
  }
}
