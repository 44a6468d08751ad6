import { TriscopeError } from '../model/error.ts';

/** A model or a run that cannot work: the message is for the user. */
export class ModelError extends TriscopeError {
  override readonly name: string = 'ModelError';
}
