// One rank of a job that runs many cases in one go: mpirun … node mpi-cases.mjs CASES.json RESULTS.json
import { readFileSync, writeFileSync } from 'node:fs';
import { MpiWorld } from '../../../dist/os/mpi/world.js';
import { loadModel } from '../../../dist/sim/index.js';
import { simulateRank } from '../../../dist/sim/simulate-rank.js';

const [, , from, to, tell] = process.argv;
const world = new MpiWorld();
const results = [];
for (const { model, settings, mostSharing, limits, chaos } of JSON.parse(
  readFileSync(from, 'utf8'),
)) {
  if (tell !== undefined && world.rank === 0) process.stdout.write(`${results.length}\n`);
  const loaded = await loadModel(model);
  let printed = 0;
  const { result } = await simulateRank(world, loaded, settings, {
    mostSharing,
    limits,
    chaos,
    onOutput: (lines) => {
      printed += lines.length;
    },
  });
  loaded.dispose();
  const lines = world.gather(new Uint8Array(new Float64Array([printed]).buffer));
  if (result === null) continue;
  results.push({
    run: result,
    printed: lines.reduce((n, bytes) => n + new Float64Array(bytes.slice().buffer)[0], 0),
  });
}
if (world.rank === 0) writeFileSync(to, JSON.stringify(results));
world.close();
