import { Platform, valueText } from 'triscope/signals';
import { describe, expect, it } from 'vitest';
import { cpus, Tree } from './support/tree.ts';

const CASCADE_LAKE = 'vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85';
const IVY_BRIDGE = CASCADE_LAKE.replace('85', '62');
const UNKNOWN = CASCADE_LAKE.replace('85', '250');

/** Lines of registers, as a recorded tree has them. */
const lines = (registers: Record<string, bigint | number>) =>
  Object.entries(registers)
    .map(([number, value]) => `${number} ${value}`)
    .join('\n');

function platformOf(registers: Record<string, bigint | number>, cpuinfo = CASCADE_LAKE) {
  const tree = new Tree({
    ...cpus([
      [0, 0],
      [0, 1],
    ]),
    'proc/cpuinfo': cpuinfo,
    'msr/cpu0': lines(registers),
    'msr/cpu1': lines(registers),
  });
  return { tree, platform: Platform.open({ root: tree.root }) };
}

describe('MSRs', () => {
  it.each([
    ['Cascade Lake', CASCADE_LAKE, 0x0a0e03, 2 ** -14],
    ['Ivy Bridge', IVY_BRIDGE, 0x0a1003, 2 ** -16],
    ['a model that nobody knows, by its unit register', UNKNOWN, 0x0a0d03, 2 ** -13],
  ])('count the energy of %s', (_, cpuinfo, unit, joules) => {
    const { platform } = platformOf({ 606: unit, 611: 65536, 619: 65536 }, cpuinfo);
    expect(platform.read('CPU_ENERGY', 'package', 0)).toBe(65536 * joules);
    expect(platform.read('DRAM_ENERGY', 'board', 0)).toBe(1);
  });

  it('count overflows of 32 bits, and leave out the bits above', () => {
    const { tree, platform } = platformOf({ 611: 0xfffff000n });
    const energy = platform.push('CPU_ENERGY', 'board', 0);
    const next = (value: bigint) => {
      tree.put({ 'msr/cpu0': lines({ 611: value }) });
      platform.readBatch();
      return platform.sample(energy);
    };
    expect(next(0xfffff000n)).toBe(0xfffff000 / 2 ** 14);
    expect(next(0xabcd00001000n)).toBe((2 ** 32 + 0x1000) / 2 ** 14);
    expect(next(0x2000n)).toBe((2 ** 32 + 0x2000) / 2 ** 14);
    expect(next(0x1000n)).toBe((2 * 2 ** 32 + 0x1000) / 2 ** 14);
  });

  it('count cycles of 48 bits, summed over CPUs', () => {
    const { tree, platform } = platformOf({ e7: 2n ** 48n - 10n, e8: 2n ** 48n - 20n });
    const [actual, reference] = ['CPU_CYCLES_THREAD', 'CPU_CYCLES_REFERENCE'].map((name) =>
      platform.push(name, 'board', 0),
    );
    platform.readBatch();
    const before = [platform.sample(actual), platform.sample(reference)];
    const after = lines({ e7: 90, e8: 60 });
    tree.put({ 'msr/cpu0': after, 'msr/cpu1': after });
    platform.readBatch();
    expect(platform.sample(actual) - before[0]).toBe(2 * 80);
    expect(platform.sample(reference) - before[1]).toBe(2 * 100);
  });

  it('tell frequency, temperatures and limits', () => {
    const { platform } = platformOf({
      198: 0x1a00n,
      '1a2': 100n << 16n,
      '19c': 0x88_00_00_00n | (38n << 16n),
      '1b1': 30n << 16n,
      606: 0x0a0e03,
      610: 0x8320n,
      614: 0x4b0n,
    });
    // Ratio 26; 100 − 38 and 100 − 30 degrees; 800 and 1200 eighths of a watt.
    expect(platform.read('CPU_FREQUENCY_STATUS', 'cpu', 1)).toBe(2.6e9);
    expect(platform.read('CPU_CORE_TEMPERATURE', 'core', 0)).toBe(62);
    expect(platform.read('CPU_PACKAGE_TEMPERATURE', 'package', 0)).toBe(70);
    expect(platform.read('CPU_POWER_LIMIT', 'package', 0)).toBe(100);
    expect(platform.read('CPU_POWER_LIMIT_DEFAULT', 'package', 0)).toBe(150);
    expect(platform.read('MSR::RAPL_POWER_UNIT:ENERGY', 'board', 0)).toBe(2 ** -14);
    expect(platform.read('MSR::RAPL_POWER_UNIT:TIME', 'board', 0)).toBe(2 ** -10);
  });

  it('have only the signals whose registers are there; the last line of a register counts', () => {
    const { tree, platform } = platformOf({ 611: 1 });
    expect(platform.info('CPU_ENERGY')?.provider).toBe('msr');
    expect(platform.info('CPU_CYCLES_THREAD')).toBeNull();
    tree.put({ 'msr/cpu0': '611 5\nrubbish\n611 32768' });
    expect(platform.read('CPU_ENERGY', 'package', 0)).toBe(2);
    tree.remove('msr/cpu0');
    expect(platform.read('CPU_ENERGY', 'package', 0)).toBeNaN();
  });

  it('are read whole by their names, as 16 digits; one that the processor lacks is absent', () => {
    const { platform } = platformOf({ 610: 0x8042_8320_0018_8320n, '64e': 7 });
    const raw = platform.read('MSR::PKG_POWER_LIMIT#', 'package', 0);
    expect(valueText(raw, 'raw64')).toBe('0x8042832000188320');
    expect(valueText(platform.read('MSR::PPERF#', 'cpu', 1), 'raw64')).toBe('0x0000000000000007');
    expect(platform.info('MSR::HWP_REQUEST#')).toBeNull();
    expect(valueText(Number.NaN, 'raw64')).toBe('NAN');
  });

  it('tell the share of cycles in which instructions make progress', () => {
    const { tree, platform } = platformOf({ e8: 1000, '64e': 500 });
    const activity = platform.push('CPU_COMPUTE_ACTIVITY', 'board', 0);
    for (let k = 0; k < 3; k++) {
      tree.put({ 'msr/cpu0': lines({ e8: 1000 * (k + 1), '64e': 300 * (k + 1) }) });
      tree.put({ 'msr/cpu1': lines({ e8: 1000 * (k + 1), '64e': 900 * (k + 1) }) });
      platform.tick.read(k);
      platform.tick.compute();
    }
    platform.readBatch();
    expect(platform.sample(activity)).toBeCloseTo(0.6, 9);
  });
});
