/** `triscope region flags`: what a program marked for GEOPM is compiled and linked with. */
import { resolve } from 'node:path';
import { flag, text } from '../../model/option.ts';
import { geopmFlags } from '../../region/geopm-kit.ts';
import { builtShim, SHIMS, type ShimName, shimFolder } from '../../region/shims.ts';
import { type Call, command } from '../command.ts';
import { EXIT, UsageError } from '../errors.ts';

const KINDS = {
  compile: flag(false, 'for compilers of C and C++'),
  fortran: flag(false, 'for compilers of Fortran'),
  link: flag(false, 'for the linker'),
};

const OPTIONS = {
  ...KINDS,
  out: text('', 'where region build-shims put them', {
    placeholder: 'DIR',
    names: 'path',
    fallback: 'XDG_CACHE_HOME/triscope, else ~/.cache/triscope',
  }),
  json: flag(false, '{"compile", "fortran", "link": words, "pkgConfig": folder of geopm.pc}'),
};

type Kind = keyof typeof KINDS;

/** What a word is in a shell: as it is where nothing in it has a meaning there. */
const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Returns the exit code: 4 where what they are of is not built. @throws UsageError */
async function run({ given }: Call<typeof OPTIONS, null>): Promise<number> {
  const folder = resolve(given.out ?? shimFolder());
  const chosen = (Object.keys(KINDS) as Kind[]).filter((kind) => given[kind]);
  if (given.json && chosen.length > 0)
    throw new UsageError(`--json prints everything: leave out --${chosen[0]}`);
  const needed: ShimName = chosen.includes('fortran') ? 'fortran' : 'geopm';
  const missing = (['geopm', needed] as const).find((name) => builtShim(name, folder) === null);
  if (missing !== undefined) {
    const build = given.out === undefined ? '' : ` --out ${quoted(given.out)}`;
    process.stderr.write(
      `triscope: ${folder}: there is no ${SHIMS[missing].file}; triscope region build-shims ${missing}${build} builds it\n`,
    );
    return EXIT.missing;
  }
  const flags = geopmFlags(folder);
  const kinds = chosen.length > 0 ? chosen : (['compile', 'link'] as const);
  const line = kinds.flatMap((kind) => flags[kind]).map(quoted);
  process.stdout.write(`${given.json ? JSON.stringify(flags) : line.join(' ')}\n`);
  return 0;
}

export const regionFlags = command({
  about:
    'Prints the flags with which a program marked for GEOPM is compiled and linked against the headers and libgeopm.so that region build-shims built. By default all flags are on one line; geopm.pc gives the same to pkg-config.',
  options: OPTIONS,
  examples: ['region flags', 'region flags --fortran --link'],
  run,
});
