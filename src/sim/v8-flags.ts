/** V8's settings for the event loop. */
import { setV8Flag } from '../os/v8-flags.ts';

let done = false;

/**
 * Lets V8 inline the path of an event into few functions (10–20 % faster). The settings hold for the process and are read when a
 * function is optimised, so they are set before threads start and before the loop is hot. With several PEs only small
 * functions are inlined, into one loop (`speculation.ts`), because every thread compiles for itself, on the CPUs that the PEs
 * need. The limit lies between functions that return a double, for which a call would allocate (`log`, 401 bytes
 * of bytecode), and the loop itself, `send`, `drain` and the scheduler's turn (from 500).
 */
export function tuneV8(pes: number): void {
  if (done) return;
  done = true;
  setV8Flag('max-inlined-bytecode-size-cumulative', pes === 1 ? 6000 : 3000);
  setV8Flag('max-inlined-bytecode-size', pes === 1 ? 2000 : 420);
}
