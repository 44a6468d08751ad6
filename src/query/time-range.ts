/**
 * Conditions on `t`, for readers that can skip rows outside of them. DuckDB does not tell table functions of conditions, but
 * its plan does: the optimizer moves them down to right above the scan, through views and names.
 *
 * ```
 * FILTER  ((pe_id = 0) AND (t BETWEEN 1.0 AND 2.0))
 *    |
 * _SCAN_0_1
 * ```
 * The filter stays in place, so a range that is too wide, or not understood, only costs time.
 */

/** Seconds since the recording's start, both included; infinite without a bound. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export const ALWAYS: TimeRange = { from: -Infinity, to: Infinity };

/** A scan in a plan. */
interface PlannedScan {
  /** How often it is in the plan. */
  readonly times: number;
  /** Outside of this range none of the scans needs rows. */
  readonly range: TimeRange;
}

interface PlanNode {
  readonly name: string;
  readonly children?: readonly PlanNode[];
  readonly extra_info?: Readonly<Record<string, unknown>>;
}

/** By name in lower case: the scans of a plan. @param plan of EXPLAIN (FORMAT json) */
export function scansOf(plan: string): Map<string, PlannedScan> {
  const found = new Map<string, PlannedScan>();
  const visit = (node: PlanNode, above: TimeRange): void => {
    const name = node.extra_info?.Function;
    if (typeof name === 'string') {
      const key = name.toLowerCase();
      const known = found.get(key);
      const range = known === undefined ? above : hull(known.range, above);
      found.set(key, { times: (known?.times ?? 0) + 1, range });
    }
    const condition = node.name === 'FILTER' ? node.extra_info?.Expression : undefined;
    const range = typeof condition === 'string' ? rangeOf(condition) : ALWAYS;
    for (const child of node.children ?? []) visit(child, range);
  };
  for (const node of JSON.parse(plan) as PlanNode[]) visit(node, ALWAYS);
  return found;
}

const hull = (a: TimeRange, b: TimeRange): TimeRange => ({
  from: Math.min(a.from, b.from),
  to: Math.max(a.to, b.to),
});

const NUMBER = String.raw`(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)`;
const COMPARED = new RegExp(`^t (=|<|>|<=|>=) ${NUMBER}$`, 'i');
const BETWEEN = new RegExp(`^t BETWEEN ${NUMBER} AND ${NUMBER}$`, 'i');

/** The times for which a condition, in DuckDB's own words, may hold. */
export function rangeOf(condition: string): TimeRange {
  const text = bare(condition);
  const between = BETWEEN.exec(text);
  if (between !== null) return { from: Number(between[1]), to: Number(between[2]) };
  const [, sign, number] = COMPARED.exec(text) ?? [];
  if (sign !== undefined) {
    const value = Number(number);
    return {
      from: sign.includes('<') ? -Infinity : value,
      to: sign.includes('>') ? Infinity : value,
    };
  }
  const parts = conjuncts(text);
  if (parts === null) return ALWAYS;
  let { from, to } = ALWAYS;
  for (const part of parts) {
    const one = rangeOf(part);
    from = Math.max(from, one.from);
    to = Math.min(to, one.to);
  }
  return { from, to };
}

/** Places of a text that are outside of its parentheses and quotes. */
function* outside(text: string): Generator<number, void, undefined> {
  let depth = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (quote !== '') {
      if (sign === quote) quote = '';
    } else if (sign === "'" || sign === '"') quote = sign;
    else if (sign === '(') depth++;
    else if (sign === ')') depth--;
    else if (depth === 0) yield at;
  }
}

/** Without parentheses around the whole. */
const bare = (text: string): string =>
  text.startsWith('(') && text.endsWith(')') && outside(text).next().done === true
    ? bare(text.slice(1, -1))
    : text;

const AND = ' AND ';

/** The parts of a conjunction, each in parentheses; null where there is anything else. */
function conjuncts(text: string): string[] | null {
  const parts: string[] = [];
  let from = 0;
  let others = 0;
  for (const at of outside(text)) {
    if (at < from) continue;
    if (text.startsWith(AND, at)) {
      parts.push(text.slice(from, at));
      from = at + AND.length;
    } else others++;
  }
  if (parts.length === 0 || others > 0) return null;
  return [...parts, text.slice(from)];
}
