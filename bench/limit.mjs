// What a hand-written loop reaches on this machine: PHOLD with the product's buckets, generator, record layout and digest. All
// zones have buckets: where there are many, the product's windows are faster. No model API, no LP types, no statistics. Usage: node bench/limit.mjs [S|M|L|XL]
import { setFlagsFromString } from 'node:v8';
import { log } from '../dist/sim/math/log.js';
import { MODEL_SEEDS, next, nextAhead, seedStreams } from '../dist/sim/rng/clcg4.js';
import { sorter } from '../dist/sim/sort-network.js';
import { WORKLOADS } from './workloads.mjs';

setFlagsFromString('--max-inlined-bytecode-size-cumulative=6000');
setFlagsFromString('--max-inlined-bytecode-size=2000');

const w = WORKLOADS[process.argv[2] ?? 'M'];
const LPS = w.lps;
const END = w.long;
const MEAN = 1 - w.lookahead;
const CAPACITY = Math.ceil(LPS * w.startEvents * 1.2) + 1000;
const GATHER = 12;
const ROOM = 16;
const F = new Float64Array(CAPACITY * 8 + 8);
const I = new Int32Array(F.buffer);
const S = new Float64Array(LPS * 8 + 8);
const W = new Int32Array(S.buffer);
seedStreams(S, 6, 8, MODEL_SEEDS, 0, LPS);
for (let at = 6; at + 4 <= S.length; at += 8) next(S, at);
const buckets = new Int32Array(CAPACITY * 4 + 64);
const D = new Float64Array(16);
const gathered = new Int32Array(32);
const run = new Int32Array(32);
const keys = new Int32Array(32);
const sort = sorter(keys, gathered, run);
const late = [];
let nb = 0;
let cur = 0;
let far = 0;
let nFar = 0;
let at = 0;
let runEnd = 0;
let touched = 0;
let free = 0;
let top = 14;
let digest = 0;

function clearFar() {
  D[0] = Infinity;
  D[1] = -Infinity;
  D[2] = 0;
  far = 0;
  nFar = 0;
}

function push(t, h) {
  const zone = (t - D[3]) * D[4];
  if (zone >= cur && zone < nb) {
    const k = zone | 0;
    I[(h << 1) + 8] = buckets[k];
    buckets[k] = h;
  } else if (zone >= cur) {
    I[(h << 1) + 8] = far;
    far = h;
    nFar++;
    D[2] += t;
    if (t < D[0]) D[0] = t;
    if (t > D[1]) D[1] = t;
  } else late.push(h);
}

function rung() {
  const first = D[0];
  const n = nFar;
  const width = Math.max((D[2] / n - first) / n, Math.abs(D[1]) * 1e-14 + 1e-300);
  let h = far;
  nb = Math.min(buckets.length, Math.ceil(2.5 * n) + 16);
  clearFar();
  D[3] = first;
  D[4] = 1 / width;
  cur = 0;
  while (h !== 0) {
    const following = I[(h << 1) + 8];
    push(F[h], h);
    h = following;
  }
}

function refill() {
  for (;;) {
    const from = cur;
    let k = cur;
    let n = 0;
    while (k < nb && n < GATHER) {
      let h = buckets[k];
      while (h !== 0 && n < ROOM) {
        gathered[n++] = h;
        h = I[(h << 1) + 8];
      }
      buckets[k] = h;
      if (h !== 0) break;
      k++;
    }
    cur = k;
    while (late.length > 0 && n < ROOM) gathered[n++] = late.pop();
    if (n > 0) {
      const scale = 2 ** 26 / (cur - from + 1);
      for (let i = 0; i < n; i++) {
        const place = (F[gathered[i]] - D[3]) * D[4] - from;
        keys[i] = (Math.max(0, place * scale) << 4) | i;
      }
      for (let i = n; i < ROOM; i++) keys[i] = 0x7ffffe00 + (i << 4);
      for (let i = 0; i < n; i++) touched ^= W[I[(gathered[i] << 1) + 6] * 16 + 12];
      sort();
      at = 0;
      runEnd = n;
      return true;
    }
    if (nFar === 0) return false;
    rung();
  }
}

function send(now, source, dest, offset) {
  // The number of the tie-breaker, which nobody asks for.
  const tie = S[source * 8 + 10];
  S[source * 8 + 10] = tie + 1;
  const t = now + offset;
  if (!(t < END)) return;
  let h = free;
  if (h !== 0) free = I[(h << 1) + 8];
  else {
    h = top;
    top += 8;
  }
  F[h] = t;
  F[h + 1] = now;
  F[h + 2] = tie;
  const i = h << 1;
  I[i + 6] = dest;
  I[i + 7] = source;
  push(t, h);
}

function handle(max) {
  let n = 0;
  while (n < max) {
    if (at === runEnd && !refill()) break;
    const h = run[at++];
    n++;
    const i = h << 1;
    const lp = I[i + 6];
    const base = lp * 8 + 6;
    const dest = nextAhead(S, base) <= 0.25 ? Math.trunc(nextAhead(S, base) * LPS) : lp;
    send(F[h], lp, dest, -MEAN * log(nextAhead(S, base)) + w.lookahead);
    let a = Math.imul(I[i] ^ (I[i + 7] + 0x3c6ef372), 0x2c1b3c6d);
    a = Math.imul(a ^ (a >>> 15) ^ I[i + 1], 0x297a2d39);
    digest = (digest + (a ^ (a >>> 13))) | 0;
    I[i + 8] = free;
    free = h;
  }
  return n;
}

clearFar();
for (let lp = 0; lp < LPS; lp++) {
  for (let k = 0; k < w.startEvents; k++)
    send(0, lp, lp, -MEAN * log(nextAhead(S, lp * 8 + 6)) + w.lookahead);
}
const started = performance.now();
let net = 0;
let best = 0;
for (;;) {
  const begun = performance.now();
  const n = handle(65536);
  if (n === 0) break;
  net += n;
  best = Math.max(best, n / (performance.now() - begun) / 1000);
}
const rate = net / (performance.now() - started) / 1000;
console.log(JSON.stringify({ net, rate, best, check: (digest ^ touched) >>> 0 }));
