/**
 * Runs a bundle of `dist/quick` with what V8 has compiled of it: see scripts/once.mjs. Gives its exports; null where the
 * package was built without.
 */
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const folder = join(__dirname, '..', 'dist', 'quick');

/** Loads a module that is not in the bundle, such as a user's agent: a script has no import() of its own. */
const load = (url) => import(url);

exports.quick = (name) => {
  const path = join(folder, `${name}.js`);
  if (!existsSync(path)) return null;
  const cache = join(folder, `${name}.cache`);
  const script = new Script(
    `(function(module,require,load,__dirname){${readFileSync(path, 'utf8')}\n})`,
    { filename: path, cachedData: existsSync(cache) ? readFileSync(cache) : undefined },
  );
  const bundle = { exports: {} };
  script.runInThisContext()(bundle, require, load, folder);
  // When all that is needed has been compiled.
  if (process.env.TRISCOPE_WRITE_CACHE) {
    process.on('exit', () => writeFileSync(cache, script.createCachedData()));
  }
  return bundle.exports;
};
