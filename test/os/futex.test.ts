/** A word that somebody waits for. */
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { waitFor, wake } from '../../src/os/futex.ts';

const BUILT = new URL('../../dist/os/futex.js', import.meta.url);

/** A thread that waits for the word until it is 1, and says so. */
const SLEEPER = `
const { workerData, parentPort } = await import('node:worker_threads');
const { waitFor } = await import(${JSON.stringify(BUILT.href)});
const words = new Int32Array(workerData);
Atomics.store(words, 0, 1);
while (Atomics.load(words, 1) === 0) waitFor(words, 1, 0, 999);
parentPort.postMessage(Atomics.load(words, 1));
`;

describe('waiting for a word', () => {
  it('ends at once where it is not what was expected, and after a while where nobody wakes', () => {
    const words = Int32Array.of(7);
    waitFor(words, 0, 8, 999);
    waitFor(words, 0, 7, 0.01);
    expect([...words]).toEqual([7]);
  });

  it('ends when somebody else has changed it and wakes', async () => {
    const words = new Int32Array(new SharedArrayBuffer(8));
    const url = new URL(`data:text/javascript,${encodeURIComponent(SLEEPER)}`);
    const sleeper = new Worker(url, { workerData: words.buffer });
    const said = new Promise((resolve) => sleeper.once('message', resolve));
    while (Atomics.load(words, 0) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    Atomics.store(words, 1, 5);
    wake(words, 1);
    expect(await said).toBe(5);
    await sleeper.terminate();
  });
});
