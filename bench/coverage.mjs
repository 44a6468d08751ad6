/**
 * How often a sweep's intervals cover the true mean: M/M/k (`examples/servers.ts`) compared with Erlang's formula.
 *
 *     npm run bench:coverage -- [INTERVALS] [REPLICATIONS]
 *
 * Each interval is made of REPLICATIONS runs of its own. Of 5,000 intervals of 95 %, 94 to 96 % should cover the mean.
 */
import { fileURLToPath } from 'node:url';
import { loadModel, meanInterval, sweep } from '../dist/sim/index.js';

const [intervals = 5000, replications = 10] = process.argv.slice(2).map(Number);
const SERVERS = 2;
const LOAD = 0.5;

// Erlang's C of two servers: 2 load^2 / (1 + load) wait.
const wait = (2 * LOAD * LOAD) / (1 + LOAD);
const waiting = (wait * LOAD) / (1 - LOAD);

const loaded = await loadModel(fileURLToPath(new URL('../examples/servers.ts', import.meta.url)));
const { runs } = await sweep(
  loaded,
  { end: 2200, warmup: 200, options: { servers: SERVERS, load: LOAD } },
  { replications: intervals * replications },
);
loaded.dispose();
const values = runs.map(({ statistics }) => statistics['waiting.mean']);
let covered = 0;
for (let k = 0; k < intervals; k++) {
  const { low, high } = meanInterval(values.slice(k * replications, (k + 1) * replications));
  if (low <= waiting && waiting <= high) covered++;
}
const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
console.log(
  `${covered} of ${intervals} intervals (${((100 * covered) / intervals).toFixed(2)} %) cover the true mean of ${waiting.toFixed(6)} customers waiting; mean of all ${values.length} runs: ${mean.toFixed(6)}`,
);
