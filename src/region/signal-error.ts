/** A signal, control, domain or index that this machine does not have. The message says what it has. */
import { EXIT, TriscopeError } from '../model/error.ts';

/** A signal or control that there is none of, or that is asked for wrongly. */
export class SignalError extends TriscopeError {
  override readonly name = 'SignalError';
  override readonly exitCode = EXIT.usage;
  /** What was asked for, and what could have been meant. */
  readonly given: string;
  /** Those that there are, for who meant another. */
  readonly names: readonly string[];

  /** @param given what was asked for @param names those that there are */
  constructor(message: string, given = '', names: readonly string[] = []) {
    super(message);
    this.given = given;
    this.names = names;
  }
}

/** A signal that exists, but not here. The message says where it would come from. */
export class AbsentSignalError extends TriscopeError {
  override readonly name = 'AbsentSignalError';
}

/** A control that could not be written, or must not. */
export class ControlError extends TriscopeError {
  override readonly name = 'ControlError';
}

/** A file that describes signals, and is not as it should be. */
export class SignalConfigError extends TriscopeError {
  override readonly name = 'SignalConfigError';
  override readonly exitCode = EXIT.input;
}
