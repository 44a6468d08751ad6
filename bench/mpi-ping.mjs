// Round trips between two ranks by the calls that the transport makes, as JSON.
import { pinned } from '../dist/os/mpi/memory.js';
import { MpiWorld } from '../dist/os/mpi/world.js';

const TRIPS = 20000;
const world = new MpiWorld();
const out = pinned(4096);
const into = pinned(4096);
const [send, receive] = world.requests(2).at;
const other = 1 - world.rank;
const results = [];
const finish = (request) => {
  while (!world.done(request));
};
for (const bytes of [64, 1024, 4032]) {
  world.meet();
  const started = performance.now();
  for (let k = 0; k < TRIPS; k++) {
    world.startReceive(into.address, bytes, receive);
    if (world.rank === 0) {
      world.startSend(out.address, bytes, other, send);
      finish(send);
      finish(receive);
    } else {
      finish(receive);
      world.startSend(out.address, bytes, other, send);
      finish(send);
    }
  }
  results.push({ bytes, roundTrip: ((performance.now() - started) / TRIPS) * 1000 });
}
if (world.rank === 0) console.log(JSON.stringify(results));
world.close();
