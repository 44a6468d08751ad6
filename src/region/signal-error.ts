/** A signal, control, domain or index that this machine does not have. The message says what it has. */
export class SignalError extends Error {
  override readonly name = 'SignalError';
  /** What was asked for, and what could have been meant. */
  readonly given: string;
  readonly names: readonly string[];

  constructor(message: string, given = '', names: readonly string[] = []) {
    super(message);
    this.given = given;
    this.names = names;
  }
}

/** A signal that exists, but not here. The message says where it would come from. */
export class AbsentSignalError extends Error {
  override readonly name = 'AbsentSignalError';
}

/** A control that could not be written, or must not. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
}

/** A file that describes signals, and is not as it should be. */
export class SignalConfigError extends Error {
  override readonly name = 'SignalConfigError';
}
