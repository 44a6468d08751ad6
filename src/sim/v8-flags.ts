/** V8's settings that the event loop wants. */
import { setFlagsFromString } from 'node:v8';

let done = false;

/**
 * Lets V8 inline the whole path of an event into one function (10–20 % faster). Process-wide, read when a
 * function is optimised: so before threads start and before the loop is hot.
 */
export function tuneV8(): void {
  if (done) return;
  done = true;
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=4000');
  setFlagsFromString('--max-inlined-bytecode-size=2000');
}
