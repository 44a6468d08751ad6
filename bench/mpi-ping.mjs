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
const at = Array.from({ length: WINDOW }, (_, k) => address + BigInt(k * BYTES));
const requests = world.requests(WINDOW).at;
const [send, receive] = world.requests(2).at;
const finish = (request) => {
  while (!world.done(request));
};

function sendNow(bytes) {
  world.startSend(at[0], bytes, other, send);
  finish(send);
}

function roundTrip(bytes) {
  world.meet();
  const started = performance.now();
  for (let k = 0; k < TRIPS; k++) {
    world.startReceive(at[1], bytes, receive);
    if (first) sendNow(bytes);
    finish(receive);
    if (!first) sendNow(bytes);
  }
  return ((performance.now() - started) / TRIPS) * 1000;
}

function messageRate(bytes) {
  world.meet();
  const started = performance.now();
  for (let w = 0; w < WINDOWS; w++) {
    for (let k = 0; k < WINDOW; k++) {
      if (first) world.startSend(at[k], bytes, other, requests[k]);
      else world.startReceive(at[k], bytes, requests[k]);
    }
    for (const request of requests) finish(request);
    if (first) {
      world.startReceive(at[0], 64, receive);
      finish(receive);
    } else sendNow(64);
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
