/**
 * A machine of little memory, for tests that simulate much in their own process: a run reserves event memory by what there
 * is, and V8 collects garbage for what was reserved (src/sim/reserved.ts), which is most of a small run's CPU time.
 */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';

/** Half of it is for events: 65,536 of the smallest. */
os.totalmem = () => 2 ** 23;
syncBuiltinESMExports();
