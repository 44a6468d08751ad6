/** Lists of hosts in the notation of schedulers: `c[401-404,410]-10[1-3],login1`. */
import { JobError } from './errors.ts';

/** The most hosts of one list: a mistyped range must not fill the memory. */
const MOST = 100_000;

/** Splits at commas outside of brackets. */
function parts(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let from = 0;
  for (let k = 0; k <= text.length; k++) {
    const c = text[k];
    if (c === '[') depth++;
    else if (c === ']') depth--;
    if (depth < 0 || depth > 1) {
      throw new JobError(`host list '${text}': unpaired bracket at character ${k + 1}`);
    }
    if (k === text.length || (depth === 0 && (c === ',' || /\s/.test(c)))) {
      if (k > from) found.push(text.slice(from, k));
      from = k + 1;
    }
  }
  if (depth !== 0) throw new JobError(`host list '${text}': a bracket is not closed`);
  return found;
}

/** Expands `401-404,410` to texts; numbers are padded to the width of the range's first number. */
function numbersOf(ranges: string, list: string): string[] {
  const found: string[] = [];
  for (const range of ranges.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(range.trim());
    if (match === null) {
      throw new JobError(`host list '${list}': '${range}' is neither a number nor a range`);
    }
    const [, first, last = first] = match;
    const [low, high] = [Number(first), Number(last)];
    if (high < low) throw new JobError(`host list '${list}': range ${range} runs backward`);
    if (high - low >= MOST) throw new JobError(`host list '${list}': more than ${MOST} hosts`);
    for (let n = low; n <= high; n++) found.push(String(n).padStart(first.length, '0'));
  }
  return found;
}

function expand(part: string, list: string): string[] {
  const match = /^([^[]*)\[([^\]]*)\](.*)$/.exec(part);
  if (match === null) return [part];
  const [, before, ranges, after] = match;
  const ends = expand(after, list);
  const numbers = numbersOf(ranges, list);
  if (numbers.length * ends.length > MOST) {
    throw new JobError(`host list '${list}': more than ${MOST} hosts`);
  }
  return numbers.flatMap((number) => ends.map((end) => before + number + end));
}

/** The hosts of a list, in its order, without repetition. Empty for `None assigned` and the like. @throws JobError */
export function expandHosts(list: string): string[] {
  if (/^\s*(none( assigned)?|unknown|\(null\))?\s*$/i.test(list)) return [];
  const hosts = new Set(parts(list).flatMap((part) => expand(part, list)));
  if (hosts.size > MOST) throw new JobError(`host list '${list}': more than ${MOST} hosts`);
  return [...hosts];
}

/** The name up to its first dot: archives use full names, schedulers often short ones. */
export const shortName = (host: string): string => {
  const dot = host.indexOf('.');
  // An IP address has no domain.
  return dot < 0 || /^[\d.]+$/.test(host) ? host : host.slice(0, dot);
};
