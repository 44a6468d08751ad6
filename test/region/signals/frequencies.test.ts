import { Platform } from 'triscope/signals';
import { describe, expect, it } from 'vitest';
import { cpus, Tree, TWO_BY_TWO } from './support/tree.ts';

const FOUR = cpus([
  [0, 0],
  [0, 1],
  [1, 0],
  [1, 1],
]);
const CPU = 'sys/devices/system/cpu';

const policy = (number: number, list: string, kilohertz: number | string) => ({
  [`${CPU}/cpufreq/policy${number}/affected_cpus`]: list,
  [`${CPU}/cpufreq/policy${number}/scaling_cur_freq`]: kilohertz,
  [`${CPU}/cpufreq/policy${number}/scaling_max_freq`]: 3_000_000,
  [`${CPU}/cpufreq/policy${number}/cpuinfo_transition_latency`]: 20_000,
  [`${CPU}/cpufreq/policy${number}/scaling_setspeed`]: '<unsupported>',
});

describe('cpufreq', () => {
  it('tells hertz of each CPU', () => {
    const tree = new Tree({
      ...FOUR,
      ...policy(0, '0', 1_000_000),
      ...policy(1, '1', 2_000_000),
      ...policy(2, '2', 3_000_000),
      ...policy(3, '3', 4_000_000),
    });
    const platform = Platform.open({ root: tree.root });
    expect(platform.read('CPU_FREQUENCY_STATUS', 'cpu', 2)).toBe(3e9);
    expect(platform.read('CPU_FREQUENCY_STATUS', 'board', 0)).toBe(2.5e9);
    expect(platform.read('CPUFREQ::CPUINFO_TRANSITION_LATENCY', 'board', 0)).toBeCloseTo(2e-5, 12);
    expect(platform.info('CPUFREQ::SCALING_SETSPEED')).toBeNull();
    expect(platform.info('CPUFREQ::BIOS_LIMIT')).toBeNull();
  });

  it('is measured by package where a policy has a package', () => {
    const tree = new Tree({
      ...FOUR,
      ...policy(0, '0 1', 1_000_000),
      ...policy(2, '2-3', 2_000_000),
    });
    const platform = Platform.open({ root: tree.root });
    expect(platform.info('CPU_FREQUENCY_STATUS')?.domain).toBe('package');
    expect(platform.read('CPU_FREQUENCY_STATUS', 'package', 1)).toBe(2e9);
  });

  it('is measured by board where a policy crosses packages', () => {
    const tree = new Tree({ ...FOUR, ...policy(0, '0-3', 1_500_000) });
    const platform = Platform.open({ root: tree.root });
    expect(platform.info('CPU_FREQUENCY_STATUS')?.domain).toBe('board');
    expect(platform.read('CPU_FREQUENCY_STATUS', 'board', 0)).toBe(1.5e9);
  });

  it('is absent while a file does not hold a number', () => {
    const tree = new Tree({ ...FOUR, ...policy(0, '0', 1_000_000), ...policy(1, '1', 2_000_000) });
    const platform = Platform.open({ root: tree.root });
    const [first, board] = [
      platform.push('CPU_FREQUENCY_STATUS', 'cpu', 0),
      platform.push('CPU_FREQUENCY_STATUS', 'board', 0),
    ];
    tree.put({ [`${CPU}/cpufreq/policy0/scaling_cur_freq`]: '<unknown>' });
    platform.readBatch();
    expect(platform.sample(first)).toBeNaN();
    expect(platform.sample(board)).toBe(2e9);
  });

  it('takes the largest frequency as a control, the same for all', () => {
    const tree = new Tree({
      ...FOUR,
      ...policy(0, '0-1', 1_000_000),
      ...policy(2, '2-3', 2_000_000),
    });
    const platform = Platform.open({ root: tree.root, allowControl: true });
    platform.controls.write('CPU_FREQUENCY_MAX_CONTROL', 'board', 0, 2.2e9);
    expect(tree.text(`${CPU}/cpufreq/policy2/scaling_max_freq`)).toBe('2200000');
    platform.controls.restore();
    expect(tree.text(`${CPU}/cpufreq/policy2/scaling_max_freq`)).toBe('3000000');
  });
});

describe('cpuinfo', () => {
  it('tells the frequencies that the processor is sold with', () => {
    const tree = new Tree({
      ...FOUR,
      'proc/cpuinfo': 'model name\t: Some CPU @ 2.50GHz',
      [`${CPU}/cpu0/cpufreq/cpuinfo_min_freq`]: 800_000,
      [`${CPU}/cpu0/cpufreq/cpuinfo_max_freq`]: 3_500_000,
    });
    const platform = Platform.open({ root: tree.root });
    const names = ['STICKER', 'MIN_AVAIL', 'MAX_AVAIL', 'STEP'].map((n) => `CPU_FREQUENCY_${n}`);
    expect(names.map((name) => platform.read(name, 'board', 0))).toEqual([2.5e9, 8e8, 3.5e9, 1e8]);
  });

  it('believes the driver before the name', () => {
    const tree = new Tree({
      'proc/cpuinfo': 'model name\t: Some CPU @ 2.50GHz',
      [`${CPU}/cpu0/cpufreq/base_frequency`]: 2_400_000,
    });
    const platform = Platform.open({ root: tree.root });
    expect(platform.read('CPU_FREQUENCY_STICKER', 'board', 0)).toBe(2.4e9);
  });
});

describe('the uncore', () => {
  const folder = 'sys/devices/system/cpu/intel_uncore_frequency';
  const die = (name: string, now: number) => ({
    [`${folder}/${name}/current_freq_khz`]: now,
    [`${folder}/${name}/max_freq_khz`]: 2_400_000,
    [`${folder}/${name}/min_freq_khz`]: 800_000,
  });

  it('tells the mean of a package’s dies; its limits are written, and put back', () => {
    const dies = [die('package_00_die_00', 2_000_000), die('package_00_die_01', 1_000_000)];
    const tree = new Tree(
      Object.assign({}, TWO_BY_TWO, ...dies, die('package_01_die_00', 900_000)),
    );
    const platform = Platform.open({ root: tree.root, allowControl: true });
    const read = (index: number) => platform.read('CPU_UNCORE_FREQUENCY_STATUS', 'package', index);
    expect([read(0), read(1)]).toEqual([1.5e9, 9e8]);
    platform.controls.write('CPU_UNCORE_FREQUENCY_MAX_CONTROL', 'package', 0, 1.6e9);
    const limits = () =>
      ['package_00_die_00', 'package_00_die_01', 'package_01_die_00'].map((name) =>
        tree.text(`${folder}/${name}/max_freq_khz`),
      );
    expect(limits()).toEqual(['1600000', '1600000', '2400000']);
    platform.controls.restore();
    expect(limits().map((text) => text.trim())).toEqual(['2400000', '2400000', '2400000']);
  });

  it('of newer drivers says its package in a file', () => {
    const tree = new Tree({
      ...TWO_BY_TWO,
      ...die('uncore00', 1_100_000),
      [`${folder}/uncore00/package_id`]: 1,
      ...die('package_01_die_00', 5),
    });
    const platform = Platform.open({ root: tree.root });
    expect(platform.read('CPU_UNCORE_FREQUENCY_STATUS', 'package', 1)).toBe(1.1e9);
    expect(platform.read('CPU_UNCORE_FREQUENCY_STATUS', 'package', 0)).toBeNaN();
  });
});

describe('resctrl', () => {
  it('tells the bytes between memory and the caches of each package', () => {
    const mon = 'sys/fs/resctrl/mon_data';
    const tree = new Tree({
      ...TWO_BY_TWO,
      ...Object.fromEntries(
        [0, 1, 2, 3, 4, 5, 6, 7].map((cpu) => [
          `sys/devices/system/cpu/cpu${cpu}/cache/index3/id`,
          cpu % 4 < 2 ? 0 : 4,
        ]),
      ),
      [`${mon}/mon_L3_00/mbm_total_bytes`]: 1000,
      [`${mon}/mon_L3_04/mbm_total_bytes`]: 500,
    });
    const platform = Platform.open({ root: tree.root });
    const at = (index: number) => platform.read('RESCTRL::MEMORY_BYTES', 'package', index);
    expect([at(0), at(1)]).toEqual([1000, 500]);
    expect(platform.info('MSR::QM_CTR_SCALED_RATE')?.domain).toBe('package');
  });
});
