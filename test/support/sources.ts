/** The text of the project's source files, for tests of the rules that it follows. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface SourceFile {
  /** From the root, such as 'src/sim/pe.ts'. */
  readonly path: string;
  readonly text: string;
}

export function filesOf(folder: string): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(m?ts|m?js)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({
      path: relative(ROOT, path).replaceAll('\\', '/'),
      text: readFileSync(path, 'utf8'),
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Files of `src`. */
export const SOURCE = filesOf('src');

/** The page's, too; of its components the scripts. */
export const PAGE = readdirSync(join(ROOT, 'web/src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(ts|svelte)$/.test(name))
  .map((name) => ({ path: join('web/src', name), text: scriptOf(name) }));

function scriptOf(name: string): string {
  const text = readFileSync(join(ROOT, 'web/src', name), 'utf8');
  if (!name.endsWith('.svelte')) return text;
  return [...text.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(([, it]) => it).join('\n');
}

/** Whether a statement begins with `export`. */
export const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) &&
  (node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false);
