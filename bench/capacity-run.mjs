// One run for bench/capacity.mjs, stopped at a virtual time or as soon as it has begun:
// node bench/capacity-run.mjs '{"model": …, "settings": …, "until": …}'. Prints its result as one JSON object. Under
// mpirun it is one rank, and prints its own peak memory, too.
import { loadModel, simulate } from 'triscope/sim';
import { launchedRank } from '../dist/os/mpi/launcher.js';
import { MpiWorld } from '../dist/os/mpi/world.js';
import { simulateRank } from '../dist/sim/simulate-rank.js';

const { model, settings, until, mostSharing } = JSON.parse(process.argv[2]);
const stop = new AbortController();
const options = {
  signal: stop.signal,
  onProgress: ({ gvt }) => gvt > until && stop.abort(),
};
const loaded = await loadModel(model);
if (launchedRank() === null) console.log(JSON.stringify(await simulate(loaded, settings, options)));
else {
  const world = new MpiWorld();
  const { pes: _, ...own } = settings;
  const { result } = await simulateRank(world, loaded, own, { ...options, mostSharing });
  const rss = Float64Array.of(process.resourceUsage().maxRSS * 1024);
  const all = world.gather(new Uint8Array(rss.buffer));
  if (result !== null && all !== null) {
    const ranks = all.map((bytes) => new Float64Array(bytes.slice().buffer)[0]);
    console.log(JSON.stringify({ ...result, ranks }));
  }
  world.close();
}
