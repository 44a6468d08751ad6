import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { H, R, REGION_BYTES } from '../../src/model/region-layout.ts';
import { Names } from '../../src/region/names.ts';
import type { PageMemory } from '../../src/region/page-file.ts';

const REGIONS = 4096;
const NAME_BYTES = 65_536;
const ROUNDS = 500;

/** What `Names` needs of a page, in memory that workers share. */
function shared(): { memory: SharedArrayBuffer; page: PageMemory } {
  const regions = 4096;
  const names = regions + REGIONS * REGION_BYTES;
  const memory = new SharedArrayBuffer(names + NAME_BYTES);
  const u32 = new Uint32Array(memory);
  u32[H.regions >> 2] = regions;
  u32[H.names >> 2] = names;
  u32[H.regionCapacity >> 2] = REGIONS;
  u32[H.nameCapacity >> 2] = NAME_BYTES;
  u32[H.regionsUsed >> 2] = 1;
  u32[(regions + R.state) >> 2] = 1;
  return { memory, page: { u32, bytes: new Uint8Array(memory) } as unknown as PageMemory };
}

describe('names of regions', () => {
  it('have one slot each, also where two threads name a region in the same moment', async () => {
    const { memory, page } = shared();
    const gate = new Int32Array(new SharedArrayBuffer(4));
    const url = new URL('../../dist/region/names.js', import.meta.url).href;
    const script = `
      const { parentPort, workerData } = require('node:worker_threads');
      import(${JSON.stringify(url)}).then(({ Names }) => {
        const { memory, gate, rounds } = workerData;
        const names = new Names({ u32: new Uint32Array(memory), bytes: new Uint8Array(memory) });
        const found = [];
        for (let k = 0; k < rounds; k++) {
          Atomics.add(gate, 0, 1);
          while (Atomics.load(gate, 0) < 2 * (k + 1)) continue;
          found.push(names.find('region ' + k, 1).index);
        }
        parentPort.postMessage(found);
      });`;
    const run = () =>
      new Promise<readonly number[]>((resolve, reject) => {
        const workerData = { memory, gate, rounds: ROUNDS };
        const worker = new Worker(script, { eval: true, workerData });
        worker.once('message', resolve).once('error', reject);
      });
    const [one, other] = await Promise.all([run(), run()]);
    expect(one).toEqual(other);
    expect(new Set(one).size).toBe(ROUNDS);
    const late = new Names(page);
    expect(one.map((_, k) => late.find(`region ${k}`, 1).index)).toEqual(one);
  });

  it('pass by a slot that its thread never finished', () => {
    const { page } = shared();
    Atomics.add(page.u32, H.regionsUsed >> 2, 1);
    const [names, others] = [new Names(page), new Names(page)];
    expect(names.find('a', 1).index).toBe(2);
    expect(others.find('a', 1).index).toBe(2);
  });
});
