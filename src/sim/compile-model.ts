/** Compiles a user's model into one module for Node: its file, and the files and packages that it imports. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MissingPieceError } from '../model/error.ts';
import { scratchFolder } from '../os/scratch.ts';
import { ModelError } from './model-error.ts';
import { MAP } from './model-place.ts';
import { type TopLevel, topLevelOf, variablesExport } from './module-state.ts';
import { REPLACED } from './outside.ts';

const EXTENSIONS = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'];

/** Properties of `import.meta` that belong to each file, although all become one module. */
const META = ['url', 'dirname', 'filename'];
const metaName = (key: string) => `__triscope_meta_${key}`;
/** What stands for them in a file's text; the last two in CommonJS, unless a file declares them itself. */
const META_TEXTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(META.map((key) => [`import.meta.${key}`, metaName(key)])),
  __dirname: metaName('dirname'),
  __filename: metaName('filename'),
};
const OF_FILE = /import\.meta\.|__(dir|file)name/;
const outsideName = (name: string) => `__triscope_${name}`;

/** Declares the replacements for `import.meta.…` and `__dirname` on a file's first line, so that line numbers stay the same. */
function ownMeta(path: string): string {
  const values = [pathToFileURL(path).href, dirname(path), path];
  return META.map((key, k) => `const ${metaName(key)} = ${JSON.stringify(values[k])};`).join(' ');
}

export interface CompiledModel {
  readonly url: string;
  /** The same, but it imports the modules of a linked script; null where it imports one that the script lacks. */
  readonly linked: string | null;
  /** Variables at the top level of its modules; the module exports their values. */
  readonly variables: readonly TopLevel[];
  /** Removes the module. */
  dispose(): void;
}

/**
 * Compiles a model.
 * @throws ModelError that names file, line and column of what does not compile
 */
export async function compileModel(path: string): Promise<CompiledModel> {
  if (!EXTENSIONS.includes(extname(path))) {
    throw new ModelError(`${path}: a model is a ${EXTENSIONS.join(', ')} file`);
  }
  const { build } = await import('esbuild');
  const here = new URL('..', import.meta.url);
  const own: Readonly<Record<string, string>> = {
    triscope: new URL('index.js', here).href,
    'triscope/sim': new URL('sim/index.js', here).href,
    'triscope/sim/parts': new URL('sim/parts/index.js', here).href,
    'triscope/sim/networks': new URL('sim/networks/index.js', here).href,
  };
  const outsideUrl = new URL('sim/outside.js', here).href;
  const outside = [...new Set(Object.values(REPLACED))].map(
    (name) => `${name} as ${outsideName(name)}`,
  );
  const folder = scratchFolder('triscope-model-');
  const file = join(folder.path, 'model.mjs');
  let variables: TopLevel[];
  let linked: string | null;
  try {
    const result = await build({
      entryPoints: [path],
      bundle: true,
      write: false,
      // The folder from which the source map's paths start.
      outfile: file,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: 'inline',
      logLevel: 'silent',
      define: {
        ...META_TEXTS,
        ...Object.fromEntries(Object.entries(REPLACED).map(([k, name]) => [k, outsideName(name)])),
      },
      banner: {
        js: [
          `import { ${outside.join(', ')} } from ${JSON.stringify(outsideUrl)};`,
          "import { createRequire as __triscope_require } from 'node:module';",
          // CommonJS modules use Node's own require.
          `const require = __triscope_require(${JSON.stringify(path)});`,
        ].join(' '),
      },
      plugins: [
        {
          name: 'packages',
          setup(setup) {
            // This package is imported by its URL, so that a model's file may lie anywhere; other packages as usual.
            setup.onResolve({ filter: /^triscope(\/sim(\/parts)?)?$/ }, ({ path: name, kind }) =>
              kind === 'require-call'
                ? { path: name, namespace: 'required' }
                : { path: own[name], external: true },
            );
            setup.onLoad({ filter: /./, namespace: 'required' }, ({ path: name }) => ({
              contents: `export * from ${JSON.stringify(name)};`,
            }));
            setup.onLoad({ filter: /\.[cm]?[jt]s$/ }, ({ path: name }) => {
              const text = readFileSync(name, 'utf8');
              if (!OF_FILE.test(text)) return undefined;
              const loader = /\.[cm]?ts$/.test(name) ? 'ts' : 'js';
              return { contents: `${ownMeta(name)} ${text}`, loader, resolveDir: dirname(name) };
            });
          },
        },
      ],
    });
    const { text } = result.outputFiles[0];
    variables = topLevelOf(text);
    const map = text.lastIndexOf(MAP);
    const whole = `${text.slice(0, map)}${variablesExport(variables)}${text.slice(map)}`;
    writeFileSync(file, whole);
    const urls = [outsideUrl, ...Object.values(own)];
    linked = writeLinked(whole, here, urls, join(folder.path, 'linked-model.mjs'));
  } catch (error) {
    folder.remove();
    if (error instanceof Error && error.message.includes('is needed by esbuild')) {
      throw new MissingPieceError(
        'a model given by path is compiled by esbuild, whose program for this platform is not installed: npm install without --omit=optional',
      );
    }
    throw new ModelError(placed(path, error));
  }
  return { url: pathToFileURL(file).href, linked, variables, dispose: () => folder.remove() };
}

/**
 * Writes a compiled model that imports what stands for this package's modules beside the linked script of PEs: to load the
 * modules one by one would take longer than many runs. Gives its URL; null where it needs one that nothing stands for.
 */
function writeLinked(text: string, here: URL, urls: readonly string[], file: string) {
  let linked = text;
  for (const url of urls) {
    const name = url.slice(here.href.length).replaceAll('/', '-').replace(/js$/, 'mjs');
    const standIn = new URL(`scripts/${name}`, here);
    const quoted = JSON.stringify(url);
    if (!text.includes(quoted)) continue;
    if (!existsSync(standIn)) return null;
    linked = linked.replaceAll(quoted, JSON.stringify(standIn.href));
  }
  writeFileSync(file, linked);
  return pathToFileURL(file).href;
}

interface BuildError {
  readonly text: string;
  readonly location?: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  } | null;
}

/** The first of a build's errors, in one line. */
function placed(path: string, error: unknown): string {
  const first = (error as { errors?: BuildError[] }).errors?.[0];
  if (first === undefined) return `${path}: ${error instanceof Error ? error.message : error}`;
  const at = first.location;
  return `${at ? `${at.file}:${at.line}:${at.column + 1}` : path}: ${first.text}`;
}
