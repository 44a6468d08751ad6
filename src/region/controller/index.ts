/** The controller: runs a command, samples it and the machine, writes GEOPM's report and traces. */
export { type AttachOptions, attachTo } from './attach.ts';
export type { Punctuality } from './deadlines.ts';
export { type MarkedBy, markingEnvironment } from './environment.ts';
export {
  type LaunchOptions,
  type LaunchResult,
  launch,
  launchAlone,
  launchMarked,
  REFUSED,
} from './launch.ts';
export { type OwnController, type OwnOptions, watchOwn } from './own.ts';
export type { PeersSettings } from './peers.ts';
export { signalRequest } from './sampled.ts';
export {
  readSavedControls,
  restoreControls,
  SavedControlsError,
  savedControlsFiles,
  savedControlsFolder,
} from './saved-controls.ts';
export { type ControllerSettings, SettingsError } from './settings.ts';
export { LaunchError } from './side.ts';
