// A Node application with marked regions. `npm run setup` once; then
//
//     triscope region launch -- node examples/region-app.mjs
//
// It alternates between arithmetic and a walk through memory, in a worker thread too, and waits a little in between.
import { isMainThread, Worker } from 'node:worker_threads';
import { epoch, region, tprofInit, tprofPost } from 'triscope/region';

const STEPS = 20;
const step = region('step');
const compute = region('arithmetic', 'compute');
const memory = region('walk', 'memory');
const wait = region('wait', 'io');

const numbers = new Float64Array(4 << 20);

function arithmetic() {
  let sum = 0;
  for (let k = 1; k < 5e6; k++) sum += Math.sqrt(k);
  return sum;
}

function walk() {
  for (let k = 0, at = 0; k < 1e6; k++, at = (at + 12289) % numbers.length) numbers[at]++;
}

for (let k = 0; k < STEPS; k++) {
  if (isMainThread) epoch();
  step.enter();
  tprofInit(2);
  compute.run(arithmetic);
  tprofPost();
  memory.run(walk);
  tprofPost();
  step.exit();
  await wait.run(() => new Promise((resolve) => setTimeout(resolve, 5)));
  if (isMainThread && k === 0) new Worker(new URL(import.meta.url));
}
