// Round trips and message rates between two ranks by the calls that the transport makes, as JSON.
import { pinned } from '../dist/os/mpi/memory.js';
import { MpiWorld } from '../dist/os/mpi/world.js';

const TRIPS = 20000;
const WINDOW = 64;
const WINDOWS = 2000;
const BYTES = 4096;

const world = new MpiWorld();
const first = world.rank === 0;
const other = 1 - world.rank;
const { address } = pinned(WINDOW * BYTES);
const at = Array.from({ length: WINDOW }, (_, k) => address + k * BYTES);
const sends = world.requests(WINDOW).at;
const receives = world.requests(WINDOW).at;
const gone = pinned(WINDOW * 4);
for (const [k, request] of receives.entries()) world.prepareReceive(at[k], BYTES, request);
const finish = (request) => {
  while (!world.done(request));
};

function sendNow(bytes) {
  world.startSend(at[0], bytes, other, sends[0]);
  finish(sends[0]);
}

function roundTrip(bytes) {
  world.meet();
  const started = performance.now();
  for (let k = 0; k < TRIPS; k++) {
    world.startReceive(receives[1]);
    if (first) sendNow(bytes);
    finish(receives[1]);
    if (!first) sendNow(bytes);
  }
  return ((performance.now() - started) / TRIPS) * 1000;
}

function messageRate(bytes) {
  world.meet();
  const started = performance.now();
  for (let w = 0; w < WINDOWS; w++) {
    if (first) {
      for (let k = 0; k < WINDOW; k++) world.startSend(at[k], bytes, other, sends[k]);
      for (let left = WINDOW; left > 0; left -= world.doneSome(WINDOW, sends[0], gone));
      world.startReceive(receives[0]);
      finish(receives[0]);
    } else {
      for (const request of receives) world.startReceive(request);
      for (const request of receives) finish(request);
      sendNow(64);
    }
  }
  return (WINDOW * WINDOWS) / ((performance.now() - started) * 1000);
}

const results = [64, 1024, 4032].map((bytes) => ({
  bytes,
  roundTrip: roundTrip(bytes),
  rate: messageRate(bytes),
}));
if (first) console.log(JSON.stringify(results));
world.close();
