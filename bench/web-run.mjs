// The server of bench/web.mjs, in a process of its own so that its processor time is its own: of a recording, or of a
// live run whose samples are made beforehand. Sends { url } when it listens, and { seconds } of processor time used when
// it receives anything.
// Usage: started by bench/web.mjs

import { LiveBus, startServer } from '../dist/live/index.js';
import { batchOf, LIVE_PES, liveSample, PERIOD, ROSS_PE } from './web-samples.mjs';

const [kind, argument] = process.argv.slice(2);

async function live(seconds) {
  const pes = Array.from({ length: LIVE_PES }, (_, pe) => ({
    ...{ pe, rank: 0, host: 'n1', cpu: null, threadId: null },
  }));
  const bus = new LiveBus({ title: 'live', pes });
  const server = await startServer({ bus });
  const batches = Array.from({ length: seconds * 10 }, (_, k) =>
    batchOf(ROSS_PE, LIVE_PES, liveSample(k)),
  );
  let step = 0;
  setInterval(() => {
    if (step < batches.length) bus.publish(batches[step++]);
  }, PERIOD * 1000);
  return server;
}

const { url } = await (kind === 'live'
  ? live(Number(argument))
  : startServer({ recording: argument }));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ seconds: (user + system) / 1e6 });
});
process.on('disconnect', () => process.exit(0));
process.send({ url });
