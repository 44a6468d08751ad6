/**
 * What the package exports is told in its declarations: each name, and each member of its classes, has a sentence, each
 * number a unit, each error its `@throws`, and each function and class an example that compiles, as do the modules that
 * documents show.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { untoldErrors, untoldNumbers } from './support/doc-facts.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { readonly types: string }>;
};
const ENTRIES = Object.values(exports).flatMap((to) =>
  typeof to === 'string' ? [] : [join(ROOT, to.types)],
);

/** What every error has, told by the class that all are made of. */
const OF_ALL_ERRORS = ['name', 'exitCode', 'damage'];

interface Told {
  /** Names that were looked at. */
  readonly seen: number;
  /** Those without a sentence. */
  readonly without: string[];
  /** Functions and classes without an example. */
  readonly bare: string[];
  /** Code of the examples, by name. */
  readonly examples: Map<string, string>;
}

/** The types of other packages are theirs: without them this takes a second. */
const programOf = (entries: readonly string[]) =>
  ts.createProgram([...entries], {
    noLib: true,
    types: [],
    strict: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    ...{ allowImportingTsExtensions: true, noEmit: true },
  });

/** What the declarations tell of the exports. */
function told(program: ts.Program, entries: readonly string[]): Told {
  const checker = program.getTypeChecker();
  const isOurs = (node: ts.Node) =>
    !relative(ROOT, node.getSourceFile().fileName).includes('node_modules');
  const hasSentence = (symbol: ts.Symbol) =>
    symbol.getDocumentationComment(checker).length > 0 || symbol.getJsDocTags().length > 0;
  const seen = new Set<ts.Symbol>();
  const without: string[] = [];
  const bare: string[] = [];
  const examples = new Map<string, string>();
  /** Functions and classes, also those that a constant holds. */
  const isCalled = (symbol: ts.Symbol, first: ts.Declaration) =>
    (symbol.flags & (ts.SymbolFlags.Function | ts.SymbolFlags.Class)) !== 0 ||
    ((symbol.flags & ts.SymbolFlags.Variable) !== 0 &&
      checker.getTypeOfSymbolAtLocation(symbol, first).getCallSignatures().length > 0);
  const lookForExample = (symbol: ts.Symbol) => {
    const [first] = symbol.declarations ?? [];
    if (first === undefined || !isOurs(first) || !isCalled(symbol, first)) return;
    const file = relative(ROOT, first.getSourceFile().fileName);
    const shown = symbol.getJsDocTags().filter(({ name }) => name === 'example');
    if (shown.length === 0) bare.push(`${file}: ${symbol.name}`);
    for (const { text } of shown) {
      const code = /^```ts\n(.*)\n```$/s.exec(ts.displayPartsToString(text).trim())?.[1];
      examples.set(`${file}: ${symbol.name}`, code ?? 'no code between ```ts and ```');
    }
  };
  const look = (symbol: ts.Symbol, name: string) => {
    if (seen.has(symbol)) return;
    seen.add(symbol);
    const [first] = symbol.declarations ?? [];
    if (first === undefined || !isOurs(first) || hasSentence(symbol)) return;
    without.push(`${relative(ROOT, first.getSourceFile().fileName)}: ${name}`);
  };
  for (const entry of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry) as ts.SourceFile);
    for (const given of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const isAlias = (given.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(given) : given;
      look(symbol, symbol.name);
      lookForExample(symbol);
      if ((symbol.flags & ts.SymbolFlags.Class) === 0) continue;
      const members = [...(symbol.members ?? []), ...(symbol.exports ?? [])].map(([, one]) => one);
      for (const member of members) {
        const [of] = member.declarations ?? [];
        const isShown =
          of !== undefined &&
          !ts.isTypeParameterDeclaration(of) &&
          (ts.getCombinedModifierFlags(of) & ts.ModifierFlags.Private) === 0 &&
          !OF_ALL_ERRORS.includes(member.name);
        if (isShown) look(member, `${symbol.name}.${member.name.replace('__', '')}`);
      }
    }
  }
  return { seen: seen.size, without, bare, examples };
}

/** Modules that documents show: blocks that import the package. */
function* shownModules(): Generator<[string, string]> {
  const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path));
  for (const path of ['README.md', ...documents]) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const [, code] of text.matchAll(/^```ts\n(import .*?from 'triscope.*?)^```$/gms)) {
      yield [
        `${path}:${text.slice(0, text.indexOf(code as string)).split('\n').length}`,
        code as string,
      ];
    }
  }
}

/** What the compiler says of modules, as of those of a project that has installed the package. */
function errorsOf(modules: ReadonlyMap<string, string>): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'examples-'));
  try {
    const names = [...modules.keys()];
    const paths = Object.entries(exports).flatMap(([key, to]) =>
      typeof to === 'string' ? [] : [[key.replace('.', 'triscope'), [join(ROOT, to.types)]]],
    );
    const compilerOptions = {
      ...{ module: 'nodenext', target: 'es2023', strict: true, noEmit: true, skipLibCheck: true },
      ...{ types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] },
      paths: Object.fromEntries(paths),
    };
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    // What the reader would put there.
    writeFileSync(join(folder, 'reader.d.ts'), 'declare function use(...what: unknown[]): void;');
    for (const [k, name] of names.entries()) {
      writeFileSync(join(folder, `example-${k}.ts`), `${modules.get(name)}\nexport {};\n`);
    }
    const compiler = join(ROOT, 'node_modules/typescript-native/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], {
      encoding: 'utf8',
      cwd: folder,
    });
    return stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.replace(/^example-(\d+)\.ts/, (_, k) => names[Number(k)] ?? ''));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const program = programOf(ENTRIES);
const declared = told(program, ENTRIES);

describe('the declarations', () => {
  it('tell what each export is, and each member of its classes', () => {
    expect(ENTRIES.filter((path) => !existsSync(path))).toEqual([]);
    expect(declared.seen).toBeGreaterThan(200);
    expect(declared.without.sort()).toEqual([]);
  });

  it('have an example for each function and class', () => {
    expect(declared.bare.sort()).toEqual([]);
  });

  it('have a unit, or what is counted, for each number', () => {
    expect(untoldNumbers(program, ENTRIES, ROOT)).toEqual([]);
  });

  it('name the errors of each function that throws some', () => {
    const sources = ENTRIES.map((path) => path.replace('/dist/', '/src/').replace('.d.ts', '.ts'));
    const { untold, throwing } = untoldErrors(programOf(sources), sources, ROOT);
    expect(throwing).toBeGreaterThan(50);
    expect(untold).toEqual([]);
  });

  it('that lack units, parameters or errors are found', () => {
    const folder = mkdtempSync(join(tmpdir(), 'facts-'));
    const path = join(folder, 'facts.ts');
    writeFileSync(
      path,
      `class OwnError extends Error {}
       function check(n: number) { if (n < 0) throw new OwnError('less'); }
       /** Waits. */ export function wait(time: number) { check(time); }
       /** Waits for \`time\` seconds. @throws OwnError for less than 0 */ export function sleep(time: number) { check(time); }
       /** Tries. */ export function quiet() { try { check(1); } catch {} }
       /** A span. */ export interface Span { readonly from: number; /** Of the run. */ readonly to: number;
         /** Seconds. */ readonly length: number; }`,
    );
    const facts = programOf([path]);
    expect(untoldNumbers(facts, [path], folder)).toEqual([
      'facts.ts: wait(time)',
      'facts.ts: Span.from',
      'facts.ts: Span.to',
    ]);
    const { untold } = untoldErrors(facts, [path], folder);
    expect(untold).toEqual(['facts.ts: wait throws OwnError']);
    rmSync(folder, { recursive: true });
  });
});

describe('examples', () => {
  it('compile, those of the declarations and those of documents', () => {
    const shown = [...declared.examples, ...shownModules()];
    expect(shown.length).toBeGreaterThan(100);
    expect(errorsOf(new Map(shown))).toEqual([]);
  });

  it('that do not are named', () => {
    const wrong = "import { simulate } from 'triscope/sim';\nawait simulate('phold', { pess: 2 });";
    expect(errorsOf(new Map([['wrong', wrong]]))).toEqual([
      expect.stringMatching(/^wrong\(2,\d+\): error TS\d+: .*pess/),
    ]);
  });
});
