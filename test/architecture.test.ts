/** The rules of the house (docs/architecture.md), read from the source text. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { filesOf, isExported, PAGE, ROOT, SOURCE, type SourceFile } from './support/sources.ts';

const MOST_LINES = 450;
/** Where measurements come from. They never know of each other, and only these may join them. */
const SOURCES = ['sim', 'region', 'node', 'process'];
const JOINERS = ['live', 'cli'];
/** What the page shows, worked out from rows: it runs in the page too, so that nothing of a server may be in it. */
const VIEW = 'view';
const VIEW_USES = ['model', 'formats'];
/** Of these it knows the shapes of answers, not the code. */
const VIEW_NAMES = ['findings', 'report'];
/** The only place (file, or folder with all in it) that may import a package. */
const OWNERS: Readonly<Record<string, string>> = {
  koffi: 'src/os/',
  esbuild: 'src/sim/compile-model.ts',
  '@duckdb/node-api': 'src/query/',
  flatbuffers: 'src/formats/arrow/',
  hono: 'src/live/',
  '@hono/node-server': 'src/live/',
  ws: 'src/live/',
  amqplib: 'src/live/',
  'prom-client': 'src/live/',
  yaml: 'src/formats/geopm/',
};

interface Facts {
  /** What is imported, exported from, or imported while running. */
  readonly imports: readonly string[];
  /** Of those, what is imported in some place by more than its types. */
  readonly used: ReadonlySet<string>;
  /** Lines that say `any`. */
  readonly anys: readonly number[];
  /** Lines that name a member with `#`. */
  readonly hashes: readonly number[];
}

const known = new WeakMap<SourceFile, Facts>();

function factsOf(source: SourceFile): Facts {
  const facts = known.get(source) ?? parsed(source);
  known.set(source, facts);
  return facts;
}

function parsed({ path, text }: SourceFile): Facts {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const imports: string[] = [];
  const used = new Set<string>();
  const anys: number[] = [];
  const hashes: number[] = [];
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) {
      anys.push(file.getLineAndCharacterOfPosition(node.getStart()).line + 1);
    }
    if (ts.isPrivateIdentifier(node)) {
      hashes.push(file.getLineAndCharacterOfPosition(node.getStart()).line + 1);
    }
    const isImport = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
    if (isImport && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
      imports.push(node.moduleSpecifier.text);
      const isType = ts.isImportDeclaration(node) ? node.importClause?.isTypeOnly : node.isTypeOnly;
      if (isType !== true) used.add(node.moduleSpecifier.text);
    }
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const [what] = node.arguments;
      if (what && ts.isStringLiteral(what)) {
        imports.push(what.text);
        used.add(what.text);
      }
    }
    const isType = ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument);
    if (isType && ts.isStringLiteral(node.argument.literal))
      imports.push(node.argument.literal.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { imports, used, anys, hashes };
}

/** The folder of `src` that a path lies in; '' for files of `src` itself. */
const folderOf = (path: string) => path.match(/^src\/([^/]+)\//)?.[1] ?? '';

/** Whether `from`, a folder of `src`, may import from folder `to`. */
function mayImport(from: string, to: string, isUsed: boolean): boolean {
  if (from === to || to === 'model') return true;
  if (from === VIEW) return VIEW_USES.includes(to) || (!isUsed && VIEW_NAMES.includes(to));
  // The files of src itself are the package's front: they export all folders.
  if (from === '' || JOINERS.includes(from)) return to !== '';
  if (from === 'model' || to === '' || to === VIEW || JOINERS.includes(to)) return false;
  return !SOURCES.includes(to);
}

function importErrors(file: SourceFile): string[] {
  const errors: string[] = [];
  for (const name of factsOf(file).imports) {
    const wrong = (why: string) => errors.push(`${file.path} imports '${name}': ${why}`);
    if (name.startsWith('.')) {
      const target = join(file.path, '..', name);
      if (!target.startsWith('src/')) wrong('outside src');
      else if (!mayImport(folderOf(file.path), folderOf(target), factsOf(file).used.has(name)))
        wrong('against the direction of imports');
    } else if (name.startsWith('node:')) {
      if (folderOf(file.path) === VIEW) wrong('a page has no such thing');
    } else {
      const pack = name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/');
      const owner = OWNERS[pack];
      if (owner === undefined) wrong('a package without an owner');
      else if (!file.path.startsWith(owner)) wrong(`belongs to ${owner} only`);
    }
  }
  return errors;
}

/** Circles of imports, types' too: each as its files, sorted. A file that only leads to a circle is in none. */
function circles(files: readonly SourceFile[]): string[][] {
  const paths = new Set(files.map(({ path }) => path));
  const next = new Map(
    files.map((file) => [
      file.path,
      factsOf(file)
        .imports.filter((name) => name.startsWith('.'))
        .map((name) => join(file.path, '..', name))
        .filter((path) => paths.has(path)),
    ]),
  );
  const reached = new Map(
    [...paths].map((path) => {
      const seen = new Set<string>();
      const open = [path];
      for (let one = open.pop(); one !== undefined; one = open.pop()) {
        for (const to of next.get(one) ?? []) if (!seen.has(to) && seen.add(to)) open.push(to);
      }
      return [path, seen];
    }),
  );
  const found = new Set<string>();
  for (const [path, seen] of reached) {
    if (!seen.has(path)) continue;
    found.add(
      [...seen]
        .filter((other) => reached.get(other)?.has(path))
        .sort()
        .join(' '),
    );
  }
  return [...found].sort().map((names) => names.split(' '));
}

/** Files whose exports are taken by name where a program runs: what a model may not call. */
const OPENED = ['src/sim/outside.ts'];

/**
 * What `export { a, b as c } from` gives on, by its name there; and what is declared with `export`. Types are left out: who
 * calls a function may need the name of what it takes.
 */
function exportsOf({ path, text }: SourceFile): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return file.statements.flatMap((one) => {
    if (ts.isExportDeclaration(one) && one.exportClause && ts.isNamedExports(one.exportClause)) {
      const { elements } = one.exportClause;
      return elements.filter(({ isTypeOnly }) => !isTypeOnly).map(({ name }) => name.text);
    }
    if (ts.isInterfaceDeclaration(one) || ts.isTypeAliasDeclaration(one)) return [];
    if (!isExported(one)) return [];
    const names = ts.isVariableStatement(one)
      ? one.declarationList.declarations.map(({ name }) => name)
      : [(one as ts.DeclarationStatement).name];
    return names.flatMap((name) => (name && ts.isIdentifier(name) ? [name.text] : []));
  });
}

/** Names that files export and that stand in no other file. */
function unused(files: readonly SourceFile[], users: readonly SourceFile[]): string[] {
  const count = new Map<string, number>();
  const wordsOf = ({ text }: SourceFile) => new Set(text.match(/[A-Za-z_$][\w$]*/g));
  for (const user of [...files, ...users]) {
    for (const word of wordsOf(user)) count.set(word, (count.get(word) ?? 0) + 1);
  }
  return files.flatMap((file) =>
    exportsOf(file)
      .filter((name) => (count.get(name) ?? 0) < 2)
      .map((name) => `${file.path}: ${name}`),
  );
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest;

describe('the source', () => {
  it('is there to be read', () => {
    expect(SOURCE.length).toBeGreaterThan(30);
    expect(SOURCE.flatMap((file) => factsOf(file).imports).length).toBeGreaterThan(100);
  });

  it('imports in one direction, and packages only in the folders that own them', () => {
    expect(SOURCE.flatMap(importErrors)).toEqual([]);
  });

  it('gives the page its view and its model, and nothing else', () => {
    const wrong = PAGE.flatMap((file) =>
      factsOf(file)
        .imports.map((name) => join(file.path, '..', name))
        .filter((path) => path.startsWith('src/') && !/^src\/(view|model)\//.test(path))
        .map((path) => `${file.path} imports ${path}`),
    );
    expect(PAGE.flatMap((file) => factsOf(file).imports).length).toBeGreaterThan(100);
    expect(wrong).toEqual([]);
  });

  it('reads raw stats by the rows of their tables; who parses lines has a sample in memory, not a file', () => {
    const parse = SOURCE.filter(({ text }) => /\bRawParser\b/.test(text)).map(({ path }) => path);
    const others = parse.filter((path) => !path.startsWith('src/formats/tacc/'));
    expect(others.sort()).toEqual(['src/cli/sample-facts.ts', 'src/live/node-text.ts']);
  });

  it('has no circle of imports, in the page neither', () => {
    expect(circles([...SOURCE, ...PAGE])).toEqual([]);
  });

  it('exports nothing that no other file takes', () => {
    const front = new Set(
      Object.values(manifest.exports).map((to) =>
        (typeof to === 'string' ? to : to.default).replace('./dist', 'src').replace(/\.js$/, '.ts'),
      ),
    );
    const taken = (path: string) => front.has(path) || OPENED.includes(path);
    const users = ['test', 'bench', 'scripts', 'bin', 'examples'].flatMap(filesOf);
    expect(
      unused([...SOURCE, ...PAGE], users).filter((line) => !taken(line.split(':')[0])),
    ).toEqual([]);
  });

  it('keeps members to their class in one way: private, not #', () => {
    const said = [...SOURCE, ...PAGE].flatMap((file) =>
      factsOf(file).hashes.map((line) => `${file.path}:${line}`),
    );
    expect(said).toEqual([]);
    expect(factsOf({ path: 'src/b.ts', text: 'class A {\n  #a = 1;\n}' }).hashes).toEqual([2]);
  });

  it('never says any', () => {
    const said = [...SOURCE, ...PAGE].flatMap((file) =>
      factsOf(file).anys.map((line) => `${file.path}:${line}`),
    );
    expect(said).toEqual([]);
  });

  it(`has no file of more than ${MOST_LINES} lines`, () => {
    const long = [...SOURCE, ...PAGE]
      .map(({ path, text }) => ({
        path,
        lines: text.trimEnd().split('\n').length,
      }))
      .filter(({ lines }) => lines > MOST_LINES)
      .map(({ path, lines }) => `${path}: ${lines}`);
    expect(long).toEqual([]);
  });
});

describe('the package', () => {
  it('has the files that package.json names', () => {
    const named = Object.values(manifest.exports).flatMap((entry) =>
      typeof entry === 'string' ? [entry] : Object.values(entry),
    );
    const missing = [...named, ...Object.values(manifest.bin)].filter(
      (path) => !existsSync(join(ROOT, path)),
    );
    expect(missing).toEqual([]);
  });

  it('depends on nothing that no folder owns', () => {
    const { dependencies, optionalDependencies } = manifest;
    const names = Object.keys({ ...dependencies, ...optionalDependencies });
    expect(names.sort()).toEqual(Object.keys(OWNERS).sort());
  });
});

describe('the rules themselves', () => {
  it('find exports that no other file takes', () => {
    const files = [
      { path: 'src/a.ts', text: 'export const a = 1, b = 2; export type C = 1; const d = 1;' },
      { path: 'src/b.ts', text: "export { e, a as f } from './a.ts'; export function g() {}" },
      { path: 'src/c.ts', text: 'export class H {} const x = [b, g, I]; export class I {}' },
    ];
    expect(unused(files, [{ path: 'test/d.ts', text: 'new H()' }])).toEqual([
      'src/b.ts: e',
      'src/b.ts: f',
      'src/c.ts: I',
    ]);
  });

  const errors = (path: string, text: string) => importErrors({ path, text }).length;

  it.each([
    ['src/model/struct.ts', "import { x } from '../sim/pe.ts';"],
    ['src/model/struct.ts', "import { x } from '../os/affinity.ts';"],
    ['src/sim/pe.ts', "import { x } from '../region/mark.ts';"],
    ['src/sim/pe.ts', "export { x } from '../node/collect.ts';"],
    ['src/region/mark.ts', "import type { X } from '../sim/pe.ts';"],
    ['src/node/types/cpu.ts', "const x = await import('../../sim/pe.ts');"],
    ['src/formats/ross/read.ts', "import { x } from '../../sim/pe.ts';"],
    ['src/query/tables.ts', "type X = import('../node/collect.ts').X;"],
    ['src/findings/slow.ts', "import '../region/mark.ts';"],
    ['src/os/affinity.ts', "import { x } from '../sim/pe.ts';"],
    ['src/report/html.ts', "import { x } from '../sim/pe.ts';"],
    ['src/sim/pe.ts', "import { x } from '../cli/main.ts';"],
    ['src/sim/pe.ts', "import { x } from '../index.ts';"],
    ['src/sim/pe.ts', "import { x } from '../../test/sim/model.ts';"],
    ['src/sim/pe.ts', "import koffi from 'koffi';"],
    ['src/sim/pe.ts', "import { build } from 'esbuild';"],
    ['src/sim/pe.ts', "import { WebSocket } from 'ws/wrapper';"],
    ['src/live/server.ts', "import x from '@unheard/of';"],
    ['src/view/binary.ts', "import { x } from '../live/server.ts';"],
    ['src/view/binary.ts', "import { x } from '../query/index.ts';"],
    ['src/view/binary.ts', "import { x } from '../findings/index.ts';"],
    ['src/view/binary.ts', "import fs from 'node:fs';"],
    ['src/findings/slow.ts', "import { x } from '../view/binary.ts';"],
  ])('refuse %s: %s', (path, text) => {
    expect(errors(path, text)).toBe(1);
  });

  it.each([
    ['src/sim/pe.ts', "import { x } from '../model/struct.ts';"],
    ['src/sim/transport/ring.ts', "import { x } from '../pe.ts';"],
    ['src/sim/worker.ts', "import { x } from '../os/affinity.ts';"],
    ['src/cli/sim.ts', "import { x } from '../sim/index.ts'; import y from '../node/index.ts';"],
    ['src/live/bus.ts', "import { x } from '../region/index.ts';"],
    ['src/view/binary.ts', "import type { X } from '../findings/index.ts';"],
    ['src/live/server.ts', "import { x } from '../view/binary.ts';"],
    ['src/index.ts', "export * from './sim/index.ts';"],
    ['src/os/affinity.ts', "import koffi from 'koffi'; import fs from 'node:fs';"],
    ['src/sim/compile-model.ts', "const { build } = await import('esbuild');"],
    ['src/sim/pe.ts', "// import x from '../region/mark.ts'\nconst s = \"import 'koffi'\";"],
  ])('allow %s: %s', (path, text) => {
    expect(errors(path, text)).toBe(0);
  });

  it('find circles, and what only leads to them is in none', () => {
    const files = [
      { path: 'src/a.ts', text: "import { b } from './b.ts';" },
      { path: 'src/b.ts', text: "import type { C } from './c.ts';" },
      { path: 'src/c.ts', text: "type B = import('./b.ts').B;" },
      { path: 'web/src/d.ts', text: "import x from '../../src/a.ts';" },
    ];
    expect(circles(files)).toEqual([['src/b.ts', 'src/c.ts']]);
  });

  it('find any as a type, not as a word', () => {
    const lines =
      'const any = 1; // any\nlet x: any;\nconst y = x as any[];\nfunction f<T = any>() {}';
    expect(factsOf({ path: 'src/a.ts', text: lines }).anys).toEqual([2, 3, 4]);
  });
});
