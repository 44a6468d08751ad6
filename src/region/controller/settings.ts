/** What a controller is told to do. Plain data: it goes to the controller's thread. */
import { accessSync, constants, statSync } from 'node:fs';

import type { PeersSettings } from './peers.ts';

export interface ControllerSettings {
  /** Folder in which the application's processes make their pages. */
  readonly pages: string;
  readonly host: string;
  /** As the report's first line says it, such as `triscope-0.1.0`. */
  readonly version: string;
  readonly profile: string;
  /** Name of an agent, or the path of a module. */
  readonly agent: string;
  /** Seconds; the agent's own where absent. */
  readonly period?: number;
  /** Seconds after which it is said that no process has attached. */
  readonly timeout: number;
  /** Path of the policy's JSON. */
  readonly policy?: string;
  /** Path of a JSON file that is looked at while the application runs. */
  readonly endpoint?: string;
  /** Where agents of a job's hosts meet; absent where there is one host. */
  readonly peers?: PeersSettings;
  /** Paths, complete; no such file where absent. */
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
  /** Folder of a recorded, or moving, `proc` and `sys`. */
  readonly root?: string;
  readonly synthetic: boolean;
  readonly allowControl: boolean;
  /** GEOPM's own figures where the report's manual page says otherwise. */
  readonly compat: boolean;
  /** Whether to say, once a second, where the application is. */
  readonly live: boolean;
  /** Seconds between partial reports. */
  readonly saveEvery: number;
  /** Whether it is its own process that is sampled: that goes on when the sampling ends. */
  readonly own?: boolean;
  /** Whether the application was started elsewhere: how it ends is not known. */
  readonly attached?: boolean;
  /** File in which settings of the machine are kept before they are changed. */
  readonly savedControls: string;
}

/** Wrong settings: a signal that is not there, a path that cannot be written. The message is for the user. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/** A file that cannot be written. */
export class OutputError extends Error {
  override readonly name = 'OutputError';

  constructor(what: string, path: string, cause: unknown) {
    super(`${what} ${path} cannot be written: ${(cause as Error).message}`);
  }
}

/** Looks whether something that is no file, such as a device, can be written to. @throws OutputError */
export function checkWritable(what: string, path: string): void {
  try {
    if (statSync(path).isDirectory()) throw new Error('it is a folder');
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new OutputError(what, path, error);
  }
}
