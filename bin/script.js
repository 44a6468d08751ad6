/**
 * Runs the scripts of `dist/scripts`: what must start fast, each with all its modules in one file (link.mjs), and with what
 * V8 has compiled of it before (compiled.js). To load a hundred modules one by one takes longer than most commands.
 */
const { readFileSync, statSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');
const { keepAtExit, readCompiled } = require('./compiled.js');

const dist = join(__dirname, '..', 'dist');

/** Scripts by name, and the module of `dist` that each stands for. */
exports.SCRIPTS = {
  main: 'cli/main.js',
  // Commands that every node of a cluster runs all the time, in a fifth of the text.
  node: 'cli/main.js',
  pe: 'sim/worker.js',
  controller: 'region/controller/worker.js',
  query: 'query/entry.js',
};

/**
 * What users' models import of the package: in a thread that runs the script `pe`, a module beside the script stands in for
 * each, so that the model has what the engine is made of.
 */
exports.OF_MODELS = [
  'sim/index.js',
  'sim/parts/index.js',
  'sim/networks/index.js',
  'sim/outside.js',
];

/** Of the script `node`: its commands, and their modules in `cli/commands`. */
exports.ON_NODES = {
  commands: /^(collect|begin|end|mark|rotate|daemon)$/,
  modules: ['cli/commands/node.js', 'cli/commands/node-daemon.js'],
};

/** What tsc last wrote into `dist`, by the file in which it says so; '' in a package, whose `dist` nobody compiles. */
exports.buildOf = (folder) => {
  const file = statSync(join(folder, '.tsbuildinfo'), { throwIfNoEntry: false });
  return file === undefined ? '' : `${file.size}-${Math.round(file.mtimeMs * 1000)}`;
};

/** A script's first line: a hash of the rest, and of which build it was made. */
const HEAD = /^\/\/([0-9a-f]{32}) (\S*)\n/;
exports.headOf = (hash, build) => `//${hash} ${build}\n`;

/** The script's text and hash; null where it was not made, or modules have been compiled since. */
function read(path) {
  let text;
  try {
    text = readFileSync(path, 'latin1');
  } catch {
    return null;
  }
  const [, hash, build] = HEAD.exec(text.slice(0, 100)) ?? [];
  const now = exports.buildOf(dist);
  return hash === undefined || (now !== '' && now !== build) ? null : { text, hash };
}

/** Loads a module that is not in the script, such as a user's agent: a script has no import() of its own. */
const load = (url) => import(url);

/** Whether the user, or region launch, has Node load modules first: they may hand something to modules of `dist`. */
exports.preloaded = () =>
  [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((words) =>
    /(^|\s)(--import|--require|-r|--loader|--experimental-loader)\b/.test(words),
  );

/** A few letters that other paths hardly have. */
function shortOf(path) {
  let hash = 0;
  for (let k = 0; k < path.length; k++) hash = (Math.imul(hash, 31) + path.charCodeAt(k)) >>> 0;
  return hash.toString(36);
}

/**
 * What a script exports, or a promise of what its module does where there is no script that is up to date.
 * @param use what it is used for: of what is compiled, each use keeps its own; null: the module at any rate
 */
exports.exportsOf = (name, use = '') => {
  const filename = join(dist, 'scripts', `${name}.js`);
  const source = use === null ? null : read(filename);
  if (source === null) return load(`../dist/${exports.SCRIPTS[name]}`);
  // V8 keeps in it the script's path, which stacks show.
  const key = [name, use, source.hash, shortOf(filename)].filter(Boolean).join('-');
  const compiled = readCompiled(key);
  const script = new Script(source.text, { filename, cachedData: compiled?.data });
  const own = { exports: {} };
  script.runInThisContext()(own, require, load, join(dist, 'scripts'));
  keepAtExit(key, script, compiled);
  return own.exports;
};
