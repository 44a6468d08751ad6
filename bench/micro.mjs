// npm run bench:micro: the small parts of an event, each beside what JavaScript itself offers for it.
import { Bench } from 'tinybench';
import { exp } from '../dist/sim/math/exp.js';
import { log } from '../dist/sim/math/log.js';
import { MODEL_SEEDS, next, previous, seedStreams } from '../dist/sim/rng/clcg4.js';

const CALLS = 10000;
const S = new Float64Array(4 * 1024);
seedStreams(S, 0, 4, MODEL_SEEDS, 0, 1024);
const x = Float64Array.from({ length: CALLS }, (_, k) => next(S, (k & 1023) << 2));

/** Sums `f` over CALLS arguments, so that no call can be left out; in a loop of its own, so that it is inlined. */
const over = (f) =>
  new Function(
    'f',
    `return () => { let sum = 0; for (let k = 0; k < ${CALLS}; k++) sum += f(k); return sum; };`,
  )(f);

const bench = new Bench({ time: 500 });
bench
  .add(
    'CLCG4 draw',
    over((k) => next(S, (k & 1023) << 2)),
  )
  .add(
    'CLCG4 draw taken back',
    over((k) => previous(S, (k & 1023) << 2) ?? 0),
  )
  .add(
    'Math.random',
    over(() => Math.random()),
  )
  .add(
    'log',
    over((k) => log(x[k])),
  )
  .add(
    'Math.log',
    over((k) => Math.log(x[k])),
  )
  .add(
    'exp',
    over((k) => exp(x[k])),
  )
  .add(
    'Math.exp',
    over((k) => Math.exp(x[k])),
  );
await bench.run();
for (const { name, result } of bench.tasks) {
  console.log(
    `${name.padEnd(24)}${((result.latency.p50 * 1e6) / CALLS).toFixed(1).padStart(7)} ns`,
  );
}
