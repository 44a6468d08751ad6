/** Where two runs of one model differ first: a committed event, or an LP's state at the end. */
import { layoutOf } from '../model/struct.ts';
import { memoryOf, plain, structClass } from '../model/struct-class.ts';
import type { CommitLog } from './commit-log.ts';
import { LP_STATE, SENDS } from './layout.ts';
import type { Model } from './model.ts';

/** A run by its name in messages, and the logs of its PEs. */
export interface LoggedRun {
  readonly name: string;
  readonly logs: readonly CommitLog[];
}

/** Place of an event: PE and index in its log. */
interface Place {
  readonly pe: number;
  readonly at: number;
}

const KEYS = ['times', 'sources', 'destinations', 'priorities'] as const;

function compare(a: CommitLog, i: number, b: CommitLog, k: number): number {
  for (const key of KEYS) {
    const difference = a[key][i] - b[key][k];
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Places of all events, by receive time, source, destination and priority. */
function sorted(logs: readonly CommitLog[]): Place[] {
  const places = logs.flatMap((log, pe) => Array.from(log.times, (_, at) => ({ pe, at })));
  return places.sort((a, b) => compare(logs[a.pe], a.at, logs[b.pe], b.at));
}

function describe(run: LoggedRun, { pe, at }: Place): string {
  const log = run.logs[pe];
  const priority = log.priorities[at] === 1 ? '' : `, priority ${log.priorities[at]}`;
  return `virtual time ${log.times[at]}: ${run.name} commits an event from LP ${log.sources[at]} to LP ${log.destinations[at]}${priority}`;
}

function eventDifference(a: LoggedRun, b: LoggedRun): string | null {
  const inA = sorted(a.logs);
  const inB = sorted(b.logs);
  for (let k = 0; k < Math.max(inA.length, inB.length); k++) {
    if (k >= inB.length) return `${describe(a, inA[k])}, ${b.name} does not`;
    if (k >= inA.length) return `${describe(b, inB[k])}, ${a.name} does not`;
    const order = compare(a.logs[inA[k].pe], inA[k].at, b.logs[inB[k].pe], inB[k].at);
    if (order < 0) return `${describe(a, inA[k])}, ${b.name} does not`;
    if (order > 0) return `${describe(b, inB[k])}, ${a.name} does not`;
  }
  return null;
}

/** An LP at the end of a run: its type, and its block of memory. */
function lpsOf(run: LoggedRun): Map<number, { type: number; words: Int32Array }> {
  const all = new Map<number, { type: number; words: Int32Array }>();
  for (const log of run.logs) {
    log.lps.forEach((lp, k) => {
      const words = log.memory.subarray(k * log.blockWords, (k + 1) * log.blockWords);
      all.set(lp, { type: log.types[k], words });
    });
  }
  return all;
}

const text = (value: unknown) =>
  JSON.stringify(value, (_key, v: unknown) => (typeof v === 'bigint' ? v.toString() : v));

/** Names the first part of an LP's block in which two runs differ. */
function partDifference(
  model: Model,
  type: number,
  a: { name: string; words: Int32Array },
  b: { name: string; words: Int32Array },
): string {
  const [name, { state }] = [...model.types][type];
  const layout = layoutOf(name, state);
  const read = (words: Int32Array) => {
    const memory = memoryOf(new ArrayBuffer(words.length * 4));
    memory.i32.set(words);
    const struct = new (structClass(layout, 'plain'))(memory, null);
    struct.$b = LP_STATE;
    return plain(layout, struct);
  };
  const inA = read(a.words);
  const inB = read(b.words);
  for (const field of Object.keys(inA)) {
    const [left, right] = [text(inA[field]), text(inB[field])];
    if (left !== right) {
      return `(${name}): state.${field} is ${left} in ${a.name} and ${right} in ${b.name}`;
    }
  }
  const word = a.words.findIndex((w, k) => w !== b.words[k]);
  if (word < 2 * SENDS) return `(${name}): its random stream differs`;
  return word < 2 * LP_STATE
    ? `(${name}): its number of sends differs`
    : `(${name}): its state differs in word ${word - 2 * LP_STATE}`;
}

function stateDifference(model: Model, a: LoggedRun, b: LoggedRun): string | null {
  const inB = lpsOf(b);
  for (const [lp, { type, words }] of [...lpsOf(a)].sort(([x], [y]) => x - y)) {
    const other = inB.get(lp);
    if (other === undefined) return `LP ${lp} is missing from ${b.name}`;
    if (words.some((w, k) => w !== other.words[k])) {
      const left = { name: a.name, words };
      const right = { name: b.name, words: other.words };
      return `same events; LP ${lp} ${partDifference(model, type, left, right)}`;
    }
  }
  return null;
}

/** Where `b` first differs from `a`, in words; null where they are the same. */
export function firstDifference(model: Model, a: LoggedRun, b: LoggedRun): string | null {
  return eventDifference(a, b) ?? stateDifference(model, a, b);
}
