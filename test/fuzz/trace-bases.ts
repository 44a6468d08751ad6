/** Traces in JSON as tracers write them; their rows come by time, so that those of before the damage are looked for by what they say. */
import type { Base } from './base.ts';
import type { Damaged } from './mutate.ts';
import type { Random } from './random.ts';
import { readRecords, sourceOf } from './reading.ts';
import { judge, RuleError, type Verdict } from './rule.ts';

const at = (ph: string, k: number, more: object = {}) => ({
  ...{ ph, ts: 1000 * k + 0.125, pid: 7, tid: k % 3, cat: 'sim,"a"' },
  ...more,
});

const EVENTS = [
  { ph: 'M', pid: 7, name: 'process_name', args: { name: 'solver' } },
  { ph: 'M', pid: 7, tid: 1, name: 'thread_name', args: { name: 'main é' } },
  ...Array.from({ length: 8 }, (_, k) => [
    at('X', 9 - k, { dur: 12.5, name: `draw {${k}}`, args: { of: [{ ph: 'X', ts: 5 }, k] } }),
    at('B', 3 * k, { name: `outer ${k}`, tid: 1 }),
    at('B', 3 * k + 1, { name: 'in\\ner', tid: 1 }),
    at('E', 3 * k + 2, { tid: 1 }),
    at('E', 3 * k + 3, { tid: 1 }),
    at('i', k, { name: `mark ${k}`, s: 't' }),
    at('C', k, { name: 'memory', args: { used: k, free: 2.5 * k } }),
  ]).flat(),
];
const ABOUT = { displayTimeUnit: 'ns', otherData: { host: 'c1', traces: '[{' } };

const TEXTS: Readonly<Record<string, string>> = {
  'list.json': `[\n${EVENTS.map((event) => JSON.stringify(event)).join(',\n')}\n]\n`,
  'object.json': JSON.stringify({ ...ABOUT, traceEvents: EVENTS, metadata: { a: [1] } }),
  'pretty.json': JSON.stringify({ traceEvents: EVENTS.slice(0, 24), ...ABOUT }, null, 1),
  // Of a tracer that was killed.
  'killed.json': `[${EVENTS.map((event) => JSON.stringify(event)).join(',\n')},\n`,
};

/** Rows without the names of processes and threads, which another event may give: only their numbers are the row's own. */
function rowsOf(name: string, bytes: Uint8Array): string[] {
  const { records } = readRecords(sourceOf(name, bytes, {}), true);
  return records.map((row) => row.replace(/\t(process|thread)=(?:[^\t]* )?([^\t ]*)/g, '\t$1=$2'));
}

const counted = (rows: readonly string[]) => {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row, (counts.get(row) ?? 0) + 1);
  return counts;
};

/** What of `wanted` is not in `rows`, as often as it is wanted. */
function missing(wanted: readonly string[], rows: readonly string[]): string[] {
  const there = counted(rows);
  return wanted.filter((row) => {
    const left = there.get(row) ?? 0;
    there.set(row, left - 1);
    return left === 0;
  });
}

/** A row is complete at the end of an event from which on it is read, however much follows. */
function baseOf(name: string, text: string): Base {
  const bytes = new TextEncoder().encode(text);
  const records = rowsOf(name, bytes);
  const ends = records.map(() => bytes.length + 1);
  const places = [...text.matchAll(/\}(?=,|\s*\])/g)].map(
    ({ index }) => Buffer.byteLength(text.slice(0, index)) + 1,
  );
  let left = records.map((_, k) => k);
  for (const place of [...places].reverse()) {
    const lost = new Set(
      missing(
        left.map((k) => records[k]),
        rowsOf(name, bytes.subarray(0, place)),
      ),
    );
    left = left.filter((k) => !lost.has(records[k]));
    for (const k of left) ends[k] = place;
  }
  return { name, bytes, text: true, beside: {}, records, ends, open: false, places };
}

export const traceBases = (): Base[] =>
  Object.entries(TEXTS).map(([name, text]) => baseOf(name, text));

/** The usual rules; and the prefix rule for rows in any order. */
export function judgeTrace(base: Base, damage: Damaged, random: Random): Verdict {
  const verdict = judge({ ...base, records: [], ends: [] }, damage, random);
  if (verdict === 'refused') return verdict;
  const rows = rowsOf(base.name, damage.bytes);
  const complete = base.records.filter((_, k) => base.ends[k] <= damage.first);
  const [row] = missing(complete, rows);
  if (row !== undefined) {
    throw new RuleError(`what was complete before byte ${damage.first} is missing: «${row}»`);
  }
  if (verdict === 'told') return verdict;
  const isSame = rows.length === base.records.length && missing(base.records, rows).length === 0;
  return isSame ? 'same' : 'other';
}
