// A simple sequential PHOLD in plain JavaScript: binary heap of (time, LP) in typed arrays, CLCG4 by `%`,
// Math.log, no model API, no statistics, no tie-breaker. The rival that shows what a machine is worth:
// on the machine of ROSS's figures it reached 5.8, 4.3, 2.8 and 1.7 Mev/s on S, M, L and XL.

const MODULI = [2147483647, 2147483543, 2147483423, 2147483323];
const MULTIPLIERS = [45991, 207707, 138556, 49689];
const STREAM = [584425330n, 1351201844n, 1323813018n, 28067816n];
const SEEDS = [11111111n, 22222222n, 33333333n, 44444444n];
const NORM = MODULI.map((m) => 1 / m);

/** @returns {{ net: number, seconds: number }} */
export function naivePhold({ lps, startEvents, mean, lookahead, remote, end }) {
  const state = new Float64Array(4 * lps);
  const seeds = [...SEEDS];
  for (let lp = 0; lp < lps; lp++) {
    for (let j = 0; j < 4; j++) {
      state[4 * lp + j] = Number(seeds[j]);
      seeds[j] = (seeds[j] * STREAM[j]) % BigInt(MODULI[j]);
    }
  }
  const uniform = (lp) => {
    const at = 4 * lp;
    for (let j = 0; j < 4; j++) state[at + j] = (MULTIPLIERS[j] * state[at + j]) % MODULI[j];
    let u = NORM[0] * state[at];
    u -= NORM[1] * state[at + 1];
    if (u < 0) u += 1;
    u += NORM[2] * state[at + 2];
    if (u >= 1) u -= 1;
    u -= NORM[3] * state[at + 3];
    return u < 0 ? u + 1 : u;
  };
  const times = new Float64Array(lps * startEvents + 1);
  const owners = new Int32Array(lps * startEvents + 1);
  let size = 0;
  const push = (t, lp) => {
    let i = size++;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (times[parent] <= t) break;
      times[i] = times[parent];
      owners[i] = owners[parent];
      i = parent;
    }
    times[i] = t;
    owners[i] = lp;
  };
  const pop = () => {
    size--;
    const t = times[size];
    const lp = owners[size];
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= size) break;
      if (child + 1 < size && times[child + 1] < times[child]) child++;
      if (times[child] >= t) break;
      times[i] = times[child];
      owners[i] = owners[child];
      i = child;
    }
    times[i] = t;
    owners[i] = lp;
  };
  const send = (now, dest, source) => {
    const t = now + (-(mean - lookahead) * Math.log(uniform(source)) + lookahead);
    if (t < end) push(t, dest);
  };
  for (let lp = 0; lp < lps; lp++) for (let k = 0; k < startEvents; k++) send(0, lp, lp);
  const start = performance.now();
  let net = 0;
  while (size > 0) {
    const now = times[0];
    const lp = owners[0];
    pop();
    net++;
    const dest = uniform(lp) <= remote ? Math.trunc(uniform(lp) * lps) : lp;
    send(now, dest, lp);
  }
  return { net, seconds: (performance.now() - start) / 1000 };
}
