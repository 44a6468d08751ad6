import { writeFileSync } from 'node:fs';
import { Platform } from 'triscope/signals';
import { afterEach, describe, expect, it } from 'vitest';
import { cpus, Tree } from './support/tree.ts';

const TWO = cpus([
  [0, 0],
  [0, 1],
]);

describe('load and memory', () => {
  const tree = new Tree({
    ...TWO,
    'proc/loadavg': '0.50 1.25 2.00 1/206 1500',
    'proc/stat': [
      'cpu  300 20 90 3000 40 2 4 10 0 0',
      'cpu0 100 10 30 1000 15 1 2 5 0 0',
      'cpu1 200 10 60 2000 25 1 2 5 0 0',
      'cpu9 1 1 1 1 1 1 1 1 1 1',
      'intr 1 2 3',
    ].join('\n'),
    'proc/meminfo': 'MemTotal:       1000 kB\nMemFree:   10 kB\nMemAvailable:   600 kB',
  });

  it('come from /proc', () => {
    const platform = Platform.open({ root: tree.root });
    const board = (name: string) => platform.read(`PROC::${name}`, 'board', 0);
    expect(['LOAD_1M', 'LOAD_5M', 'LOAD_15M'].map(board)).toEqual([0.5, 1.25, 2]);
    expect(platform.read('PROC::CPU_USER', 'cpu', 1)).toBe(2.1);
    expect(board('CPU_USER')).toBeCloseTo(3.2, 12);
    expect(['CPU_SYSTEM', 'CPU_IDLE', 'CPU_IOWAIT', 'CPU_STEAL'].map(board)).toEqual([
      0.96, 30, 0.4, 0.1,
    ]);
    expect(['MEMORY_TOTAL', 'MEMORY_AVAILABLE', 'MEMORY_USED'].map(board)).toEqual([
      1_024_000, 614_400, 409_600,
    ]);
  });

  it('are absent for a CPU that has gone', () => {
    const own = new Tree({ ...TWO, 'proc/stat': 'cpu0 1 1 1 1 1\ncpu1 200 0 0 0 0' });
    const platform = Platform.open({ root: own.root });
    const one = platform.push('PROC::CPU_USER', 'cpu', 1);
    platform.readBatch();
    expect(platform.sample(one)).toBe(2);
    own.put({ 'proc/stat': 'cpu0 1 1 1 1 1' });
    platform.readBatch();
    expect(platform.sample(one)).toBeNaN();
  });

  it('read a long /proc/stat whole', () => {
    const many = cpus(Array.from({ length: 300 }, (_, cpu) => [0, cpu] as const));
    const lines = Array.from({ length: 300 }, (_, cpu) => `cpu${cpu} ${cpu}00 0 0 0 0 0 0 0 0 0`);
    const own = new Tree({ ...many, 'proc/stat': ['cpu  0', ...lines].join('\n') });
    const platform = Platform.open({ root: own.root });
    expect(platform.read('PROC::CPU_USER', 'cpu', 299)).toBe(299);
  });
});

describe('constants', () => {
  const config = (text: string) => {
    const tree = new Tree({ ...TWO, 'etc/geopm/const_config_io.json': text });
    return tree.root;
  };
  const one = (over: object) =>
    JSON.stringify({
      GPU_CORE_FREQUENCY_EFFICIENT: {
        domain: 'cpu',
        description: 'by hand',
        units: 'hertz',
        aggregation: 'average',
        values: [1e9, 3e9],
        ...over,
      },
    });
  const name = 'CONST_CONFIG::GPU_CORE_FREQUENCY_EFFICIENT';

  afterEach(() => {
    delete process.env.GEOPM_CONST_CONFIG_PATH;
  });

  it('come from a JSON file, aggregated as it says', () => {
    const platform = Platform.open({ root: config(one({})) });
    expect(platform.info(name)).toMatchObject({ unit: 'Hz', behaviour: 'constant', domain: 'cpu' });
    expect(platform.read(name, 'cpu', 1)).toBe(3e9);
    expect(platform.read(name, 'board', 0)).toBe(2e9);
  });

  it('may be one for all, and absent for some', () => {
    const same = Platform.open({ root: config(one({ values: undefined, common_value: 5 })) });
    expect(same.read(name, 'cpu', 1)).toBe(5);
    const few = Platform.open({ root: config(one({ values: [7] })) });
    expect(few.read(name, 'cpu', 1)).toBeNaN();
  });

  it('come from the file that the environment names', () => {
    const tree = new Tree();
    writeFileSync(tree.path('mine.json'), one({}));
    process.env.GEOPM_CONST_CONFIG_PATH = tree.path('mine.json');
    const platform = Platform.open({ root: new Tree(TWO).root });
    expect(platform.read(name, 'cpu', 0)).toBe(1e9);
    process.env.GEOPM_CONST_CONFIG_PATH = tree.path('none.json');
    expect(() => Platform.open({ root: tree.root })).toThrow('none.json (GEOPM_CONST_CONFIG_PATH)');
  });

  it.each([
    ['{', 'JSON'],
    ['[]', 'it is not a JSON object of signals'],
    [one({ domain: 'socket' }), 'domain is not a known domain'],
    [one({ units: 'furlongs' }), 'units is not one of'],
    [one({ aggregation: 'toString' }), 'aggregation is not one of'],
    [one({ values: ['1'] }), 'values is not a list of numbers'],
    [one({ values: undefined }), 'it has neither values nor common_value'],
    [one({ description: 3 }), 'description is not a text'],
    ['{"X": null}', 'X: domain is not a known domain'],
  ])('refuse %s', (text, message) => {
    expect(() => Platform.open({ root: config(text) })).toThrow(message);
  });
});

describe('powers of energies', () => {
  const zone = 'sys/class/powercap/intel-rapl:0';
  it('are the slope of the last eight samples', () => {
    const tree = new Tree({ ...TWO, [`${zone}/name`]: 'package-0', [`${zone}/energy_uj`]: 0 });
    const platform = Platform.open({ root: tree.root });
    const [power, energy, time] = ['CPU_POWER', 'CPU_ENERGY', 'TIME'].map((name) =>
      platform.push(name, 'board', 0),
    );
    const points: [number, number][] = [];
    for (let k = 0; k < 12; k++) {
      tree.put({ [`${zone}/energy_uj`]: k * k * 1_000_000 });
      platform.readBatch();
      points.push([platform.sample(time), platform.sample(energy)]);
      if (k === 0) expect(platform.sample(power)).toBeNaN();
    }
    // The textbook's formula, about the means.
    const last = points.slice(-8);
    const mean = (k: 0 | 1) => last.reduce((total, point) => total + point[k], 0) / 8;
    const [x, y] = [mean(0), mean(1)];
    const above = last.reduce((total, [t, e]) => total + (t - x) * (e - y), 0);
    const below = last.reduce((total, [t]) => total + (t - x) ** 2, 0);
    expect(platform.sample(power) / (above / below)).toBeCloseTo(1, 9);
  });
});
