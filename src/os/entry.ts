/** The scripts with which threads and processes start. */
import { existsSync } from 'node:fs';

/** Runs the module that its first argument names from one script, if the package was built that way: see bin/script.js. */
const QUICK = new URL('../../bin/thread.js', import.meta.url);

/** The script to start for `module`: one file with all that the module imports, which gets the module's name as its first
 * argument; `module` itself if there is no such file. */
export const entryOf = (module: URL): URL => (existsSync(QUICK) ? QUICK : module);
