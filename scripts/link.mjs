/**
 * Puts a module of `dist` and all that it imports into one script, each module a function of its own, run when it is first
 * imported. A bundler would put all of them into one scope, where constants become variables: V8 folds constants of a
 * scope into what it compiles, and the simulator's loops rely on it.
 */
import { join } from 'node:path';
import { build } from 'esbuild';

/** Runs in the script: `defs` are modules, `paths` where they are from `dist`, `names` what each calls those it imports. */
function run(defs, paths, names, entry, module, require, load, urlOf) {
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
  const get = (i) => {
    if (made[i] === undefined) {
      const own = { exports: {} };
      made[i] = own;
      const known = (name) => Object.hasOwn(names[i], name);
      defs[i](
        own,
        own.exports,
        (name) => (known(name) ? get(names[i][name]) : require(name)),
        async (name) => (known(name) ? get(names[i][name]) : load(name)),
        new Meta(paths[i]),
      );
    }
    return made[i].exports;
  };
  module.exports = get(entry);
}

/** In one-byte text, which V8 takes as it is. */
const plain = (code) =>
  code.replaceAll(/[^\0-\x7f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * The text of a script for bin/quick.js.
 * @param entry file of `dist`
 * @param packages those that stay outside
 */
export async function link(dist, entry, packages) {
  const settings = {
    absWorkingDir: dist,
    outdir: join(dist, 'quick'),
    write: false,
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
  };
  const { metafile } = await build({
    ...settings,
    entryPoints: [entry],
    bundle: true,
    metafile: true,
    format: 'esm',
    external: packages,
  });
  const paths = Object.keys(metafile.inputs);
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
    minifyWhitespace: true,
  });
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const defs = paths.map((path, i) => {
    const text = plain(texts.get(join(dist, 'quick', `${i}.js`)));
    const strict = path.startsWith('..') ? '' : '"use strict";';
    const code = text.replaceAll(/\bimport\(/g, '__import(');
    return `(module,exports,require,__import,__meta)=>{${strict}${code}}`;
  });
  return [
    "const urlOf=f=>require('url').pathToFileURL(require('path').join(__dirname,'..',f)).href;",
    `(${run})([`,
    defs.join(',\n'),
    `],${JSON.stringify(paths)},${JSON.stringify(names)},${place.get(entry)},module,require,load,urlOf);`,
  ].join('\n');
}
