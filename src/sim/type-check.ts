/** Type-checks a user's model with the TypeScript that its project has. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MissingPieceError } from '../model/error.ts';
import { scratchFolder } from '../os/scratch.ts';
import { ModelError } from './model-error.ts';

/** The folder of `name`'s package: as the model sees it, else as this package does; null for none. */
function packageFolder(name: string, model: string): string | null {
  for (const from of [pathToFileURL(model).href, import.meta.url]) {
    try {
      return dirname(createRequire(from).resolve(`${name}/package.json`));
    } catch {
      // Not from there.
    }
  }
  return null;
}

/** The program `tsc`. @throws MissingPieceError */
function compilerOf(model: string): string {
  const folder = packageFolder('typescript', model);
  if (folder === null) {
    throw new MissingPieceError(
      `${model}: checking its types needs TypeScript, which is not installed: npm install --save-dev typescript @types/node`,
    );
  }
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly bin: Readonly<Record<string, string>>;
  };
  return join(folder, bin.tsc);
}

/** What the model is compiled as when it runs: modules of one bundle, this package by its own address. */
function configFor(path: string): object {
  const types = (name: string) => [fileURLToPath(new URL(`../${name}`, import.meta.url))];
  const node = packageFolder('@types/node', path);
  return {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'ES2022',
      lib: ['ES2023', ...(node === null ? ['DOM'] : [])],
      module: 'ESNext',
      moduleResolution: 'bundler',
      allowImportingTsExtensions: true,
      allowJs: true,
      checkJs: /^\.[cm]?js$/.test(extname(path)),
      skipLibCheck: true,
      types: node === null ? [] : ['node'],
      ...(node !== null && { typeRoots: [dirname(node)] }),
      paths: {
        triscope: types('index.d.ts'),
        'triscope/sim': types('sim/index.d.ts'),
        'triscope/sim/parts': types('sim/parts/index.d.ts'),
        'triscope/sim/networks': types('sim/networks/index.d.ts'),
      },
    },
    files: [path],
  };
}

function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((done, fail) => {
    const child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
    child.on('error', fail);
    child.on('close', (code) => {
      if (code === 0) done('');
      else if (text.includes('error TS')) done(text);
      else fail(new ModelError(`${program}: ended with code ${code}: ${text}`));
    });
  });
}

const PLACED = /^(.+)\((\d+),(\d+)\): error (TS\d+): (.*)$/;
const UNPLACED = /^error (TS\d+): (.*)$/;

/**
 * The type errors of the model at `path` and of what it imports, each in one line: `shop.ts:12:7: Property 'servd' does
 * not exist … (TS2551)`, from the working directory.
 * @throws MissingPieceError where there is no TypeScript
 */
export async function typeErrors(path: string): Promise<string[]> {
  const compiler = compilerOf(path);
  const folder = scratchFolder('triscope-types-');
  try {
    const project = join(folder.path, 'tsconfig.json');
    writeFileSync(project, JSON.stringify(configFor(resolve(path))));
    const errors: string[] = [];
    for (const line of (await run(compiler, ['--pretty', 'false', '-p', project])).split('\n')) {
      const [, file, row, column, code, text] = PLACED.exec(line) ?? [];
      const [, bare, what] = UNPLACED.exec(line) ?? [];
      if (file !== undefined) errors.push(`${file}:${row}:${column}: ${text} (${code})`);
      else if (bare !== undefined) errors.push(`${what} (${bare})`);
      // What says more is indented below.
      else if (line.trim() !== '' && errors.length > 0)
        errors.push(`${errors.pop()}; ${line.trim()}`);
    }
    return errors;
  } finally {
    folder.remove();
  }
}
