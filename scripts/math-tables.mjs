/**
 * Computes the tables of the elementary functions in src/sim/math, and writes them as numbers into
 * src/sim/math/table-data.ts. Run it by hand, after a build, if a table is to change:
 *
 *     node scripts/math-tables.mjs
 *
 * The tables are not computed when the library is loaded: that took 50 ms in every process, and had
 * every worker thread compile the series below. A test compares the file with `computeTables`.
 * Uses + - * / and integers only, so the result is the same bits on every engine.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { add, multiply, twoSum, upperHalf } from '../dist/sim/math/double-double.js';

const OUTPUT = new URL('../src/sim/math/table-data.ts', import.meta.url);

// Double-double arithmetic, as in double-double.ts: a pair [hi, lo] stands for hi + lo.

const negate = ([hi, lo]) => [-hi, -lo];

function divide(a, b) {
  const q0 = a[0] / b[0];
  const r0 = add(a, negate(multiply(b, [q0, 0])));
  const q1 = r0[0] / b[0];
  const r1 = add(r0, negate(multiply(b, [q1, 0])));
  const q2 = r1[0] / b[0];
  return add(twoSum(q0, q1), [q2, 0]);
}

/**
 * Natural logarithm of a double between 1/2 and 2: 2 atanh(s) = 2 (s + s^3/3 + s^5/5 + ...) with
 * s = (a - 1) / (a + 1), so |s| <= 1/3.
 */
function logOf(a) {
  const s = divide(twoSum(a, -1), twoSum(a, 1));
  const square = multiply(s, s);
  let term = s;
  let sum = s;
  for (let n = 3; Math.abs(term[0]) > 1e-36; n += 2) {
    term = multiply(term, square);
    sum = add(sum, divide(term, [n, 0]));
  }
  return [2 * sum[0], 2 * sum[1]];
}

/** e^a for |a| <= 1 by its power series. */
function expOf(a) {
  let term = [1, 0];
  let sum = [1, 0];
  for (let n = 1; n < 40; n++) {
    term = divide(multiply(term, a), [n, 0]);
    sum = add(sum, term);
  }
  return sum;
}

/** [sin x, cos x] for |x| < 1 by their power series. */
function sinCosOf(x) {
  let s = [0, 0];
  let c = [1, 0];
  let term = [1, 0];
  for (let n = 1; n < 36; n++) {
    // i^n x^n / n!, with the powers of i going to cos and sin in turn.
    term = divide(multiply(term, [n % 2 === 0 ? -x : x, 0]), [n, 0]);
    if (n % 2 === 0) c = add(c, term);
    else s = add(s, term);
  }
  return [s, c];
}

// Pi, by Machin's formula in big integers.

const PI_BITS = 220;

/** arctan(1/n) * 2^PI_BITS by its power series. */
function arctanOfInverse(n) {
  let power = (1n << BigInt(PI_BITS)) / n;
  let sum = power;
  for (let k = 3n; power !== 0n; k += 2n) {
    power = -power / (n * n);
    sum += power / k;
  }
  return sum;
}

/**
 * value / 2^PI_BITS as a sum of doubles, one per entry of `places`: cut after the bit worth
 * 2^-places, or rounded to a double where there is none.
 */
function split(value, places) {
  const halfScale = 2 ** (PI_BITS / 2);
  let rest = value;
  return places.map((place) => {
    const cut = place === undefined ? 0n : BigInt(PI_BITS - place);
    const part = Number((rest >> cut) << cut);
    rest -= BigInt(part);
    return part / halfScale / halfScale;
  });
}

/** Four doubles per cell; log-table.ts says which. */
function logTable() {
  const cells = 128;
  const offset = 0x3fe61000; // LOG_OFFSET
  const grid = 2 ** 42;
  const table = new Float64Array(cells * 4);
  const bits = new DataView(new ArrayBuffer(8));
  for (let i = 0; i < cells; i++) {
    bits.setInt32(0, offset + (i << 13) + 0x1000);
    const inv = Math.round(256 / bits.getFloat64(0)) / 256;
    const [high, low] = logOf(inv);
    const rounded = Math.round(high * grid) / grid;
    table[i * 4] = inv;
    table[i * 4 + 1] = 0 - rounded; // not -rounded: log 1 has to be +0
    table[i * 4 + 2] = rounded - high - low;
  }
  return table;
}

/** 2^(i/128) in two doubles. */
function expTable(ln2) {
  const steps = 128;
  const table = new Float64Array(steps * 2);
  for (let i = 0; i < steps; i++) table.set(expOf(multiply([i / steps, 0], ln2)), 2 * i);
  return table;
}

/** Four doubles per point i / 64: the upper 26 bits of the sine, the rest, the same for the cosine. */
function trigTable() {
  const points = 53;
  const table = new Float64Array(points * 4);
  for (let i = 0; i < points; i++) {
    const cut = ([hi, lo]) => [upperHalf(hi), hi - upperHalf(hi) + lo];
    table.set(sinCosOf(i / 64).flatMap(cut), 4 * i);
  }
  return table;
}

/** log(2 pi) / 2, as log(pi / 2) / 2 + log 2. */
function halfLogTau(pi, ln2) {
  const [high, low] = logOf(pi[0] / 2);
  // d log(a) = da / a for the part of pi that its leading double lacks.
  return add([high / 2, low / 2], add(ln2, [pi[1] / pi[0] / 2, 0]));
}

/** Everything table-data.ts exports, by name. */
export function computeTables() {
  const scaledPi = 16n * arctanOfInverse(5n) - 4n * arctanOfInverse(239n);
  const ln2 = logOf(2);
  const pi = split(scaledPi, [undefined, undefined]);
  return {
    LN2: ln2,
    PI: pi,
    QUARTER: split(scaledPi / 2n, [32, 65, 98, undefined]),
    HALF_LOG_TAU: halfLogTau(pi, ln2),
    LOG_TABLE: logTable(),
    EXP_TABLE: expTable(ln2),
    TRIG_TABLE: trigTable(),
  };
}

const COMMENTS = {
  LN2: 'ln 2 as a sum of two doubles.',
  PI: 'Pi as a sum of two doubles.',
  QUARTER:
    'pi/2 as a sum of four doubles; the products of the first three with 20-bit integers are exact.',
  HALF_LOG_TAU: 'log(2 pi) / 2 as a sum of two doubles.',
  LOG_TABLE: 'Four doubles per cell: inv, high part of -log(inv), low part of it, unused.',
  EXP_TABLE: '2^(i/128): leading part at 2i, rest at 2i + 1.',
  TRIG_TABLE:
    'Four doubles per point c = i / 64: the upper 26 bits of sin c, the rest, the same for cos c.',
};

/** The numbers in lines of at most 100 characters, as the formatter breaks them. */
function lines(values) {
  const result = [];
  let line = '';
  for (const value of values) {
    const text = `${Object.is(value, -0) ? '-0' : value},`;
    if (line !== '' && line.length + text.length + 3 > 100) {
      result.push(`  ${line}\n`);
      line = '';
    }
    line += line === '' ? text : ` ${text}`;
  }
  return `${result.join('')}  ${line}\n`;
}

function sourceText() {
  const declarations = Object.entries(computeTables()).map(([name, values]) => {
    const table = values instanceof Float64Array;
    const type = table ? 'Float64Array' : `readonly [${values.map(() => 'number').join(', ')}]`;
    const oneLine = `export const ${name}: ${type} = [${[...values].join(', ')}];`;
    const opening = oneLine.slice(0, oneLine.indexOf(' = ') + 3);
    let body = oneLine;
    if (table) body = `${opening}new Float64Array([\n${lines(values)}]);`;
    else if (oneLine.length > 100) body = `${opening}[\n${lines(values)}];`;
    return `/** ${COMMENTS[name]} */\n${body}\n`;
  });
  return `/**
 * Constants of the elementary functions. Written by scripts/math-tables.mjs, not by hand.
 *
 * The literals are the shortest that give the intended doubles, so every engine reads the same bits.
 */
// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: Math's constants need not be exact.

${declarations.join('\n')}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(OUTPUT, sourceText());
