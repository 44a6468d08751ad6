/** How things are named: a name for one type only, errors by their class, units in the names of constants. */
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { isExported, PAGE, SOURCE, type SourceFile } from './support/sources.ts';

const ALL = [...SOURCE, ...PAGE];

/** Types and classes that a file exports. */
const typesOf = ({ path, text }: SourceFile): string[] =>
  ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true).statements.flatMap((one) => {
    const isType =
      ts.isInterfaceDeclaration(one) ||
      ts.isTypeAliasDeclaration(one) ||
      ts.isClassDeclaration(one);
    return isType && isExported(one) && one.name ? [one.name.text] : [];
  });

/** How a comment names a constant's unit, and how the constant's name then ends. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/^(?:milliseconds|ms)\b/i, '_MS'],
  [/^seconds\b/i, '_SECONDS'],
  [/^(?:nanoseconds|ns)\b/i, '_NS'],
  [/^bytes\b/i, '_BYTES'],
];

/** Constants that are a number with a unit by their comment, and by their name have none. */
function withoutUnit({ path, text }: SourceFile): string[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return file.statements.flatMap((one) => {
    if (!ts.isVariableStatement(one)) return [];
    const [{ name, initializer }] = one.declarationList.declarations;
    const names = name.getText().match(/\b[A-Z][A-Z\d_]*\b/g);
    if (names === null || !/^\[?[\d(]/.test(initializer?.getText() ?? '')) return [];
    const comments = ts.getLeadingCommentRanges(text, one.getFullStart()) ?? [];
    const said = comments.map(({ pos, end }) => text.slice(pos, end)).at(-1) ?? '';
    const words = said.replace(/^\/\*\*?[\s*]*(?:(?:most|least|maximum|about|approximate) )*/i, '');
    const unit = UNITS.find(([pattern]) => pattern.test(words))?.[1];
    const wrong = unit === undefined ? [] : names.filter((own) => !own.endsWith(unit));
    return wrong.map((own) => `${path}: ${own}`);
  });
}

/** Classes of errors that call themselves something else. */
const misnamed = ({ path, text }: SourceFile): string[] =>
  [...text.matchAll(/class (\w+)[^{]*\{\s*override readonly name = '(\w+)'/g)].flatMap(
    ([, own, said]) => (own === said ? [] : [`${path}: ${own} calls itself ${said}`]),
  );

describe('names', () => {
  it('of types stand for one type each', () => {
    const files = new Map<string, string[]>();
    for (const file of ALL) {
      for (const name of typesOf(file)) files.set(name, [...(files.get(name) ?? []), file.path]);
    }
    expect(files.size).toBeGreaterThan(500);
    expect([...files].filter(([, paths]) => paths.length > 1)).toEqual([]);
  });

  it('of constants say their unit', () => {
    const text =
      '/** Most milliseconds to wait. */\nconst WAIT = 20;\n/** Seconds. */\nconst [A, B_SECONDS] = [1, 2];';
    expect(withoutUnit({ path: 'src/b.ts', text })).toEqual(['src/b.ts: WAIT', 'src/b.ts: A']);
    expect(ALL.flatMap(withoutUnit)).toEqual([]);
  });

  it('of powers of two are not MB or GB', () => {
    const said = ALL.flatMap(({ path, text }) =>
      [...text.matchAll(/\b[KMGT]B = (?:2 \*\*|1024)/g)].map(([what]) => `${path}: ${what}`),
    );
    expect(said).toEqual([]);
  });

  it('of errors are those of their classes', () => {
    const wrong = "class AError extends Error {\n  override readonly name = 'BError';";
    expect(misnamed({ path: 'src/b.ts', text: wrong })).toEqual([
      'src/b.ts: AError calls itself BError',
    ]);
    expect(ALL.flatMap(misnamed)).toEqual([]);
  });
});
