/** How long PEs' threads ran and waited for a CPU. Source: /proc/self/task/TID/schedstat. */
import { readFileSync } from 'node:fs';
import type { Batch } from '../../model/metric.ts';
import { SIM_PROCESS, SIM_THREAD } from '../../model/schemas/sim.ts';
import { THREADS } from './slab.ts';

/** One sample of all known threads that still exist; null if there is none. */
export function threadBatch(bell: Int32Array, pes: number, real: number): Batch | null {
  const found: { pe: number; values: bigint[] }[] = [];
  for (let pe = 0; pe < pes; pe++) {
    const thread = Atomics.load(bell, THREADS + pe);
    if (thread === 0) continue;
    try {
      const text = readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1');
      const values = text.trim().split(' ').map(BigInt);
      if (values.length >= 3) found.push({ pe, values });
    } catch {
      // No such file on this system, or the thread has ended.
    }
  }
  if (found.length === 0) return null;
  const wide = (k: number) => BigUint64Array.from(found, ({ values }) => values[k]);
  return {
    schema: SIM_THREAD,
    rows: found.length,
    columns: [
      new Float64Array(found.length).fill(real),
      Uint32Array.from(found, ({ pe }) => pe),
      wide(0),
      wide(1),
      wide(2),
    ],
  };
}

/** One sample of this process as a whole, whose first PE is `pe`. */
export function processBatch(pe: number, real: number): Batch {
  const { user, system } = process.cpuUsage();
  return {
    schema: SIM_PROCESS,
    rows: 1,
    columns: [
      Float64Array.of(real),
      Uint32Array.of(pe),
      BigUint64Array.of(1000n * BigInt(user + system)),
    ],
  };
}
