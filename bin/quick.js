/**
 * Runs a bundle of `dist/quick` with what V8 has compiled of it: see scripts/once.mjs. Gives its exports; null where the
 * package was built without.
 */
const { existsSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');
const { isMainThread, threadId } = require('node:worker_threads');

const folder = join(__dirname, '..', 'dist', 'quick');

/** Loads a module that is not in the bundle, such as a user's agent: a script has no import() of its own. */
const load = (url) => import(url);

/** Keeps what has been compiled when it is all that was needed, for the next time. */
function write(path, script) {
  // V8 refuses what was compiled with other flags, and the simulator has set these: see src/sim/v8-flags.ts.
  if (isMainThread) {
    setFlagsFromString('--max-inlined-bytecode-size-cumulative=920');
    setFlagsFromString('--max-inlined-bytecode-size=460');
  }
  // Several threads may be at it.
  const own = `${path}.${process.pid}.${threadId}`;
  writeFileSync(own, script.createCachedData());
  renameSync(own, path);
}

/** Whether the user, or region launch, has Node load modules first: they may hand something to modules of `dist`. */
exports.preloaded = () =>
  [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((words) =>
    /(^|\s)(--import|--require|-r|--loader|--experimental-loader)\b/.test(words),
  );

/** @param use what it is used for: of what is compiled, each use has its own, if it was kept when the package was built */
exports.quick = (name, use = '') => {
  const path = join(folder, `${name}.js`);
  if (!existsSync(path)) return null;
  const usual = join(folder, `${name}.cache`);
  const own = use === '' ? usual : join(folder, `${name}-${use}.cache`);
  const keeps = process.env.TRISCOPE_WRITE_CACHE;
  const cache = keeps || existsSync(own) ? own : usual;
  const script = new Script(
    `(function(module,require,load,__dirname){${readFileSync(path, 'latin1')}\n})`,
    { filename: path, cachedData: existsSync(cache) ? readFileSync(cache) : undefined },
  );
  const bundle = { exports: {} };
  script.runInThisContext()(bundle, require, load, folder);
  if (keeps) process.on('exit', () => write(cache, script));
  return bundle.exports;
};
