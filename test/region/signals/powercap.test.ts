import { Worker } from 'node:worker_threads';
import { Platform } from 'triscope/signals';
import { describe, expect, it } from 'vitest';
import { Tree, TWO_BY_TWO } from './support/tree.ts';

const CLASS = 'sys/class/powercap';
const RANGE = 262_143_328_850;

/** A zone's files. */
function zone(
  id: string,
  name: string,
  energy: number | string,
  more: Record<string, string | number> = {},
) {
  const folder = `${CLASS}/${id}`;
  const files: Record<string, string | number> = {
    [`${folder}/name`]: name,
    [`${folder}/energy_uj`]: energy,
    [`${folder}/max_energy_range_uj`]: RANGE,
    [`${folder}/enabled`]: 1,
  };
  for (const [file, text] of Object.entries(more)) files[`${folder}/${file}`] = text;
  return files;
}

const limit = (watts: number) => ({
  constraint_0_name: 'long_term',
  constraint_0_power_limit_uw: watts * 1e6,
  constraint_0_time_window_us: 976562,
  constraint_0_max_power_uw: 95e6,
  constraint_1_name: 'short_term',
  constraint_1_power_limit_uw: 120e6,
});

/** A platform on a tree, and the joules of a signal tick by tick. */
function watch(
  files: Record<string, string | number>,
  name: string,
  domain: 'board' | 'package',
  index = 0,
) {
  const tree = new Tree({ ...TWO_BY_TWO, ...files });
  const platform = Platform.open({ root: tree.root });
  const handle = platform.push(name, domain, index);
  const next = (): number => {
    platform.readBatch();
    return platform.sample(handle);
  };
  return { tree, platform, next };
}

const ENERGY_0 = `${CLASS}/intel-rapl:0/energy_uj`;

describe('powercap', () => {
  it('tells joules of packages and of their memory, by the names of the zones', () => {
    const tree = new Tree({
      ...TWO_BY_TWO,
      ...zone('intel-rapl:0', 'package-1', 7_000_000),
      ...zone('intel-rapl:1', 'package-0', 3_000_000),
      ...zone('intel-rapl:0:0', 'dram', 500_000),
      ...zone('intel-rapl:1:0', 'core', 1_000_000),
      ...zone('intel-rapl:2', 'psys', 20_000_000),
      ...zone('intel-rapl-mmio:0', 'package-1', 9_000_000),
    });
    const platform = Platform.open({ root: tree.root });
    expect(platform.read('CPU_ENERGY', 'package', 0)).toBe(3);
    expect(platform.read('CPU_ENERGY', 'package', 1)).toBe(7);
    expect(platform.read('CPU_ENERGY', 'board', 0)).toBe(10);
    expect(platform.read('DRAM_ENERGY', 'package', 1)).toBe(0.5);
    expect(platform.read('DRAM_ENERGY', 'package', 0)).toBeNaN();
    expect(platform.read('POWERCAP::CORE_ENERGY', 'package', 0)).toBe(1);
    expect(platform.read('BOARD_ENERGY', 'board', 0)).toBe(20);
    platform.close();
  });

  it('finds zones that lie in the folder of their parent only', () => {
    const { next } = watch(
      {
        ...zone('intel-rapl:0', 'package-0', 1e6),
        ...zone('intel-rapl:0/intel-rapl:0:0', 'dram', 250_000),
      },
      'DRAM_ENERGY',
      'package',
    );
    expect(next()).toBe(0.25);
  });

  it('adds the zones of several dies of a package', () => {
    const { next } = watch(
      {
        ...zone('intel-rapl:0', 'package-0-die-0', 1e6),
        ...zone('intel-rapl:1', 'package-0-die-1', 2e6),
      },
      'CPU_ENERGY',
      'package',
    );
    expect(next()).toBe(3);
  });

  it('goes on past the end of the counter', () => {
    const { tree, next } = watch(
      zone('intel-rapl:0', 'package-0', RANGE - 499_999),
      'CPU_ENERGY',
      'package',
    );
    const first = next();
    // 500,000 counts to 0, and 250,000 more.
    tree.put({ [ENERGY_0]: 250_000 });
    expect(next() - first).toBeCloseTo(0.75, 6);
    tree.put({ [ENERGY_0]: 1_250_000 });
    expect(next() - first).toBeCloseTo(1.75, 6);
  });

  it('wraps at the zone’s own range, once per step back', () => {
    const { tree, next } = watch(
      {
        ...zone('intel-rapl:0', 'package-0', 900_000),
        [`${CLASS}/intel-rapl:0/max_energy_range_uj`]: 999_999,
      },
      'CPU_ENERGY',
      'package',
    );
    const first = next();
    tree.put({ [ENERGY_0]: 100_000 });
    expect(next() - first).toBeCloseTo(0.2, 9);
    tree.put({ [ENERGY_0]: 50_000 });
    expect(next() - first).toBeCloseTo(1.15, 9);
  });

  it('does not take a reset for a hundred thousand joules', () => {
    const { tree, next } = watch(
      zone('intel-rapl:0', 'package-0', 60_000_000_000),
      'CPU_ENERGY',
      'package',
    );
    const first = next();
    tree.put({ [ENERGY_0]: 2_000_000 });
    expect(next() - first).toBeCloseTo(2, 6);
  });

  it('keeps what it counted while the file is away', () => {
    const { tree, next } = watch(
      zone('intel-rapl:0', 'package-0', 1_000_000),
      'CPU_ENERGY',
      'package',
    );
    expect(next()).toBe(1);
    tree.remove(ENERGY_0);
    expect(next()).toBeNaN();
    tree.put({ [ENERGY_0]: 4_000_000 });
    expect(next()).toBe(4);
    tree.put({ [ENERGY_0]: 'malformed' });
    expect(next()).toBeNaN();
    tree.put({ [ENERGY_0]: 5_000_000 });
    expect(next()).toBe(5);
  });

  it('is exact where doubles are not', () => {
    const { tree, next } = watch(
      zone('intel-rapl:0', 'package-0', '9223372036854775000'),
      'CPU_ENERGY',
      'package',
    );
    next();
    tree.put({ [`${CLASS}/intel-rapl:0/max_energy_range_uj`]: '18446744073709551615' });
    tree.put({ [ENERGY_0]: '9223372036854775003' });
    const before = next();
    tree.put({ [ENERGY_0]: '9223372036854775807' });
    expect(next()).toBeGreaterThanOrEqual(before);
  });

  it('leaves out a zone that is disabled, from the start or in between', () => {
    const tree = new Tree({
      ...TWO_BY_TWO,
      ...zone('intel-rapl:0', 'package-0', 1e6),
      ...zone('intel-rapl:0:0', 'dram', 1e6, { enabled: 0 }),
    });
    const platform = Platform.open({ root: tree.root });
    expect(platform.info('DRAM_ENERGY')).toBeNull();
    const energy = platform.push('CPU_ENERGY', 'package', 0);
    platform.readBatch();
    expect(platform.sample(energy)).toBe(1);
    tree.put({ [`${CLASS}/intel-rapl:0/enabled`]: 0 });
    platform.readBatch();
    expect(platform.sample(energy)).toBeNaN();
    platform.close();
  });

  it('takes a disabled zone whose counter runs: the file speaks of its limit', async () => {
    const tree = new Tree({
      ...TWO_BY_TWO,
      ...zone('intel-rapl:0', 'package-0', 1000000, { enabled: 0 }),
    });
    const running = new Worker(
      `const { openSync, writeSync } = require('node:fs');
      const file = openSync(require('node:worker_threads').workerData, 'r+');
      for (let energy = 1000000; ; energy += 10) writeSync(file, String(energy), 0);`,
      { eval: true, workerData: tree.path(ENERGY_0) },
    );
    let platform = Platform.open({ root: tree.root });
    // A busy machine may not let it run in the few milliseconds of one look.
    while (platform.info('CPU_ENERGY') === null) {
      platform.close();
      await new Promise((done) => setTimeout(done, 5));
      platform = Platform.open({ root: tree.root });
    }
    await running.terminate();
    expect(platform.read('CPU_ENERGY', 'package', 0)).toBeGreaterThan(1);
    platform.close();
  });

  it('is absent where nothing can be read', () => {
    const tree = new Tree({ ...TWO_BY_TWO, ...zone('intel-rapl:0', 'package-0', 'denied') });
    const platform = Platform.open({ root: tree.root });
    expect(platform.info('CPU_ENERGY')).toBeNull();
    expect(platform.info('CPU_POWER')).toBeNull();
    platform.close();
  });

  describe('as a control', () => {
    const path = (id: number) => `${CLASS}/intel-rapl:${id}/constraint_0_power_limit_uw`;
    const files = {
      ...TWO_BY_TWO,
      ...zone('intel-rapl:0', 'package-0', 1, limit(95)),
      ...zone('intel-rapl:1', 'package-1', 1, limit(90)),
    };

    it('tells the long-term limit and the largest', () => {
      const platform = Platform.open({ root: new Tree(files).root });
      expect(platform.read('CPU_POWER_LIMIT', 'package', 1)).toBe(90);
      expect(platform.read('CPU_POWER_LIMIT', 'board', 0)).toBe(185);
      expect(platform.read('CPU_POWER_LIMIT_DEFAULT', 'board', 0)).toBe(190);
      platform.close();
    });

    it('is written only where that is allowed, and shared by the packages of a board', () => {
      const tree = new Tree(files);
      const refused = Platform.open({ root: tree.root });
      expect(() => refused.controls.write('CPU_POWER_LIMIT_CONTROL', 'board', 0, 150)).toThrow(
        '--allow-control',
      );
      expect(tree.text(path(0))).toBe('95000000');
      const platform = Platform.open({ root: tree.root, allowControl: true });
      platform.controls.write('CPU_POWER_LIMIT_CONTROL', 'board', 0, 150);
      expect([tree.text(path(0)), tree.text(path(1))]).toEqual(['75000000', '75000000']);
      platform.controls.write('CPU_POWER_LIMIT_CONTROL', 'package', 1, 60.5);
      expect(tree.text(path(1))).toBe('60500000');
      platform.controls.write('CPU_POWER_LIMIT_CONTROL', 'package', 0, 120);
      platform.controls.write('CPU_POWER_LIMIT_CONTROL', 'package', 0, 9);
      expect(tree.text(path(0))).toBe('9000000');
      const saved = JSON.parse(JSON.stringify(platform.controls.saved()));
      Platform.open({ root: tree.root }).controls.restore(saved);
      expect([tree.text(path(0)), tree.text(path(1))]).toEqual(['95000000', '90000000']);
    });

    it('limits the whole platform where that has a zone, and puts it back', () => {
      const window = `${CLASS}/intel-rapl:2/constraint_0_time_window_us`;
      const psys = zone('intel-rapl:2', 'psys', 1, limit(400));
      const tree = new Tree({ ...files, ...psys, [window]: 28_000_000 });
      const platform = Platform.open({ root: tree.root, allowControl: true });
      expect(platform.read('BOARD_POWER_LIMIT', 'board', 0)).toBe(400);
      platform.controls.write('BOARD_POWER_LIMIT_CONTROL', 'board', 0, 300.5);
      platform.controls.write('BOARD_POWER_TIME_WINDOW_CONTROL', 'board', 0, 0.5);
      expect([tree.text(path(2)), tree.text(window)]).toEqual(['300500000', '500000']);
      // Packages keep theirs.
      expect(tree.text(path(0))).toBe('95000000');
      platform.controls.restore();
      expect([tree.text(path(2)), tree.text(window)]).toEqual(['400000000', '28000000']);
      const without = Platform.open({ root: new Tree(files).root, allowControl: true });
      expect(() => without.controls.write('BOARD_POWER_LIMIT_CONTROL', 'board', 0, 300)).toThrow(
        'there is no control BOARD_POWER_LIMIT_CONTROL',
      );
      expect(without.info('BOARD_POWER_LIMIT')).toBeNull();
    });

    it('refuses limits that cannot be, and packages that are not there', () => {
      const tree = new Tree(files);
      const platform = Platform.open({ root: tree.root, allowControl: true });
      const write = (index: number, watts: number) => () =>
        platform.controls.write('CPU_POWER_LIMIT_CONTROL', 'package', index, watts);
      expect(write(0, -5)).toThrow('-5 W is not above 0');
      expect(write(0, Number.NaN)).toThrow('is not a number');
      expect(write(2, 50)).toThrow('there is no package 2');
      const handle = platform.controls.push('CPU_POWER_LIMIT_CONTROL', 'package', 0);
      tree.remove(path(0));
      expect(() => platform.controls.adjust(handle, 50)).toThrow(
        /cannot write 50000000 to .*ENOENT/,
      );
      expect(() => platform.controls.write('NOTHING', 'board', 0, 1)).toThrow(
        'there is no control NOTHING',
      );
    });
  });
});
