/**
 * YAML of reports. The part of `yaml` that we use is loaded when a report is first read: that takes 40 ms, and most commands read
 * none. Its time grows with the square of the nesting depth. Reports are not nested deeply, so deeper levels are cut off.
 */
import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';
import type { Oddity } from './oddity.ts';

let loaded: typeof Yaml | null = null;

function yaml(): typeof Yaml {
  loaded ??= createRequire(import.meta.url)('yaml') as typeof Yaml;
  return loaded;
}

export type { LineCounter, Node, YAMLMap } from 'yaml';

export const isMap = (node: unknown): node is Yaml.YAMLMap => yaml().isMap(node);
export const isScalar = (node: unknown): node is Yaml.Scalar => yaml().isScalar(node);
export const isSeq = (node: unknown): node is Yaml.YAMLSeq => yaml().isSeq(node);

/** Levels of brackets, and of blocks. GEOPM's reports have 5; ours more where regions lie inside regions. */
const DEEPEST = 256;
/** What begins a level within a line: `- `, `? `, `: `. */
const BLOCKS = /^ *(?:[-?:](?: +|$))*/;

/** The line, from 0, from which on something lies deeper than `DEEPEST`; -1 where nothing does. Reads each byte once. */
function tooDeep(lines: readonly string[]): number {
  let brackets = 0;
  const indents: number[] = [];
  for (let k = 0; k < lines.length; k++) {
    const line = lines[k];
    const start = BLOCKS.exec(line)?.[0] ?? '';
    if (start.length < line.length) {
      const indent = start.search(/[^ ]|$/);
      while (indents.length > 0 && (indents.at(-1) ?? 0) >= indent) indents.pop();
      indents.push(indent);
      let levels = indents.length;
      for (const character of start) if (character !== ' ') levels++;
      if (levels > DEEPEST) return k;
    } else if (start.trim().length > DEEPEST) return k;
    let quoted = false;
    for (let at = start.length; at < line.length; at++) {
      const character = line.charCodeAt(at);
      if (quoted && character === BACKSLASH) at++;
      else if (character === QUOTE) quoted = !quoted;
      else if (!quoted && (character === OPEN_LIST || character === OPEN_MAP)) {
        if (++brackets > DEEPEST) return k;
      } else if (!quoted && (character === CLOSE_LIST || character === CLOSE_MAP)) {
        brackets = Math.max(0, brackets - 1);
      }
    }
  }
  return -1;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_MAP, CLOSE_MAP] = [0x5b, 0x5d, 0x7b, 0x7d];

interface DocumentsRead {
  /** The documents that are maps. */
  readonly roots: readonly Yaml.YAMLMap[];
  readonly lines: Yaml.LineCounter;
  readonly oddities: Oddity[];
  /** What was read. */
  readonly text: string;
}

/**
 * YAML joins a text without quotes with the deeper lines after it, which reports do not have: that is damage, and the
 * value before it is kept.
 */
function endWithLine(
  scalar: Yaml.Scalar,
  text: string,
  lines: Yaml.LineCounter,
  oddities: Oddity[],
): void {
  const { type, range } = scalar;
  if (type !== 'PLAIN' || range == null) return;
  const end = text.indexOf('\n', range[0]);
  if (end < 0 || end >= range[1]) return;
  scalar.value = text.slice(range[0], end);
  const what = `goes on with the value of the line before: only “${scalar.value}” is kept`;
  oddities.push({ line: lines.linePos(end + 1).line, what });
}

/** Up to its value a line with one that is whole: `  - `, `  key: `; then a name in quotes, or text without. */
const VALUED = /^( *(?:- +)*)(?:("[^"]*"|[^ "'[{#&*!|>%@].*?):(?= ))?/;
const WHOLE = /^ *(?:"(?:[^"\\]|\\.)*"|[^ "'[{#&*!|>%@].*)$/;

/**
 * Nothing lies below a line that has a value; YAML would take what is deeper for more of it, or, where that is a key, make
 * the value one, and so change what was complete. That is damage, and is left out.
 */
function leaveOutBelowValues(lines: string[], oddities: Oddity[]): void {
  let column = -1;
  let first = 0;
  for (let k = 0; k < lines.length; k++) {
    const line = lines[k];
    const indent = line.search(/[^ ]/);
    if (indent < 0 || line[indent] === '#') continue;
    if (column >= 0 && indent > column) {
      if (first === 0) {
        first = k + 1;
        oddities.push({ line: first, what: 'lies below a line that has a value: left out' });
      }
      lines[k] = '';
      continue;
    }
    first = 0;
    const [head = '', dashes = '', key] = VALUED.exec(line) ?? [];
    const isValue =
      (key !== undefined || dashes.includes('-')) && WHOLE.test(line.slice(head.length));
    column = !isValue ? -1 : key === undefined ? dashes.lastIndexOf('-') : dashes.length;
  }
}

/** Reads documents; every scalar stays text. Text that is not YAML is reported. */
export function readDocuments(text: string): DocumentsRead {
  const oddities: Oddity[] = [];
  // Blanks at the end of lines say nothing, and cost the library the square of their number.
  const all = text.split('\n').map((line) => line.trimEnd());
  leaveOutBelowValues(all, oddities);
  const deep = tooDeep(all);
  const readable = (deep < 0 ? all : [...all.slice(0, deep), '']).join('\n');
  if (deep >= 0) {
    const what = `more than ${DEEPEST} levels deep: left out from here to the end`;
    oddities.push({ line: deep + 1, what });
  }
  const lines = new (yaml().LineCounter)();
  const documents = yaml().parseAllDocuments(readable, {
    schema: 'failsafe',
    lineCounter: lines,
    // Readers of a map look for them, which takes less time.
    uniqueKeys: false,
    prettyErrors: false,
  });
  const roots: Yaml.YAMLMap[] = [];
  for (const { errors, contents } of documents) {
    for (const { pos, message } of errors) {
      oddities.push({ line: lines.linePos(pos[0]).line, what: message.split('\n')[0] });
    }
    if (!isMap(contents)) continue;
    yaml().visit(contents, {
      Scalar: (_, scalar) => endWithLine(scalar, readable, lines, oddities),
    });
    roots.push(contents);
  }
  return { roots, lines, oddities, text: readable };
}

/** JSON of a node. References to other nodes, which could make it grow without end, are null. */
export function jsonOf(node: unknown): string {
  if (isMap(node)) {
    const members = node.items.map(
      ({ key, value }) =>
        `${JSON.stringify(isScalar(key) ? String(key.value) : '')}:${jsonOf(value)}`,
    );
    return `{${members.join(',')}}`;
  }
  if (isSeq(node)) return `[${node.items.map(jsonOf).join(',')}]`;
  if (!isScalar(node) || node.value === null) return 'null';
  return JSON.stringify(String(node.value));
}
