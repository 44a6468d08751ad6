/** Errors for a signal, control, domain or index that this machine does not have. Their messages say what it has. */
import { EXIT, TriscopeError } from '../model/error.ts';

/**
 * There is no such signal or control, or the request for it is invalid.
 * @example
 * ```ts
 * import { Platform, SignalError } from 'triscope/signals';
 *
 * const platform = Platform.open();
 * try {
 *   platform.push('CPU_ENERGI', 'package', 0);
 * } catch (error) {
 *   if (error instanceof SignalError) console.error(error.given, error.names.length);
 * }
 * platform.close();
 * ```
 */
export class SignalError extends TriscopeError {
  override readonly name = 'SignalError';
  override readonly exitCode = EXIT.usage;
  /** What was asked for, and which names exist. */
  readonly given: string;
  /** Names that exist, for users who misspelt one. */
  readonly names: readonly string[];

  /** @param given what was asked for @param names those that exist */
  constructor(message: string, given = '', names: readonly string[] = []) {
    super(message);
    this.given = given;
    this.names = names;
  }
}

/**
 * A signal that exists, but not on this machine. The message says where it would come from.
 * @example
 * ```ts
 * import { AbsentSignalError, Platform } from 'triscope/signals';
 *
 * const platform = Platform.open();
 * try {
 *   platform.read('GPU_POWER', 'board', 0);
 * } catch (error) {
 *   if (error instanceof AbsentSignalError) console.log(error.message); // where it would come from
 * }
 * platform.close();
 * ```
 */
export class AbsentSignalError extends TriscopeError {
  override readonly name = 'AbsentSignalError';
}

/**
 * A control that could not be written, or must not be written.
 * @example
 * ```ts
 * import { ControlError, Platform } from 'triscope/signals';
 *
 * const platform = Platform.open({ allowControl: true });
 * try {
 *   platform.controls.write('CPU_FREQUENCY_MAX_CONTROL', 'board', 0, 2e9); // Hz
 * } catch (error) {
 *   if (error instanceof ControlError) console.error(error.message);
 * }
 * platform.close();
 * ```
 */
export class ControlError extends TriscopeError {
  override readonly name = 'ControlError';
}

/**
 * A file that describes signals and is invalid.
 * @example
 * ```ts
 * import { Platform, SignalConfigError } from 'triscope/signals';
 *
 * try {
 *   Platform.open().close();
 * } catch (error) {
 *   if (error instanceof SignalConfigError) console.error(error.message); // the file, and what it should be
 * }
 * ```
 */
export class SignalConfigError extends TriscopeError {
  override readonly name = 'SignalConfigError';
  override readonly exitCode = EXIT.input;
}
