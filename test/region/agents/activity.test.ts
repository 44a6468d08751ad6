/** cpu_activity and gpu_activity on machines that do the same work at any frequency, faster or slower. */
import { describe, expect, it } from 'vitest';
import { cpuActivity } from '../../../src/region/agents/cpu-activity.ts';
import { gpuActivity } from '../../../src/region/agents/gpu-activity.ts';
import { cpus, type Files } from '../signals/support/tree.ts';
import { Host, type Plant } from './support.ts';

const GHZ = 1e9;
const constants = (values: Readonly<Record<string, number>>): Files => {
  const about = { domain: 'board', description: '', units: 'none', aggregation: 'average' };
  const entries = Object.entries(values).map(([name, value]) => [
    name,
    { ...about, values: [value] },
  ]);
  return { 'etc/geopm/const_config_io.json': JSON.stringify(Object.fromEntries(entries)) };
};

describe('cpu_activity', () => {
  const cpufreq = (cpu: number) => `sys/devices/system/cpu/cpufreq/policy${cpu}`;
  const UNCORE = 'sys/devices/system/cpu/intel_uncore_frequency/package_00_die_00';
  const FILES: Files = {
    ...cpus([
      [0, 0],
      [0, 1],
    ]),
    ...Object.fromEntries(
      [0, 1].flatMap((cpu) => [
        [`${cpufreq(cpu)}/affected_cpus`, cpu],
        [`${cpufreq(cpu)}/scaling_max_freq`, 3_000_000],
        [`${cpufreq(cpu)}/scaling_min_freq`, 1_000_000],
        [`${cpufreq(cpu)}/cpuinfo_max_freq`, 3_000_000],
        [`${cpufreq(cpu)}/cpuinfo_min_freq`, 1_000_000],
      ]),
    ),
    [`${UNCORE}/max_freq_khz`]: 2_400_000,
    [`${UNCORE}/min_freq_khz`]: 800_000,
    [`${UNCORE}/current_freq_khz`]: 2_400_000,
  };
  const TABLE = {
    CPU_FREQUENCY_EFFICIENT_HIGH_INTENSITY: 2e9,
    CPU_UNCORE_FREQUENCY_EFFICIENT_HIGH_INTENSITY: 1.2e9,
    CPU_UNCORE_FREQUENCY_0: 1.2e9,
    CPU_UNCORE_MAX_MEMORY_BANDWIDTH_0: 50e9,
    CPU_UNCORE_FREQUENCY_1: 2.4e9,
    CPU_UNCORE_MAX_MEMORY_BANDWIDTH_1: 100e9,
  };

  const plantOf = (): Plant => ({
    'MSR::CPU_SCALABILITY_RATIO': { domain: 'cpu', values: new Float64Array(2) },
    'MSR::QM_CTR_SCALED_RATE': { domain: 'package', values: new Float64Array(1) },
  });
  const core = (host: Host, cpu: number) => host.number(`${cpufreq(cpu)}/scaling_max_freq`) / 1e6;
  const uncore = (host: Host) =>
    ['min', 'max'].map((end) => host.number(`${UNCORE}/${end}_freq_khz`) / 1e6);

  it('gives each CPU the frequency that its activity is worth, the package that of its traffic', () => {
    const plant = plantOf();
    const host = new Host(cpuActivity, { ...FILES, ...constants(TABLE) }, plant);
    // The first CPU computes. The second one computes 4 ns of each 10 at 3 GHz: longer at less, its memory takes as long.
    const working = (hertz: number) => (4 * 3) / (hertz / GHZ) / ((4 * 3) / (hertz / GHZ) + 6);
    for (let k = 0; k < 50; k++) {
      plant['MSR::CPU_SCALABILITY_RATIO'].values.set([1, working(core(host, 1) * GHZ)]);
      plant['MSR::QM_CTR_SCALED_RATE'].values[0] = 25e9;
      host.step({ CPU_PHI: Number.NaN }, 0.01);
    }
    expect(core(host, 0)).toBe(3);
    // There 45 % of its time it computes, and 2 + 1 · 0.45 is 2.45: within a step.
    expect(core(host, 1)).toBe(2.4);
    // A quarter of what memory gives: 1.2 GHz and a quarter of the way up.
    expect(uncore(host)).toEqual([1.5, 1.5]);
    expect(host.report()).toEqual({
      'Core Frequency Requests': 2,
      'Resolved Maximum Core Frequency': 3e9,
      'Resolved Efficient Core Frequency': 2e9,
      'Resolved Core Frequency Range': 1e9,
      'Uncore Frequency Requests': 1,
      'Resolved Maximum Uncore Frequency': 2.4e9,
      'Resolved Efficient Uncore Frequency': 1.2e9,
      'Resolved Uncore Frequency Range': 1.2e9,
    });
    host.platform.controls.restore();
    expect([core(host, 1), uncore(host)]).toEqual([3, [0.8, 2.4]]);
  });

  it.each([
    [0, 3, 2.4],
    [0.25, 2.5, 1.8],
    [1, 2, 1.2],
  ])('phi %d: idle CPUs get %d GHz, an idle package %d GHz', (phi, idle, idleUncore) => {
    const host = new Host(cpuActivity, { ...FILES, ...constants(TABLE) }, plantOf());
    host.step({ CPU_PHI: phi }, 0.01);
    expect([core(host, 0), ...uncore(host)]).toEqual([idle, idleUncore, idleUncore]);
  });

  it('steers the cores alone where the package tells too little, and says so', () => {
    const host = new Host(cpuActivity, FILES, plantOf());
    host.step({ CPU_PHI: 0.5 }, 0.01);
    expect([core(host, 0), ...uncore(host)]).toEqual([1, 0.8, 2.4]);
    expect(host.warnings).toEqual([
      'cpu_activity: the frequency outside the cores is not changed: this machine has no CONST_CONFIG::CPU_UNCORE_MAX_MEMORY_BANDWIDTH_0',
    ]);
    expect(host.report()).not.toHaveProperty('Uncore Frequency Requests');
  });

  it('refuses what is no share, and an efficient frequency that the machine does not have', () => {
    const host = new Host(cpuActivity, FILES, plantOf());
    expect(() => host.agent.validatePolicy({ CPU_PHI: 2 })).toThrow('CPU_PHI 2: must be from 0');
    const files = {
      ...FILES,
      ...constants({ ...TABLE, CPU_FREQUENCY_EFFICIENT_HIGH_INTENSITY: 9e9 }),
    };
    expect(() => new Host(cpuActivity, files, plantOf())).toThrow(
      'CPU_FREQUENCY_EFFICIENT_HIGH_INTENSITY is 9000000000 Hz; this machine has 1000000000 to 3000000000 Hz',
    );
  });

  it('writes and reports nothing where it may not', () => {
    const host = new Host(cpuActivity, FILES, plantOf(), null, false);
    host.step({ CPU_PHI: 0.5 }, 0.01);
    expect([core(host, 0), host.report()]).toEqual([3, {}]);
  });
});

describe('gpu_activity', () => {
  const CARD = 'sys/class/drm/card0';
  const gt = (tile: number) => `${CARD}/gt/gt${tile}`;
  const FILES: Files = {
    ...cpus([[0, 0]]),
    ...Object.fromEntries(
      [0, 1].flatMap((tile) => [
        [`${gt(tile)}/rps_act_freq_mhz`, 1500],
        [`${gt(tile)}/rps_max_freq_mhz`, 1500],
        [`${gt(tile)}/rps_min_freq_mhz`, 300],
        [`${gt(tile)}/rps_RP0_freq_mhz`, 1500],
        [`${gt(tile)}/rps_RPn_freq_mhz`, 300],
      ]),
    ),
  };
  const plantOf = (): Plant => ({
    GPU_CORE_ACTIVITY: { domain: 'gpu_chip', values: new Float64Array(2) },
    GPU_UTILIZATION: { domain: 'gpu', values: new Float64Array([1]) },
    GPU_ENERGY: { domain: 'gpu', values: new Float64Array(1) },
  });
  const limits = (host: Host, tile: number) =>
    ['min', 'max'].map((end) => host.number(`${gt(tile)}/rps_${end}_freq_mhz`));

  it('gives each tile the frequency that its activity is worth, and reports when the GPU was active', () => {
    const plant = plantOf();
    const host = new Host(
      gpuActivity,
      { ...FILES, ...constants({ GPU_FREQUENCY_EFFICIENT_HIGH_INTENSITY: 9e8 }) },
      plant,
    );
    for (let k = 0; k < 100; k++) {
      const isActive = k >= 20 && k < 70;
      // A power that rises with the square of the frequency, for as long as anything runs.
      plant.GPU_ENERGY.values[0] += isActive ? 0.02 * 100 : 0.02 * 10;
      plant.GPU_CORE_ACTIVITY.values.set(isActive ? [1, 0.5] : [0, 0]);
      host.step({ GPU_PHI: Number.NaN }, 0.02);
      if (k === 50)
        expect([limits(host, 0), limits(host, 1)]).toEqual([
          [1500, 1500],
          [1200, 1200],
        ]);
    }
    expect([limits(host, 0), limits(host, 1)]).toEqual([
      [900, 900],
      [900, 900],
    ]);
    const report = host.report();
    expect(report).toMatchObject({
      'GPU Frequency Requests': 6,
      'Resolved Maximum Frequency': 1.5e9,
      'Resolved Efficient Frequency': 9e8,
      'Resolved Frequency Range': 6e8,
    });
    expect(report['GPU 0 Active Region Time']).toBeCloseTo(49 * 0.02, 9);
    expect(report['GPU 0 Active Region Start Time']).toBeCloseTo(21 * 0.02, 9);
    expect(report['GPU 0 Active Region Energy']).toBeCloseTo(49 * 0.02 * 100, 6);
    host.platform.controls.restore();
    expect([limits(host, 0), limits(host, 1)]).toEqual([
      [300, 1500],
      [300, 1500],
    ]);
  });

  it('counts activity of the time in which anything ran; without an efficient frequency it is the middle', () => {
    const plant = plantOf();
    const host = new Host(gpuActivity, FILES, plant);
    plant.GPU_UTILIZATION.values[0] = 0.5;
    plant.GPU_CORE_ACTIVITY.values.set([0.5, 0.25]);
    host.step({ GPU_PHI: 0.5 }, 0.02);
    expect([limits(host, 0), limits(host, 1)]).toEqual([
      [1500, 1500],
      [1200, 1200],
    ]);
    expect(() => host.agent.validatePolicy({ GPU_PHI: -1 })).toThrow('GPU_PHI -1: must be from 0');
  });

  it('says that there is no GPU', () => {
    const host = new Host(gpuActivity, cpus([[0, 0]]), {});
    host.step({ GPU_PHI: 0.5 }, 0.02);
    expect([host.warnings, host.report()]).toEqual([
      ['gpu_activity changes nothing: this machine has no GPU'],
      {},
    ]);
  });
});
