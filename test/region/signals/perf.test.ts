/** What the kernel and the processor count, on this machine. */
import { spawnSync } from 'node:child_process';
import { Platform } from 'triscope/signals';
import { describe, expect, it } from 'vitest';

const platform = Platform.open();
const has = (name: string) => platform.info(name)?.provider === 'perf';

describe('counters of perf_event_open', () => {
  it.skipIf(!has('PERF::PAGE_FAULTS'))(
    'count what all CPUs do, from when they are asked for (needs root or CAP_PERFMON)',
    () => {
      const faults = platform.push('PERF::PAGE_FAULTS', 'board', 0);
      platform.readBatch();
      const before = platform.sample(faults);
      spawnSync('true');
      platform.readBatch();
      const after = platform.sample(faults);
      // A process that starts touches more pages than this.
      expect(after - before).toBeGreaterThan(50);
      expect(Number.isInteger(after)).toBe(true);
      expect(after).toBeLessThan(1e7);
    },
  );

  it.skipIf(!has('PERF::INSTRUCTIONS'))('give instructions per cycle (needs a PMU)', () => {
    expect(platform.info('CPU_INSTRUCTIONS_RETIRED')?.name).toBe('PERF::INSTRUCTIONS');
    const [instructions, cycles] = ['PERF::INSTRUCTIONS', 'PERF::CYCLES'].map((name) =>
      platform.push(name, 'board', 0),
    );
    spawnSync('true');
    platform.readBatch();
    const perCycle = platform.sample(instructions) / platform.sample(cycles);
    expect(perCycle).toBeGreaterThan(0.01);
    expect(perCycle).toBeLessThan(16);
  });

  it.skipIf(has('PERF::INSTRUCTIONS'))('that are not there are named, with what they need', () => {
    expect(() => platform.push('CPU_INSTRUCTIONS_RETIRED', 'board', 0)).toThrow(
      /CPU_INSTRUCTIONS_RETIRED is not available on this machine; .*perf_event_paranoid/,
    );
  });

  it('are none of a recorded tree', () => {
    const recorded = Platform.open({ root: '/nonexistent' });
    expect(recorded.names().filter((name) => name.startsWith('PERF::'))).toEqual([]);
    recorded.close();
  });
});
