// A run that is stopped at a virtual time, or as soon as it has begun, for bench/capacity.mjs:
// node bench/capacity-run.mjs '{"model": …, "settings": …, "until": …}'. Prints its result as one JSON object.
import { loadModel, simulate } from 'triscope/sim';

const { model, settings, until } = JSON.parse(process.argv[2]);
const stop = new AbortController();
const result = await simulate(await loadModel(model), settings, {
  signal: stop.signal,
  onProgress: ({ gvt }) => gvt > until && stop.abort(),
});
console.log(JSON.stringify(result));
