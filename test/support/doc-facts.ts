/** What doc comments of the package's exports lack: units of numbers, parameters, errors. */
import { relative } from 'node:path';
import ts from 'typescript';

/** Words one of which says what a number is: its unit, or what it counts. */
const UNIT =
  /\b(seconds?|milliseconds?|microseconds?|nanoseconds?|m?s|ns|days?|virtual time|bytes?|bits?|words?|GiB|per cent|ratio|fraction|share|part of|probability|chance|unit|units|values?|index|indices|numbers?|how (many|much|often)|counts?|ids?|hash|CRC|rank|seed|handle|order|port|code|ulp|priority|process|CPUs?|[PKL]Ps?|GVTs?|events?|rows?|groups?|runs?|times|rollbacks|batches|samples|records|messages|exits|entries|deviation|correlation|random)\b/i;
/** Names that say by themselves what is counted, or in what; an exit code, by the class of all errors. */
const TELLING =
  /^(exitCode|length|count|rows|records|seconds|nanoseconds|microseconds|bytes|size|line|rank|pid|cpu|index|pe|pes|lps|kps|lp|kp|replications)$|(Seconds|Bytes|Bits)$/;

const isNumeric = (type: ts.Type): boolean => {
  if (type.isUnion()) {
    const isKey = type.types.some(({ flags }) => (flags & ts.TypeFlags.ESSymbolLike) !== 0);
    return !isKey && type.types.some(isNumeric);
  }
  const { flags } = type;
  return (flags & (ts.TypeFlags.NumberLike | ts.TypeFlags.BigIntLike)) !== 0;
};

const isShown = (member: ts.Declaration) =>
  (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) === 0;

type FunctionLike = ts.SignatureDeclaration & { readonly body?: ts.Node };

const isFunction = (node: ts.Node): node is FunctionLike =>
  ts.isFunctionDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isMethodSignature(node) ||
  ts.isConstructorDeclaration(node) ||
  ts.isGetAccessor(node);

/** Declarations of the exports, and the members of those that have some, each with its name. */
function* declarations(program: ts.Program, entries: readonly string[]) {
  const checker = program.getTypeChecker();
  const seen = new Set<ts.Symbol>();
  for (const entry of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry) as ts.SourceFile);
    for (const given of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const isAlias = (given.flags & ts.SymbolFlags.Alias) !== 0;
      const symbol = isAlias ? checker.getAliasedSymbol(given) : given;
      if (seen.has(symbol)) continue;
      seen.add(symbol);
      for (const one of symbol.declarations ?? []) {
        if (one.getSourceFile().fileName.includes('node_modules')) continue;
        yield { name: symbol.name, node: one };
        if (!ts.isClassDeclaration(one) && !ts.isInterfaceDeclaration(one)) continue;
        for (const member of one.members) {
          const own = member.name?.getText() ?? 'constructor';
          if (isShown(member)) yield { name: `${symbol.name}.${own}`, node: member };
        }
      }
    }
  }
}

const placeOf = (root: string, node: ts.Node) => relative(root, node.getSourceFile().fileName);
const commentOf = (node: ts.Node) =>
  ts
    .getJSDocCommentsAndTags(node)
    .map((part) => part.getText())
    .join('\n');

/**
 * Numbers that nothing is said of: parameters that no `@param` and no word in backticks names, and fields without a unit or a
 * word for what they count.
 */
export function untoldNumbers(
  program: ts.Program,
  entries: readonly string[],
  root: string,
): string[] {
  const checker = program.getTypeChecker();
  const untold: string[] = [];
  for (const { name, node } of declarations(program, entries)) {
    const comment = commentOf(node);
    if (isFunction(node)) {
      for (const parameter of node.parameters) {
        const own = parameter.name.getText();
        const isNamed = comment.includes(`@param ${own}`) || comment.includes(`\`${own}\``);
        if (!isNamed && isNumeric(checker.getTypeAtLocation(parameter)))
          untold.push(`${placeOf(root, node)}: ${name}(${own})`);
      }
    } else if (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node)) {
      const own = node.name.getText();
      const says = comment === '' ? TELLING.test(own) : UNIT.test(`${comment} ${own}`);
      if (!says && isNumeric(checker.getTypeAtLocation(node)))
        untold.push(`${placeOf(root, node)}: ${name}`);
    }
  }
  return untold;
}

/**
 * Functions that throw an error of a kind of its own, directly or through functions that they call, and have no `@throws`.
 * A plain `Error` is for what cannot happen.
 */
export function untoldErrors(
  program: ts.Program,
  entries: readonly string[],
  root: string,
): { readonly untold: string[]; readonly throwing: number } {
  const checker = program.getTypeChecker();
  const known = new Map<ts.Node, string | null>();
  const isTold = (node: ts.Node) =>
    ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'throws');

  /** The function that a call calls, with its body where there is one. */
  const calledBy = (call: ts.CallExpression | ts.NewExpression): FunctionLike | undefined => {
    const called = checker.getResolvedSignature(call)?.declaration as FunctionLike | undefined;
    if (called === undefined || called.getSourceFile().fileName.includes('node_modules')) return;
    const all = checker.getSymbolAtLocation(called.name ?? called)?.declarations ?? [called];
    return (all as FunctionLike[]).find(({ body }) => body !== undefined) ?? called;
  };

  /** What a function throws; null: nothing that is known. */
  const thrownBy = (of: FunctionLike): string | null => {
    const before = known.get(of);
    if (before !== undefined) return before;
    known.set(of, null);
    let thrown: string | null = null;
    const look = (node: ts.Node): void => {
      if (thrown !== null || (node !== of.body && ts.isFunctionLike(node))) return;
      if (ts.isTryStatement(node) && node.catchClause !== undefined) {
        look(node.catchClause.block);
        if (node.finallyBlock !== undefined) look(node.finallyBlock);
        return;
      }
      if (ts.isThrowStatement(node)) {
        const { expression } = node;
        const kind = ts.isNewExpression(expression) ? expression.expression.getText() : 'Error';
        if (kind !== 'Error') thrown = kind;
      } else if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
        const called = calledBy(node);
        if (called?.body !== undefined) thrown = thrownBy(called);
        else if (called !== undefined && isTold(called)) thrown = 'what it calls';
      }
      ts.forEachChild(node, look);
    };
    if (of.body !== undefined) look(of.body);
    known.set(of, thrown);
    return thrown;
  };

  const untold: string[] = [];
  let throwing = 0;
  for (const { name, node } of declarations(program, entries)) {
    if (!isFunction(node)) continue;
    const thrown = thrownBy(node);
    if (thrown === null) continue;
    throwing++;
    const all = node.name && checker.getSymbolAtLocation(node.name)?.declarations;
    if (!(all ?? [node]).some(isTold))
      untold.push(`${placeOf(root, node)}: ${name} throws ${thrown}`);
  }
  return { untold, throwing };
}
