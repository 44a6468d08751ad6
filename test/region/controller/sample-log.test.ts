/** Samples that wait: what was read, and where processes were, come back as they were. */
import { describe, expect, it } from 'vitest';
import type { ApplicationProcess } from '../../../src/region/controller/process-table.ts';
import { SampleLog } from '../../../src/region/controller/sample-log.ts';
import { Platform } from '../../../src/region/platform.ts';
import { Tree, TWO_BY_TWO } from '../signals/support/tree.ts';

const ENERGY = 'sys/class/powercap/intel-rapl:0/energy_uj';

interface Place {
  hash: number;
  hint: number;
  progress: number;
  epochs: number;
}

/** A log of one process, and what replaying it shows. */
function waiting() {
  const tree = new Tree({
    ...TWO_BY_TWO,
    'sys/class/powercap/intel-rapl:0/name': 'package-0',
    'sys/class/powercap/intel-rapl:0/max_energy_range_uj': 1e12,
    [ENERGY]: 1_000_000,
  });
  const platform = Platform.open({ root: tree.root });
  const energy = platform.push('CPU_ENERGY', 'package', 0);
  const power = platform.push('CPU_POWER', 'package', 0);
  platform.readBatch();
  const process: Place = { hash: 1, hint: 2, progress: Number.NaN, epochs: 0 };
  const processes = [process as unknown as ApplicationProcess];
  const log = new SampleLog(platform);
  const add = (now: number, joules: number, place: Partial<Place>) => {
    tree.put({ [ENERGY]: joules * 1e6 });
    Object.assign(process, place);
    platform.tick.read();
    log.add(now, { active: processes, all: processes } as never);
  };
  const seen: unknown[] = [];
  const replay = () =>
    log.replay((now, active, found) => {
      platform.tick.compute();
      const { hash, hint, epochs } = active[0];
      seen.push([now, found, hash, hint, epochs, platform.sample(energy)]);
    });
  return { platform, power, process, log, add, replay, seen };
}

describe('samples that wait', () => {
  it('come back in order, with what was read then, and leave processes where they are now', () => {
    const { process, add, replay, seen, platform, power } = waiting();
    add(10, 1, { hash: 1, epochs: 0 });
    add(20, 3, { hash: 5, hint: 4, epochs: 1 });
    add(30, 7, { hash: 6 });
    Object.assign(process, { hash: 9, epochs: 2 });
    replay();
    expect(seen).toEqual([
      [10, 1, 1, 2, 0, 1],
      [20, 1, 5, 4, 1, 3],
      [30, 1, 6, 4, 1, 7],
    ]);
    expect(process).toEqual({ hash: 9, hint: 4, progress: Number.NaN, epochs: 2 });
    // What is derived of energies saw each once.
    expect(platform.sample(power)).toBeGreaterThan(0);
    replay();
    expect(seen.length).toBe(3);
  });

  it('are as many as there is room for, and wait a second at most', () => {
    const { log, add } = waiting();
    expect(log.takes(0)).toBe(true);
    add(0, 1, {});
    expect(log.takes(0.9e9)).toBe(true);
    expect(log.takes(1.1e9)).toBe(false);
    let more = 0;
    while (log.takes(0) && more < 5000) {
      add(0, 1, {});
      more++;
    }
    expect(more).toBe(255);
  });
});
