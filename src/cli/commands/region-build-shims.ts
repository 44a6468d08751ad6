/** `triscope region build-shims`: builds the libraries that mark programs, and what programs marked for GEOPM need. */
import { resolve } from 'node:path';
import { didYouMean } from '../../model/nearest.ts';
import { flag, text } from '../../model/option.ts';
import { buildShims, SHIMS, type ShimName, shimFolder } from '../../region/shims.ts';
import { type Call, command } from '../command.ts';
import { EXIT, UsageError } from '../errors.ts';

const OPTIONS = {
  out: text('', 'where to put them', {
    placeholder: 'DIR',
    names: 'folder',
    fallback: 'XDG_CACHE_HOME/triscope, else ~/.cache/triscope',
  }),
  json: flag(false, 'one object on stdout'),
};

function namesFrom(words: readonly string[]): ShimName[] {
  const known = Object.keys(SHIMS) as ShimName[];
  if (words.length === 0) return known;
  return words.map((word) => {
    const name = known.find((one) => one === word);
    if (name === undefined)
      throw new UsageError(`there is no shim '${word}'${didYouMean(word, known)}`);
    return name;
  });
}

/** Returns the exit code: 4 where a compiler is missing or fails. @throws UsageError */
async function run({ words, given }: Call<typeof OPTIONS, null>): Promise<number> {
  const folder = resolve(given.out ?? shimFolder());
  const names = namesFrom(words);
  let results: ReturnType<typeof buildShims>;
  try {
    results = buildShims(folder, names);
  } catch (error) {
    throw new UsageError(`${folder}: ${(error as Error).message}; --out names another folder`);
  }
  if (given.json) process.stdout.write(`${JSON.stringify({ folder, shims: results })}\n`);
  for (const { name, path, compiler, reason } of results) {
    if (path === null) {
      const { install, what } = SHIMS[name];
      process.stderr.write(
        `triscope: ${name} (${what}) was not built: ${reason}; try: ${install}\n`,
      );
    } else if (!given.json) process.stdout.write(`${name.padEnd(10)}${path}  (${compiler})\n`);
  }
  return results.every(({ path }) => path !== null) ? 0 : EXIT.missing;
}

export const regionBuildShims = command({
  about: `Builds, with this machine’s compilers, libraries that triscope region launch loads into programs, and what programs marked for GEOPM are compiled and linked with. All of them, unless some are named; region is always built.\n\n${Object.entries(
    SHIMS,
  )
    .map(([name, shim]) => `${name}: ${shim.what} (${shim.compilers.join(' or ')})`)
    .join('\n\n')}`,
  arguments: [{ name: 'NAME', help: 'only these', optional: true, many: true, names: 'shim' }],
  options: OPTIONS,
  examples: ['region build-shims', 'region build-shims mpi --out shims'],
  run,
});
