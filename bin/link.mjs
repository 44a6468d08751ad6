/**
 * Makes `dist/scripts` when the package is built: a module of `dist` and all that it imports in one script, each module a
 * function of its own, run when it is first imported. A bundler would put all of them into one scope, where constants
 * become variables: V8 folds constants of a scope into what it compiles, and the simulator's loops rely on it.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import script from './script.js';

/** Loaded by the few commands that need them. */
const { dependencies, optionalDependencies } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
const PACKAGES = Object.keys({ ...dependencies, ...optionalDependencies });

/**
 * DuckDB's API is in the script that needs it, too, its native part aside: sixty modules, whose loading takes as long as a
 * small query. The version is that of package.json, to the digit.
 */
const DUCKDB = '@duckdb/node-api';
const externalTo = (name) =>
  name === 'query'
    ? [...PACKAGES.filter((one) => one !== DUCKDB), '@duckdb/node-bindings']
    : PACKAGES;
/** It is required by a function of another name, which esbuild does not follow. */
const followed = {
  name: 'duckdb',
  setup: (to) =>
    to.onLoad({ filter: /query[\\/]duckdb\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll("api('@duckdb/", "require('@duckdb/"),
    })),
};

/**
 * Runs in the script: `defs` are modules, `paths` where they are from `dist`, `names` what each calls those it imports;
 * `ofModels`: whether users' models run in it.
 */
function run(defs, paths, names, entry, ofModels, module, require, load, urlOf) {
  const made = [];
  // Few modules ask where they are.
  class Meta {
    constructor(path) {
      this.path = path;
    }
    get url() {
      return urlOf(this.path);
    }
  }
  const packageOf = (path) => /^\.\.\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  // Exports never change once their module has run. As accessors, which may, each use would be two calls.
  const settled = (exports) => (exports.__esModule === true ? { ...exports } : exports);
  // What a package requires is found from where the package is.
  const requireOf = (name) =>
    name === undefined ? require : require('node:module').createRequire(require.resolve(name));
  const get = (i) => {
    if (made[i] === undefined) {
      const own = { exports: {} };
      made[i] = own;
      const known = (name) => Object.hasOwn(names[i], name);
      const from = packageOf(paths[i]);
      defs[i](
        own,
        own.exports,
        (name) => (known(name) ? get(names[i][name]) : requireOf(from)(name)),
        async (name) => (known(name) ? get(names[i][name]) : load(name)),
        new Meta(paths[i]),
      );
      // Modules of packages may import each other in a circle.
      if (from === undefined) own.exports = settled(own.exports);
    }
    return made[i].exports;
  };
  // For what stands in for modules that a user's model imports: they are the engine's own.
  if (ofModels) globalThis[Symbol.for('triscope.linked')] = (path) => get(paths.indexOf(path));
  module.exports = get(entry);
}

/** A module that exports what the script has of the module `path`. */
const standIn = (path, names) =>
  `export const { ${names.join(', ')} } = globalThis[Symbol.for('triscope.linked')](${JSON.stringify(path)});\n`;

/** In one-byte text, which V8 takes as it is. */
const plain = (code) =>
  code.replaceAll(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The list of commands, each of which it loads when it is called. */
const COMMANDS = 'cli/commands/index.js';

/** Modules that `entries` load, ever; of all commands those of `commands` alone, where that is given. */
function reached(inputs, entries, commands) {
  const found = new Set();
  const reach = (path) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { path: next, kind } of inputs[path].imports) {
      const isLeftOut =
        commands !== null &&
        path === COMMANDS &&
        kind === 'dynamic-import' &&
        !commands.includes(next);
      if (next in inputs && !isLeftOut) reach(next);
    }
  };
  for (const entry of entries) reach(entry);
  return [...found];
}

/** The text of the script `name`, which begins with the module `entry` of `dist`, with these modules of commands, or (null) all. */
async function link(dist, name, entry, commands) {
  const entries = name === 'pe' ? [entry, ...script.OF_MODELS] : [entry];
  const settings = {
    absWorkingDir: dist,
    outdir: join(dist, 'scripts'),
    write: false,
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    plugins: [followed],
  };
  const { metafile } = await build({
    ...settings,
    entryPoints: entries,
    bundle: true,
    metafile: true,
    format: 'esm',
    external: externalTo(name),
  });
  if (name === 'pe') {
    for (const { entryPoint, exports } of Object.values(metafile.outputs)) {
      if (!script.OF_MODELS.includes(entryPoint)) continue;
      const file = join(dist, 'scripts', entryPoint.replaceAll('/', '-').replace(/js$/, 'mjs'));
      writeFileSync(file, standIn(entryPoint, exports));
    }
  }
  const paths = reached(metafile.inputs, entries, commands);
  const place = new Map(paths.map((path, i) => [path, i]));
  const names = paths.map((path) =>
    Object.fromEntries(
      metafile.inputs[path].imports
        .filter((it) => !it.external && place.has(it.path))
        .map((it) => [it.original ?? it.path, place.get(it.path)]),
    ),
  );
  const { outputFiles } = await build({
    ...settings,
    entryPoints: paths.map((path, i) => ({ in: join(dist, path), out: `${i}` })),
    format: 'cjs',
    define: { 'import.meta': '__meta' },
    // Alone: errors are known by the names of their classes, and shorter syntax makes variables of constants.
    minifyWhitespace: true,
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const defs = paths.map((path, i) => {
    const text = plain(texts.get(join(dist, 'scripts', `${i}.js`)));
    const strict = path.startsWith('..') ? '' : '"use strict";';
    const code = text
      .replaceAll(/\bimport\(/g, '__import(')
      // A module of ours as a whole, `import * as`, is what it exports: a default export is added to packages alone.
      .replaceAll(/\b__toESM\((require\("([^"]+)"\)),1\)/g, (whole, module, name) =>
        paths[names[i][name]]?.startsWith('..') === false ? module : whole,
      );
    return `(module,exports,require,__import,__meta)=>{${strict}${code}}`;
  });
  const licence = new URL(`../node_modules/${DUCKDB}/LICENSE`, import.meta.url);
  return [
    ...(name === 'query' ? [`/* ${DUCKDB}:\n${plain(readFileSync(licence, 'utf8'))}*/`] : []),
    // The wrapper of a script is in it: V8 takes the file's text as it is.
    "(function(module,require,load,__dirname){const urlOf=f=>require('url').pathToFileURL(require('path').join(__dirname,'..',f)).href;",
    `(${run})([`,
    defs.join(',\n'),
    `],${JSON.stringify(paths)},${JSON.stringify(names)},${place.get(entry)},${name === 'pe'},module,require,load,urlOf);})`,
  ].join('\n');
}

/** Makes the scripts of `dist`, the compiled package. */
export async function makeScripts(dist) {
  const folder = join(dist, 'scripts');
  mkdirSync(folder, { recursive: true });
  // Of before: what is compiled meanwhile is another build.
  const made = script.buildOf(dist);
  await Promise.all(
    Object.entries(script.SCRIPTS).map(async ([name, entry]) => {
      const text = await link(dist, name, entry, name === 'node' ? script.ON_NODES.modules : null);
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 32);
      writeFileSync(join(folder, `${name}.js`), script.headOf(hash, made) + text);
    }),
  );
}
