/** Errors in the use of a struct's fields. */
import { EXIT } from './error.ts';

/** A value that does not fit its field. */
export class FieldOverflowError extends RangeError {
  override readonly name = 'FieldOverflowError';
  readonly exitCode = EXIT.failed;
}

/** A write to a struct that is read-only here. */
export class ReadonlyFieldError extends TypeError {
  override readonly name = 'ReadonlyFieldError';
}

/** A field that was not declared, or that is used differently than declared. */
export class FieldUseError extends TypeError {
  override readonly name = 'FieldUseError';
}
