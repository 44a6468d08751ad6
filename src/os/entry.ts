/** Scripts that threads and processes start with. */
import { existsSync } from 'node:fs';

/** Starts what its first argument names as one script, where the package was built so: see bin/script.js. */
const QUICK = new URL('../../bin/thread.js', import.meta.url);

/** The same as `module`, with all that it imports in one file, to be given its name; `module` itself where there is none. */
export const entryOf = (module: URL): URL => (existsSync(QUICK) ? QUICK : module);
