/** The worker of `unpacked`: gets packed pieces as messages, null as the last, and fills the ring's slots. */
import { parentPort, workerData } from 'node:worker_threads';
import { createGunzip } from 'node:zlib';
import { RING, ringOver, SLOT_BYTES, SLOTS } from './unpack-ring.ts';

const { control, lengths, bytes } = ringOver(workerData as SharedArrayBuffer);

function signal(): void {
  Atomics.add(control, RING.signal, 1);
  Atomics.notify(control, RING.signal);
}

function fill(part: Uint8Array, isReason = false): void {
  const filled = Atomics.load(control, RING.filled);
  for (;;) {
    const freed = Atomics.load(control, RING.freed);
    if (((filled - freed) | 0) < SLOTS) break;
    Atomics.wait(control, RING.freed, freed);
  }
  const slot = (filled >>> 0) % SLOTS;
  bytes.set(part, slot * SLOT_BYTES);
  lengths[slot] = isReason ? -part.length : part.length;
  Atomics.store(control, RING.filled, (filled + 1) | 0);
  signal();
}

function end(): void {
  Atomics.store(control, RING.ended, 1);
  signal();
  parentPort?.close();
}

const gunzip = createGunzip({ chunkSize: SLOT_BYTES });
gunzip.on('data', (part) => fill(part));
gunzip.on('end', end);
gunzip.on('error', ({ message }) => {
  fill(Buffer.from(message), true);
  end();
});
parentPort?.on('message', (piece: Uint8Array | null) => {
  const taken = () => {
    Atomics.add(control, RING.taken, 1);
    signal();
  };
  if (piece === null) gunzip.end(taken);
  else gunzip.write(piece, taken);
});
