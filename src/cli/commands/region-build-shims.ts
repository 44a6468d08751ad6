/** `triscope region build-shims`: builds the libraries that mark programs nobody marked. */
import { parseArgs } from 'node:util';
import { buildShims, SHIMS, type ShimName, shimFolder } from '../../region/shims.ts';
import { EXIT, UsageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';

const USAGE = `usage: triscope region build-shims [NAME…] [--out DIR] [--json]

Builds, with this machine's compilers, libraries that \`triscope region launch\` loads into programs. All of them,
unless some are named; region is always built.

${Object.entries(SHIMS)
  .map(([name, shim]) => `  ${name.padEnd(10)}${shim.what} (${shim.compilers.join(' or ')})`)
  .join('\n')}

  --out DIR   where to put them (XDG_CACHE_HOME/triscope, else ~/.cache/triscope)
  --json      one object on stdout`;

function namesFrom(words: readonly string[]): ShimName[] {
  const known = Object.keys(SHIMS) as ShimName[];
  if (words.length === 0) return known;
  return words.map((word) => {
    const name = known.find((one) => one === word);
    if (name === undefined) throw new UsageError(`no shim '${word}'${didYouMean(word, known)}`);
    return name;
  });
}

/** Returns the exit code: 4 where a compiler is missing or fails. @throws UsageError */
export async function regionBuildShims(args: readonly string[]): Promise<number> {
  let words: ReturnType<typeof parse>;
  try {
    words = parse(args);
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
  const { values, positionals } = words;
  if (values.help) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  const folder = values.out ?? shimFolder();
  const names = namesFrom(positionals);
  let results: ReturnType<typeof buildShims>;
  try {
    results = buildShims(folder, names);
  } catch (error) {
    throw new UsageError(`${folder}: ${(error as Error).message}; --out names another folder`);
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ folder, shims: results })}\n`);
  for (const { name, path, compiler, reason } of results) {
    if (path === null) {
      const { install, what } = SHIMS[name];
      process.stderr.write(
        `triscope: ${name} (${what}) was not built: ${reason}; try: ${install}\n`,
      );
    } else if (!values.json) process.stdout.write(`${name.padEnd(10)}${path}  (${compiler})\n`);
  }
  return results.every(({ path }) => path !== null) ? 0 : EXIT.missing;
}

function parse(args: readonly string[]) {
  const options = {
    help: { type: 'boolean', short: 'h' },
    json: { type: 'boolean' },
    out: { type: 'string' },
  } as const;
  return parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
}
