/**
 * Damage as disks, networks, editors and enemies do it. Each mutator takes bytes and gives others; it leaves what it was
 * given alone.
 */
import type { Random } from './random.ts';

/** What damage may know of the file it is done to. */
export interface Target {
  readonly bytes: Uint8Array;
  /** Where records end, ascending: places that damage likes. */
  readonly ends: readonly number[];
  /** Whether it is text. */
  readonly text: boolean;
  /** Another file of the same format, for parts in the wrong place. */
  readonly other: Uint8Array;
  /** Makes checksums right again. */
  readonly mend?: (bytes: Uint8Array) => void;
}

export type Mutator = (target: Target, random: Random) => Uint8Array;

const NEWLINE = 0x0a;
const MOST_STRETCH = 400;
const utf8 = new TextEncoder();

const concat = (...parts: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
};

/** `with_` in the place of `bytes[from, to)`. */
const put = (bytes: Uint8Array, from: number, to: number, with_: Uint8Array): Uint8Array =>
  concat(bytes.subarray(0, from), with_, bytes.subarray(to));

/** A place: half of the time where a record ends. */
function place({ bytes, ends }: Target, random: Random): number {
  return ends.length > 0 && random.below(2) === 0 ? random.of(ends) : random.below(bytes.length);
}

/** A stretch: a few bytes from anywhere, or whole records. */
function stretch(target: Target, random: Random): readonly [number, number] {
  const { bytes, ends } = target;
  if (ends.length > 1 && random.below(2) === 0) {
    const first = random.below(ends.length - 1);
    const last = Math.min(ends.length - 1, first + random.between(1, 4));
    return [ends[first], ends[last]];
  }
  const from = place(target, random);
  return [from, Math.min(bytes.length, from + random.between(1, MOST_STRETCH))];
}

const truncate: Mutator = (target, random) => target.bytes.subarray(0, place(target, random));

const flip: Mutator = ({ bytes }, random) => {
  const bad = bytes.slice();
  for (let n = random.between(1, 3); n > 0; n--)
    bad[random.below(bad.length)] ^= 1 << random.below(8);
  return bad;
};

const noise: Mutator = (target, random) => {
  const at = place(target, random);
  const to = Math.min(target.bytes.length, at + random.between(1, 16));
  const fill = random.below(3);
  const bytes = random.bytes(to - at);
  return put(target.bytes, at, to, fill === 0 ? bytes : bytes.fill(fill === 1 ? 0 : 0xff));
};

const remove: Mutator = (target, random) => {
  const [from, to] = stretch(target, random);
  return put(target.bytes, from, to, new Uint8Array(0));
};

/** A stretch a second time: behind itself, or somewhere else, where its times go back. */
const repeat: Mutator = (target, random) => {
  const [from, to] = stretch(target, random);
  const at = random.below(2) === 0 ? to : place(target, random);
  return put(target.bytes, at, at, target.bytes.subarray(from, to));
};

/** Part of the same file, or of another, in the place of what is there. */
const splice: Mutator = (target, random) => {
  const of = random.below(2) === 0 ? target.bytes : target.other;
  const from = random.below(of.length);
  const part = of.subarray(from, from + random.between(1, MOST_STRETCH));
  const at = place(target, random);
  const over = random.below(2) === 0 ? part.length : random.below(MOST_STRETCH);
  return put(target.bytes, at, Math.min(target.bytes.length, at + over), part);
};

/** Two stretches change places: what came later comes first. */
const swap: Mutator = (target, random) => {
  const [a, b] = stretch(target, random);
  const [c, d] = stretch(target, random);
  if (b > c) return repeat(target, random);
  const { bytes } = target;
  return concat(
    bytes.subarray(0, a),
    bytes.subarray(c, d),
    bytes.subarray(b, c),
    bytes.subarray(a, b),
    bytes.subarray(d),
  );
};

const HUGE = [0xffffffff, 0x7fffffff, 0x80000000, 0xfffffff0, 0x10000000, 0x01000000, 0xffff, 0];

/** Counts and lengths beyond belief, where a word may lie. */
const hugeWord: Mutator = (target, random) => {
  const bad = target.bytes.slice();
  if (bad.length < 8) return bad.subarray(0, 0);
  const align = random.of([1, 2, 4, 8]);
  const start = random.below(3) === 0 ? random.below(64) : place(target, random);
  const at = Math.min(bad.length - 8, start - (start % align));
  const view = new DataView(bad.buffer, bad.byteOffset);
  const little = random.below(4) > 0;
  view.setUint32(at, random.of(HUGE), little);
  if (random.below(2) === 0) view.setUint32(at + 4, random.of(HUGE), little);
  return bad;
};

const WORDS = [
  'nan',
  'NaN',
  '-nan',
  'inf',
  '-Infinity',
  '-1',
  '1e999',
  '-1e999',
  '1e-999',
  '18446744073709551615',
  '18446744073709551616',
  '99999999999999999999999999',
  '9007199254740993',
  '0x10',
  '0x',
  '1.5',
  '1e3',
  '1,5',
  '١٢',
  '007',
  '+3',
  '',
  ' ',
  '-',
  'abc',
  'null',
  'true',
  '__proto__',
  'constructor',
  'toString',
  '"',
  "'",
  '\\',
  '{',
  '[',
  '}',
  ']',
  ':',
  '#',
  '|',
  ',',
  '%',
  '!',
  '$',
  '- ',
  '&a',
  '*a',
  '<<',
  '\t',
  '\r',
  '\r\n',
  '\n',
  '\n\n',
  '\u0000',
  '\u001b[2J',
  '\u202e',
  '\ufeff',
  '\ufffd',
  '😀',
  'é',
  '=1+1',
  '../../etc/passwd',
  "'; DROP TABLE x; --",
  '<script>alert(1)</script>',
];

const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
const isWord = (byte: number) => byte > 0x20 && !'|,;:"[]{}'.includes(String.fromCharCode(byte));

/** Where the word at or behind a place begins and ends; numbers alone where asked. */
function wordAt(bytes: Uint8Array, near: number, is: (byte: number) => boolean) {
  let from = near;
  while (from < bytes.length && !is(bytes[from])) from++;
  while (from > 0 && is(bytes[from - 1])) from--;
  let to = from;
  while (to < bytes.length && is(bytes[to])) to++;
  return [from, to] as const;
}

/** Something else in the place of a number or of a word. */
const word: Mutator = (target, random) => {
  const { bytes } = target;
  const is = random.below(3) > 0 ? isDigit : isWord;
  const [from, to] = wordAt(bytes, place(target, random), is);
  return put(bytes, from, to, utf8.encode(random.of(WORDS)));
};

/** A number that is smaller than it was: times go back, counters fall. */
const back: Mutator = (target, random) => {
  const { bytes } = target;
  const [from, to] = wordAt(bytes, place(target, random), isDigit);
  const less = bytes.slice();
  for (let k = from; k < to; k++) if (less[k] > 0x30) less[k]--;
  return less;
};

/** A line, or any stretch, that is very long. */
const long: Mutator = (target, random) => {
  if (random.below(20) > 0) return noise(target, random);
  const at = place(target, random);
  const length = random.of([1 << 12, 1 << 16]);
  const byte = random.of([0x20, 0x30, 0x39, 0x41, 0x7c, 0x5b, 0x0a, 0]);
  return put(target.bytes, at, at, new Uint8Array(length).fill(byte));
};

/** Lines in another order, twice, or without their end. */
const lines: Mutator = (target, random) => {
  const { bytes } = target;
  const begin = bytes.lastIndexOf(NEWLINE, random.below(bytes.length)) + 1;
  const end = bytes.indexOf(NEWLINE, begin) + 1 || bytes.length;
  const line = bytes.subarray(begin, end);
  switch (random.below(4)) {
    case 0:
      return put(bytes, begin, begin, line);
    case 1:
      return put(bytes, begin, end, new Uint8Array(0));
    case 2:
      return put(bytes, Math.max(begin, end - 1), end, new Uint8Array(0));
    default: {
      const at = bytes.indexOf(NEWLINE, random.below(bytes.length)) + 1;
      return put(bytes, at, at, line);
    }
  }
};

const BINARY: readonly (readonly [string, Mutator])[] = [
  ['truncate', truncate],
  ['flip', flip],
  ['flip', flip],
  ['noise', noise],
  ['remove', remove],
  ['repeat', repeat],
  ['splice', splice],
  ['swap', swap],
  ['huge', hugeWord],
  ['huge', hugeWord],
  ['long', long],
];
const TEXT: readonly (readonly [string, Mutator])[] = [
  ...BINARY.filter(([name]) => name !== 'huge'),
  ['word', word],
  ['word', word],
  ['word', word],
  ['back', back],
  ['lines', lines],
];

export interface Damaged {
  readonly bytes: Uint8Array;
  /** What was done, in order. */
  readonly how: string;
  /** The first byte that is another: what lies before it is as it was. */
  readonly first: number;
}

/** One to three kinds of damage, one after the other. */
export function damaged(target: Target, random: Random): Damaged {
  const kinds = target.text ? TEXT : BINARY;
  let { bytes } = target;
  const how: string[] = [];
  for (let n = random.of([1, 1, 1, 2, 3]); n > 0; n--) {
    const [name, mutate] = random.of(kinds);
    how.push(name);
    bytes = mutate({ ...target, bytes }, random);
    if (bytes.length === 0) break;
  }
  if (target.mend !== undefined && random.below(2) === 0) {
    bytes = new Uint8Array(bytes);
    target.mend(bytes);
    how.push('mended');
  }
  const shorter = Math.min(bytes.length, target.bytes.length);
  let first = 0;
  while (first < shorter && bytes[first] === target.bytes[first]) first++;
  return { bytes, how: how.join(' + '), first };
}
