/**
 * Keeps what V8 has compiled of a script by the first commands that ran it, for those after them. V8 accepts only what the
 * same version compiled with the same flags: each combination has a file of its own.
 *
 * Whoever can write such a file can make this user run anything. So the files are in the user's own cache folder, and are used only
 * if folder and file belong to the user and nobody else can write them. Without such a folder nothing is kept, silently.
 */
const fs = require('node:fs');
const { homedir } = require('node:os');
const { dirname, isAbsolute, join } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { threadId } = require('node:worker_threads');

/** Most files in the folder. New versions of this package, or of Node, make new ones; those that were not used for longest are removed. */
const MOST_FILES = 64;
/** Milliseconds for which a file that is used is not touched again: its time says when it was used, to a day. */
const TOUCHED = 86_400_000;
/** A run that compiled this much more than what was kept is kept in its place, and the next run is examined, too. */
const GROWTH = 1.1;

const { XDG_CACHE_HOME = '' } = process.env;
const root = isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache');
const folder = join(root, 'triscope', 'compiled');

const tag = cachedDataVersionTag();
const nameOf = (key) => `${key}-${tag.toString(36)}`;

/** Whether it belongs to this user, without the permissions `others`. */
const isOwn = ({ uid, mode }, others) => uid === process.geteuid?.() && (mode & others) === 0;
const isSafe = () => isOwn(fs.lstatSync(folder), 0o077);

/** The last line of a file shows that it is complete: what it belongs to, and whether it need not be examined again. */
const lastLine = (name, settled) => `\n${name} ${settled ? 'settled' : 'growing'}\n`;

function touch(file) {
  try {
    const now = Date.now() / 1000;
    fs.futimesSync(file, now, now);
  } catch {
    // On a disk that is only read nothing is removed either.
  }
}

/**
 * What is kept: `{ data, settled }`, or null.
 * @param key names script, use and content
 */
exports.readCompiled = (key) => {
  const name = nameOf(key);
  let file;
  try {
    if (!isSafe()) return null;
    file = fs.openSync(join(folder, name), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    const facts = fs.fstatSync(file);
    if (!facts.isFile() || !isOwn(facts, 0o022)) return null;
    const bytes = fs.readFileSync(file);
    const at = bytes.lastIndexOf('\n', -2);
    const line = bytes.toString('latin1', at);
    const settled = line === lastLine(name, true);
    if (!settled && line !== lastLine(name, false)) return null;
    if (Date.now() - facts.mtimeMs > TOUCHED) touch(file);
    return { data: bytes.subarray(0, at), settled };
  } catch {
    // It does not exist, or cannot be read.
    return null;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
};

/** Not in a folder of another user, as under sudo: what root makes there, its owner could not use. */
function makeFolder() {
  for (const path of [root, dirname(folder), folder]) {
    if (fs.existsSync(path)) continue;
    if (!isOwn(fs.statSync(dirname(path)), 0)) return;
    fs.mkdirSync(path, { mode: 0o700 });
  }
}

function write(name, script, kept) {
  makeFolder();
  // V8 would reject what was compiled with other flags than those with which a process begins.
  if (!isSafe()) return;
  process.emit('triscope:keeps');
  if (cachedDataVersionTag() !== tag) return;
  const now = script.createCachedData();
  const grown = kept === null || now.length > GROWTH * kept.data.length;
  const data = grown ? now : kept.data;
  const path = join(folder, name);
  // Many processes and threads may do this at once.
  const own = `${path}.${process.pid}.${threadId}`;
  fs.writeFileSync(own, Buffer.concat([data, Buffer.from(lastLine(name, !grown))]), {
    mode: 0o600,
    flush: true,
  });
  fs.renameSync(own, path);
  removeUnused();
}

function removeUnused() {
  const files = fs.readdirSync(folder).map((name) => join(folder, name));
  if (files.length <= MOST_FILES) return;
  const time = (path) => fs.lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const byAge = files.map((path) => ({ path, time: time(path) })).sort((a, b) => b.time - a.time);
  for (const { path } of byAge.slice(MOST_FILES)) fs.rmSync(path, { force: true });
}

/**
 * At the end of this process or thread, keeps what V8 has compiled of `script`, if all went well and there is more than
 * `kept`, which readCompiled gave.
 */
exports.keepAtExit = (key, script, kept) => {
  const usable = script.cachedDataRejected === true ? null : kept;
  if (usable?.settled) return;
  process.on('exit', (code) => {
    if (code !== 0) return;
    try {
      write(nameOf(key), script, usable);
    } catch {
      // No space, or read-only: the next command compiles again.
    }
  });
};
