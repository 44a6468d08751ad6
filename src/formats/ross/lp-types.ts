/**
 * Which type each LP has, on one line: `router*4,terminal*16` means four routers, then sixteen terminals, and so on from
 * the beginning until all LPs have one. The line is short for models whose LPs are alike or in groups.
 */

/** The types of LPs, by LP. */
export interface LpTypes {
  readonly names: readonly string[];
  /** Number of an LP's type in `names`; -1 if unknown. */
  readonly typeOf: (lp: number) => number;
}

/** Most LPs of one period: larger claims of a file are not believed. */
const MOST = 1 << 24;

/** A name as one word of the line, whatever characters it has. */
export const wordOf = (name: string): string =>
  encodeURIComponent(name).replace(
    /[*!'()~]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** The name of a word; the word itself if it is not an encoded name. */
export function nameOfWord(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

/** The smallest period of a sequence: the sequence repeats its first so many entries. */
function periodOf(sequence: ArrayLike<number>): number {
  const { length } = sequence;
  // For each beginning, the longest beginning that is also its end.
  const border = new Int32Array(length);
  for (let k = 1, of = 0; k < length; k++) {
    while (of > 0 && sequence[k] !== sequence[of]) of = border[of - 1];
    if (sequence[k] === sequence[of]) of++;
    border[k] = of;
  }
  return length === 0 ? 0 : length - border[length - 1];
}

/**
 * The line for LPs whose types are numbers of `names`.
 * @example
 * ```ts
 * import { lpTypesText } from 'triscope/formats';
 *
 * lpTypesText([0, 1, 1, 0, 1, 1], ['router', 'terminal']); // 'router,terminal*2'
 * ```
 */
export function lpTypesText(types: ArrayLike<number>, names: readonly string[]): string {
  const period = periodOf(types);
  const runs: string[] = [];
  for (let from = 0; from < period; ) {
    let to = from + 1;
    while (to < period && types[to] === types[from]) to++;
    runs.push(`${wordOf(names[types[from]])}${to - from > 1 ? `*${to - from}` : ''}`);
    from = to;
  }
  return runs.join(',');
}

/** Types from such a line; null for any other text. */
export function parseLpTypes(text: string): LpTypes | null {
  const names: string[] = [];
  const runs: { readonly type: number; readonly count: number }[] = [];
  let period = 0;
  for (const part of text.split(',')) {
    const match = /^\s*([^\s*,]+)(?:\*(\d{1,8}))?\s*$/.exec(part);
    if (match === null) return null;
    const name = nameOfWord(match[1]);
    const count = Number(match[2] ?? 1);
    period += count;
    if (count < 1 || period > MOST) return null;
    if (!names.includes(name)) names.push(name);
    runs.push({ type: names.indexOf(name), count });
  }
  const types = new Int32Array(period);
  let at = 0;
  for (const { type, count } of runs) {
    types.fill(type, at, at + count);
    at += count;
  }
  return { names, typeOf: (lp) => types[lp % period] };
}

/** PE, KP, LP and type. */
const MAPPING_LINE = /^\s*\d+\s*,\s*\d+\s*,\s*(\d+)\s*,\s*(.*?)\s*$/;

/** Types from the text of an `lp-mapping.txt`, lines of PE, KP, LP and type; null if it names none. */
export function lpTypesOfMapping(text: string): LpTypes | null {
  const numbers = new Map<string, number>();
  const types = new Map<number, number>();
  for (const line of text.split('\n')) {
    const match = MAPPING_LINE.exec(line);
    if (match === null || match[2] === '') continue;
    const name = nameOfWord(match[2]);
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    types.set(Number(match[1]), number);
  }
  if (types.size === 0) return null;
  return { names: [...numbers.keys()], typeOf: (lp) => types.get(lp) ?? -1 };
}
