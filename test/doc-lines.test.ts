/** What the package exports is told in its declarations: each name, and each member of its classes, has a sentence. */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, string | { readonly types: string }>;
};
const ENTRIES = Object.values(exports).flatMap((to) =>
  typeof to === 'string' ? [] : [join(ROOT, to.types)],
);

/** What every error has, told by the class that all are made of. */
const OF_ALL_ERRORS = ['name', 'exitCode', 'damage'];

/** Exports without a sentence, and how many were looked at. */
function undocumented(entries: readonly string[]): { seen: number; without: string[] } {
  // Types of other packages are theirs: without them this takes a second.
  const program = ts.createProgram([...entries], {
    noLib: true,
    types: [],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
  });
  const checker = program.getTypeChecker();
  const isOurs = (node: ts.Node) =>
    !relative(ROOT, node.getSourceFile().fileName).includes('node_modules');
  const told = (symbol: ts.Symbol) =>
    symbol.getDocumentationComment(checker).length > 0 || symbol.getJsDocTags().length > 0;
  const seen = new Set<ts.Symbol>();
  const without: string[] = [];
  const look = (symbol: ts.Symbol, name: string) => {
    if (seen.has(symbol)) return;
    seen.add(symbol);
    const [first] = symbol.declarations ?? [];
    if (first === undefined || !isOurs(first) || told(symbol)) return;
    without.push(`${relative(ROOT, first.getSourceFile().fileName)}: ${name}`);
  };
  for (const entry of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry) as ts.SourceFile);
    for (const given of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const isAlias = (given.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(given) : given;
      look(symbol, symbol.name);
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
  return { seen: seen.size, without };
}

describe('the declarations', () => {
  it('tell what each export is, and each member of its classes', () => {
    expect(ENTRIES.filter((path) => !existsSync(path))).toEqual([]);
    const { seen, without } = undocumented(ENTRIES);
    expect(seen).toBeGreaterThan(200);
    expect(without.sort()).toEqual([]);
  });
});
