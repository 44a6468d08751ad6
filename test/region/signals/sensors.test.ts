import { Platform } from 'triscope/signals';
import { describe, expect, it } from 'vitest';
import { cpus, Tree } from './support/tree.ts';

const FOUR = cpus([
  [0, 0],
  [0, 8],
  [1, 0],
  [1, 8],
]);
const HWMON = 'sys/class/hwmon';

describe('hwmon', () => {
  it('tells what each sensor says, in plain units', () => {
    const tree = new Tree({
      [`${HWMON}/hwmon3/name`]: 'nct6775',
      [`${HWMON}/hwmon3/temp1_input`]: 41500,
      [`${HWMON}/hwmon3/temp1_label`]: 'SYSTIN',
      [`${HWMON}/hwmon3/in0_input`]: 1016,
      [`${HWMON}/hwmon3/fan2_input`]: 1200,
      [`${HWMON}/hwmon3/power1_average`]: 12_500_000,
      [`${HWMON}/hwmon3/curr1_input`]: 250,
      [`${HWMON}/hwmon3/temp2_input`]: 'broken',
    });
    const platform = Platform.open({ root: tree.root });
    const read = (name: string) => platform.read(`HWMON::NCT6775::${name}`, 'board', 0);
    expect(['SYSTIN', 'IN0', 'FAN2', 'POWER1', 'CURR1'].map(read)).toEqual([
      41.5, 1.016, 1200, 12.5, 0.25,
    ]);
    expect(platform.info('HWMON::NCT6775::TEMP2')).toBeNull();
  });

  it('knows which core a sensor is of', () => {
    const files: Record<string, string | number> = { ...FOUR };
    for (const chip of [0, 1]) {
      Object.assign(files, {
        [`${HWMON}/hwmon${chip}/name`]: 'coretemp',
        [`${HWMON}/hwmon${chip}/temp1_input`]: 50_000 + 1000 * chip,
        [`${HWMON}/hwmon${chip}/temp1_label`]: `Package id ${chip}`,
        [`${HWMON}/hwmon${chip}/temp2_input`]: 40_000 + 1000 * chip,
        [`${HWMON}/hwmon${chip}/temp2_label`]: 'Core 0',
        [`${HWMON}/hwmon${chip}/temp10_input`]: 44_000 + 1000 * chip,
        [`${HWMON}/hwmon${chip}/temp10_label`]: 'Core 8',
      });
    }
    const platform = Platform.open({ root: new Tree(files).root });
    const cores = [0, 1, 2, 3].map((core) => platform.read('CPU_CORE_TEMPERATURE', 'core', core));
    expect(cores).toEqual([40, 44, 41, 45]);
    expect(platform.read('CPU_CORE_TEMPERATURE', 'board', 0)).toBe(42.5);
    expect(platform.read('CPU_PACKAGE_TEMPERATURE', 'package', 1)).toBe(51);
  });

  it("takes the sockets' energy of amd_energy", () => {
    const tree = new Tree({
      ...FOUR,
      [`${HWMON}/hwmon0/name`]: 'amd_energy',
      [`${HWMON}/hwmon0/energy1_input`]: 1_000_000,
      [`${HWMON}/hwmon0/energy1_label`]: 'Ecore000',
      [`${HWMON}/hwmon0/energy5_input`]: 8_000_000,
      [`${HWMON}/hwmon0/energy5_label`]: 'Esocket1',
    });
    const platform = Platform.open({ root: tree.root });
    expect(platform.read('CPU_ENERGY', 'package', 1)).toBe(8);
    expect(platform.read('CPU_ENERGY', 'package', 0)).toBeNaN();
  });

  it('starts anew where a counter without an end is reset', () => {
    const path = `${HWMON}/hwmon0/energy1_input`;
    const tree = new Tree({ [`${HWMON}/hwmon0/name`]: 'psu', [path]: 9_000_000 });
    const platform = Platform.open({ root: tree.root });
    const energy = platform.push('HWMON::PSU::ENERGY1', 'board', 0);
    const next = (microjoules: number) => {
      tree.put({ [path]: microjoules });
      platform.readBatch();
      return platform.sample(energy);
    };
    const told = [9_000_000, 9_500_000, 200_000, 300_000].map(next);
    expect(told.map((joules) => joules.toFixed(6))).toEqual([
      '9.000000',
      '9.500000',
      '9.700000',
      '9.800000',
    ]);
  });
});

describe('GPUs', () => {
  it('of i915 tell energy, limits and the frequency of each tile', () => {
    const card = 'sys/class/drm/card0';
    const tree = new Tree({
      [`${card}/gt/gt0/rps_act_freq_mhz`]: 1100,
      [`${card}/gt/gt1/rps_act_freq_mhz`]: 1300,
      [`${card}/device/hwmon/hwmon2/name`]: 'i915',
      [`${card}/device/hwmon/hwmon2/energy1_input`]: 3_000_000,
      [`${card}/device/hwmon/hwmon2/power1_max`]: 300_000_000,
      [`${card}/device/hwmon/hwmon2/in0_input`]: 750,
      [`${card}/device/hwmon/hwmon2/curr1_crit`]: 2000,
    });
    const platform = Platform.open({ root: tree.root });
    const read = (name: string) => platform.read(name, 'gpu', 0);
    expect(read('GPU_ENERGY')).toBe(3);
    expect(read('GPU_POWER_LIMIT')).toBe(300);
    expect(read('DRM::GPU_VOLTAGE')).toBe(0.75);
    expect(read('DRM::GPU_CURRENT_LIMIT')).toBe(2);
    expect(platform.read('GPU_CORE_FREQUENCY_STATUS', 'gpu_chip', 1)).toBe(1.3e9);
    expect(read('GPU_CORE_FREQUENCY_STATUS')).toBe(1.2e9);
  });

  it('are limited in power and, tile by tile, in frequency; the limits are put back', () => {
    const card = 'sys/class/drm/card0';
    const power = `${card}/device/hwmon/hwmon2/power1_max`;
    const most = [0, 1].map((tile) => `${card}/gt/gt${tile}/rps_max_freq_mhz`);
    const tree = new Tree({
      [`${card}/device/hwmon/hwmon2/name`]: 'i915',
      [power]: 300_000_000,
      [most[0]]: 1300,
      [most[1]]: 1300,
    });
    const platform = Platform.open({ root: tree.root, allowControl: true });
    platform.controls.write('GPU_POWER_LIMIT_CONTROL', 'board', 0, 150);
    platform.controls.write('GPU_CORE_FREQUENCY_MAX_CONTROL', 'gpu_chip', 1, 9e8);
    const texts = () => [power, ...most].map((path) => tree.text(path).trim());
    expect(texts()).toEqual(['150000000', '1300', '900']);
    platform.controls.restore();
    expect(texts()).toEqual(['300000000', '1300', '1300']);
  });

  it('of xe tell how long their cores were not idle, and their largest and least frequency', () => {
    const card = 'sys/class/drm/card1/device/tile0/gt0';
    const tree = new Tree({
      [`${card}/freq0/rp0_freq`]: 1550,
      [`${card}/freq0/rpn_freq`]: 300,
      [`${card}/gtidle/idle_residency_ms`]: 1000,
    });
    const platform = Platform.open({ root: tree.root });
    const activity = platform.push('GPU_CORE_ACTIVITY', 'gpu_chip', 0);
    platform.readBatch();
    // A quarter of the time since then is idle.
    tree.put({ [`${card}/gtidle/idle_residency_ms`]: 26_000 });
    platform.tick.read(100);
    platform.tick.compute();
    expect(platform.sample(activity)).toBeCloseTo(0.75, 2);
    const values = ['MAX', 'MIN'].map((end) =>
      platform.read(`GPU_CORE_FREQUENCY_${end}_AVAIL`, 'board', 0),
    );
    expect(values).toEqual([1.55e9, 3e8]);
  });

  it('of xe tell the frequency of their tiles', () => {
    const tree = new Tree({ 'sys/class/drm/card1/device/tile0/gt0/freq0/act_freq': 900 });
    const platform = Platform.open({ root: tree.root });
    expect(platform.read('GPU_CORE_FREQUENCY_STATUS', 'gpu_chip', 0)).toBe(9e8);
  });

  it('of amdgpu tell power, temperature, use and clock', () => {
    const card = 'sys/class/drm/card0';
    const tree = new Tree({
      [`${card}/device/gpu_busy_percent`]: 25,
      [`${card}/device/mem_info_vram_used`]: 4096,
      [`${card}/device/hwmon/hwmon5/name`]: 'amdgpu',
      [`${card}/device/hwmon/hwmon5/power1_average`]: 90_000_000,
      [`${card}/device/hwmon/hwmon5/temp1_input`]: 65_000,
      [`${card}/device/hwmon/hwmon5/freq1_input`]: 1_700_000_000,
    });
    const platform = Platform.open({ root: tree.root });
    const names = ['GPU_POWER', 'GPU_TEMPERATURE', 'GPU_UTILIZATION', 'GPU_CORE_FREQUENCY_STATUS'];
    expect(names.map((name) => platform.read(name, 'board', 0))).toEqual([90, 65, 0.25, 1.7e9]);
    expect(platform.info('GPU_ENERGY')).toBeNull();
  });
});

describe('Cray’s counters', () => {
  it('tell joules and watts, accelerators included', () => {
    const folder = 'sys/cray/pm_counters';
    const tree = new Tree({
      [`${folder}/energy`]: '1000 J 1700000000000000 us',
      [`${folder}/power`]: '250 W 1700000000000000 us',
      [`${folder}/cpu_energy`]: '400 J 1700000000000000 us',
      [`${folder}/memory_power`]: '20 W 1700000000000000 us',
      [`${folder}/accel0_energy`]: '77 J 1700000000000000 us',
    });
    const platform = Platform.open({ root: tree.root });
    const read = (name: string) => platform.read(name, 'board', 0);
    expect(
      ['BOARD_ENERGY', 'BOARD_POWER', 'CPU_ENERGY', 'DRAM_POWER', 'CRAY::ACCEL0_ENERGY'].map(read),
    ).toEqual([1000, 250, 400, 20, 77]);
  });
});
