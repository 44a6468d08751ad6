/**
 * Settings of the machine, saved in a file before they are first changed, so that `region restore` can restore them
 * if the controller was killed.
 *
 * ```json
 * { "version": 1, "pid": 4711, "host": "node1", "settings": [{ "path": "/sys/…", "text": "120000000" }] }
 * ```
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { EXIT, TriscopeError } from '../../model/error.ts';
import { readTrusted, UntrustedError } from '../../os/trusted-file.ts';
import { replaceFile } from '../../os/whole-file.ts';
import type { Controls, SavedSetting } from '../controls.ts';

const VERSION = 1;
/** Maximum bytes of a file: 200 for each setting of a large machine. */
const MOST_BYTES = 1 << 22;

interface SavedControls {
  readonly version: number;
  /** Process id of the controller. */
  readonly pid: number;
  readonly host: string;
  readonly settings: readonly SavedSetting[];
}

/** A file of saved settings that is not valid. */
export class SavedControlsError extends TriscopeError {
  override readonly name = 'SavedControlsError';
  override readonly exitCode = EXIT.input;
}

/** The folder of such files: `$XDG_STATE_HOME/triscope/controls`. */
export function savedControlsFolder(): string {
  const state = process.env.XDG_STATE_HOME || join(homedir(), '.local/state');
  return join(state, 'triscope/controls');
}

export function saveControls(path: string, host: string, settings: readonly SavedSetting[]): void {
  const saved: SavedControls = { version: VERSION, pid: process.pid, host, settings };
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, `${JSON.stringify(saved)}\n`, { mode: 0o600 });
}

export function forgetControls(path: string): void {
  rmSync(path, { force: true });
}

/** @throws SavedControlsError */
export function readSavedControls(path: string): SavedControls {
  const wrong = `${path}: no file of settings that region launch kept`;
  let saved: Partial<SavedControls>;
  try {
    saved = (JSON.parse(readTrusted(path, MOST_BYTES)) ?? {}) as Partial<SavedControls>;
  } catch (error) {
    if (error instanceof UntrustedError) throw new SavedControlsError(error.message);
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SavedControlsError(`${wrong}${code === undefined ? '' : `: ${message}`}`);
  }
  const { version, pid, host, settings } = saved;
  const whole =
    version === VERSION &&
    typeof pid === 'number' &&
    typeof host === 'string' &&
    Array.isArray(settings) &&
    settings.every((s) => typeof s?.path === 'string' && typeof s.text === 'string');
  if (!whole) throw new SavedControlsError(wrong);
  return { version, pid, host, settings };
}

/** Files in the folder, of all users. */
export function savedControlsFiles(folder: string): string[] {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return names.sort().map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Restores the settings of a file, and removes the file. @throws ControlError if one could not be written */
export function restoreControls(path: string, saved: SavedControls, controls: Controls): void {
  controls.restore(saved.settings);
  forgetControls(path);
}
