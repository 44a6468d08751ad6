/**
 * Variables at the top level of a model's modules. Changes by handlers are not undone, and each thread has its own copy. They are
 * detected by comparing the variables before and after a run.
 */
import { createHash, type Hash } from 'node:crypto';

/** A variable at the top level of a compiled module. */
export interface TopLevel {
  readonly name: string;
  /** Where it is declared in the compiled text, from 1. */
  readonly row: number;
  readonly column: number;
}

const DECLARED = /^(?:var|let|const) (.*)$/;
/** Names that a declaration may declare; others in its text are harmless, see `variablesExport`. */
const NAMES = /(?:^|, )([A-Za-z_$][\w$]*)(?= =|,|;|$)/g;
/** Names that the compiler adds: helpers, and the model itself. */
const ADDED = /^__|^import_|_default\d*$/;
const MODULE = /^\/\/ (\S.*)$/;

/** The variables at the top of compiled text; not those of packages. */
export function topLevelOf(compiled: string): TopLevel[] {
  const found: TopLevel[] = [];
  let isPackage = false;
  for (const [k, line] of compiled.split('\n').entries()) {
    const from = MODULE.exec(line)?.[1];
    if (from !== undefined) isPackage = from.includes('node_modules/');
    const [, text] = DECLARED.exec(line) ?? [];
    if (text === undefined || isPackage) continue;
    for (const match of text.matchAll(NAMES)) {
      const column = line.length - text.length + match.index + match[0].length - match[1].length;
      if (!ADDED.test(match[1])) found.push({ name: match[1], row: k + 1, column: column + 1 });
    }
  }
  return found;
}

/** What the compiled module exports them as. */
export const VARIABLES = '__triscope_variables';

/** Source of an exported function that returns their values. `typeof` accepts names that do not exist. */
export function variablesExport(all: readonly TopLevel[]): string {
  const value = ({ name }: TopLevel) => `typeof ${name} === 'undefined' ? undefined : ${name}`;
  return `export const ${VARIABLES} = () => [${all.map(value).join(', ')}];\n`;
}

/** Maximum number of values compared in one variable; further ones count as unchanged. */
const MOST = 1_000_000;

function add(hash: Hash, value: unknown, seen: Map<object, number>): void {
  if (typeof value !== 'object' || value === null) {
    // Functions do not change; the variables in their closures are not seen.
    hash.update(`${typeof value} ${typeof value === 'function' ? '' : String(value)};`);
    return;
  }
  const known = seen.get(value);
  if (known !== undefined || seen.size >= MOST) {
    hash.update(`again ${known};`);
    return;
  }
  seen.set(value, seen.size);
  if (ArrayBuffer.isView(value)) {
    hash.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
    return;
  }
  hash.update(`${Array.isArray(value) ? value.length : 'object'} {`);
  if (value instanceof Map || value instanceof Set) {
    for (const entry of value) add(hash, entry, seen);
  }
  if (value instanceof Date) hash.update(String(value.getTime()));
  for (const key of Object.keys(value)) {
    hash.update(`${key}:`);
    add(hash, (value as Readonly<Record<string, unknown>>)[key], seen);
  }
  hash.update('}');
}

/** A text that differs if any part of `value` differs, however deep. */
export function contentOf(value: unknown): string {
  const hash = createHash('sha256');
  add(hash, value, new Map());
  return hash.digest('hex');
}
