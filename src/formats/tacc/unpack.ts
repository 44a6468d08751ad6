/** Unpacks gzip of any size, synchronously and in bounded memory: a worker unpacks while its reader reads. */
import { Worker } from 'node:worker_threads';
import { type FileSource, FormatError } from '../format.ts';
import { RING, RING_BYTES, ringOver, SLOT_BYTES, SLOTS } from './unpack-ring.ts';

const PIECE = 1 << 20;
/** Packed pieces that are under way at once. */
const AHEAD = 2;
/** Milliseconds without a sign of life after which the worker is assumed dead. */
const SIGN_WAIT_MS = 60_000;

/** The gzip data of a file is damaged; what came before the damage has been delivered. */
export function damagedGzip(path: string, reason: string): FormatError {
  const what = `damaged gzip (${reason}); what came before was read`;
  return new FormatError({ path, offset: -1, what, skipped: 0 });
}

/** The bytes of a gzip file in pieces; each is valid until the next. @throws FormatError at damage, at its place */
export function* unpacked(source: FileSource): Generator<Uint8Array> {
  const memory = new SharedArrayBuffer(RING_BYTES);
  const { control, lengths, bytes } = ringOver(memory);
  const worker = new Worker(new URL('unpack-worker.js', import.meta.url), { workerData: memory });
  worker.unref();
  worker.on('error', () => {});
  let position = 0;
  let posted = 0;
  let isAllPosted = false;
  const post = () => {
    const piece = new Uint8Array(PIECE);
    const length = source.read(position, piece);
    position += length;
    isAllPosted = length === 0;
    worker.postMessage(isAllPosted ? null : piece.subarray(0, length));
    posted++;
  };
  try {
    for (let freed = 0; ; ) {
      const seen = Atomics.load(control, RING.signal);
      // Read before `filled`: slots that are filled now were filled before the end.
      const hasEnded = Atomics.load(control, RING.ended) === 1;
      while (!isAllPosted && posted - Atomics.load(control, RING.taken) < AHEAD) post();
      if (Atomics.load(control, RING.filled) !== freed) {
        const slot = (freed >>> 0) % SLOTS;
        const length = lengths[slot];
        const part = bytes.subarray(slot * SLOT_BYTES, slot * SLOT_BYTES + Math.abs(length));
        if (length < 0) throw damagedGzip(source.path, new TextDecoder().decode(part.slice()));
        yield part;
        freed = (freed + 1) | 0;
        Atomics.store(control, RING.freed, freed);
        Atomics.notify(control, RING.freed);
      } else if (hasEnded) {
        return;
      } else if (Atomics.wait(control, RING.signal, seen, SIGN_WAIT_MS) === 'timed-out') {
        throw damagedGzip(source.path, 'unpacking has stalled');
      }
    }
  } finally {
    void worker.terminate();
  }
}
