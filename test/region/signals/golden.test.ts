/** Golden: a machine's own proc and sys. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Platform } from 'triscope/signals';
import { describe, expect, it } from 'vitest';
import { Tree } from './support/tree.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;

describe.skipIf(GOLDEN === undefined)('a recorded machine', () => {
  const { root } = new Tree();
  if (GOLDEN !== undefined) {
    const archive = join(GOLDEN, 'node-trees/ib-nfs-powercap.tar.gz');
    execFileSync('tar', ['-xzf', archive, '-C', root]);
  }
  const platform = Platform.open({ root });

  it('tells the energy of its package; its cores’ zone is disabled, its second package is none of it', () => {
    expect(platform.read('CPU_ENERGY', 'board', 0)).toBeCloseTo(240_422.366267, 6);
    expect(platform.info('POWERCAP::CORE_ENERGY')).toBeNull();
    expect(platform.read('CPU_POWER_LIMIT', 'board', 0)).toBe(4090);
    expect(platform.read('CPU_POWER_LIMIT_DEFAULT', 'board', 0)).toBe(95);
  });

  it('tells frequencies where its files hold numbers', () => {
    expect(platform.read('CPUFREQ::SCALING_CUR_FREQ', 'cpu', 0)).toBe(1_219_917_000);
    expect(platform.read('CPUFREQ::SCALING_CUR_FREQ', 'cpu', 1)).toBeNaN();
    expect(platform.read('CPU_FREQUENCY_MAX_AVAIL', 'board', 0)).toBe(2.4e9);
    // CPU 1's latency is 2^32 - 1: not known.
    expect(platform.read('CPUFREQ::CPUINFO_TRANSITION_LATENCY', 'cpu', 1)).toBeNaN();
  });

  it('tells seconds of its CPUs, its load, and what its GPU does', () => {
    expect(platform.read('PROC::CPU_USER', 'cpu', 0)).toBeCloseTo(445.09, 9);
    expect(platform.read('PROC::CPU_IDLE', 'cpu', 0)).toBeCloseTo(10_870.69, 9);
    expect(platform.read('PROC::LOAD_1M', 'board', 0)).toBe(0.02);
    expect(platform.read('GPU_UTILIZATION', 'gpu', 0)).toBe(0.04);
    expect(platform.topology.nics).toContain('mlx4_0');
  });

  it('has none of what it does not tell', () => {
    for (const name of ['DRAM_ENERGY', 'CPU_CYCLES_THREAD', 'PROC::MEMORY_USED', 'GPU_ENERGY']) {
      expect(platform.info(name)).toBeNull();
    }
  });
});
