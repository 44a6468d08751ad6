/** The settings of a controller. Plain data: it is sent to the controller's thread. */
import { accessSync, constants, statSync } from 'node:fs';

import { EXIT, TriscopeError } from '../../model/error.ts';
import type { PeersSettings } from './peers.ts';

export interface ControllerSettings {
  /** Folder in which the application's processes make their pages. */
  readonly pages: string;
  readonly host: string;
  /** As in the report's first line, such as `triscope-0.1.0`. */
  readonly version: string;
  readonly profile: string;
  /** Name of an agent, or the path of a module. */
  readonly agent: string;
  /** Seconds; the agent's own period if absent. */
  readonly period?: number;
  /** Seconds without any process after which a warning is printed. */
  readonly timeout: number;
  /** Path of the policy's JSON. */
  readonly policy?: string;
  /** Path of a JSON file that is checked for a new policy while the application runs. */
  readonly endpoint?: string;
  /** Where agents of a job's hosts exchange messages; absent with one host. */
  readonly peers?: PeersSettings;
  /** Complete paths; the file is not written if its path is absent. */
  readonly report?: string;
  readonly trace?: string;
  readonly profileTrace?: string;
  /** `SIGNAL` or `SIGNAL@domain`. */
  readonly reportSignals: readonly string[];
  readonly traceSignals: readonly string[];
  /** `CONTROL domain index value`, written before the application starts. */
  readonly initControls: readonly (readonly [string, string, number, number])[];
  /** As GEOPM spells it: `proxy_epoch,…`, `edit_distance,…`. */
  readonly recordFilter?: string;
  /** Folder of a recorded, or changing, `proc` and `sys`. */
  readonly root?: string;
  readonly synthetic: boolean;
  readonly allowControl: boolean;
  /** Whether to write GEOPM's own values where they differ from the report's manual page. */
  readonly compat: boolean;
  /** Whether to print, once a second, where the application is. */
  readonly live: boolean;
  /** Seconds between partial reports. */
  readonly saveEvery: number;
  /** Whether it samples its own process, which continues after the sampling. */
  readonly own?: boolean;
  /** Whether the application was started elsewhere, so that its exit code is unknown. */
  readonly attached?: boolean;
  /** File in which the machine's settings are saved before they are changed. */
  readonly savedControls: string;
}

/** Invalid settings: an absent signal, a path that cannot be written. The message is for the user. */
export class SettingsError extends TriscopeError {
  override readonly name = 'SettingsError';
  override readonly exitCode = EXIT.usage;
}

/** A file that cannot be written. */
export class OutputError extends TriscopeError {
  override readonly name = 'OutputError';

  constructor(what: string, path: string, cause: unknown) {
    super(`${what} ${path} cannot be written: ${(cause as Error).message}`);
  }
}

/** Checks whether something that is not a regular file, such as a device, can be written. @throws OutputError */
export function checkWritable(what: string, path: string): void {
  try {
    if (statSync(path).isDirectory()) throw new Error('it is a folder');
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new OutputError(what, path, error);
  }
}
