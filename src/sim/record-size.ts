/** Size of an event's record: its message and, in models with timers, the tag that names its timer. */
import { layoutOf } from '../model/struct.ts';
import type { Model } from './model.ts';

/** Bytes of an event of a timer beside its message; `timer-events.ts` says what they hold. */
const TAG_BYTES = 8;

/** Whether any LP of `model` has a timer. */
export const hasTimers = ({ types }: Model): boolean =>
  [...types.values()].some(({ state }) =>
    Object.values(state).some(
      (field) => typeof field === 'object' && field.kind === 'cells' && field.timers === true,
    ),
  );

/** Bytes that an event's record has for its message and its timer. */
export const payloadBytes = (model: Model): number =>
  layoutOf('message', model.message).size + (hasTimers(model) ? TAG_BYTES : 0);
