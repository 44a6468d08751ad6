import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Platform, type Provider, type SignalDeclaration } from 'triscope/signals';
import { describe, expect, it } from 'vitest';
import { Tree, TWO_BY_TWO } from './support/tree.ts';

const loadavg = (load: string) => ({ 'proc/loadavg': `${load} 0.04 0.05 1/206 15` });

const declared = (over: Partial<SignalDeclaration>): SignalDeclaration => ({
  name: 'TEST::NUMBER',
  description: 'the number of each CPU',
  unit: '',
  domain: 'cpu',
  behaviour: 'variable',
  aggregation: 'sum',
  format: 'double',
  ...over,
});

/** Each CPU tells ten to the power of its number. */
const powers: Provider = {
  name: 'test',
  source: 'this test',
  declares: [declared({})],
  open: () => ({
    signals: [{ ...declared({}), open: (cpu) => ({ read: () => 10 ** cpu }) }],
  }),
};

describe('the platform', () => {
  it('aggregates a signal at coarser domains, each over the parts within', () => {
    const platform = Platform.open({ root: new Tree(TWO_BY_TWO).root, providers: [powers] });
    const at = (domain: Parameters<Platform['push']>[1], index: number) =>
      platform.push('TEST::NUMBER', domain, index);
    const handles = [
      at('cpu', 3),
      at('core', 0),
      at('package', 1),
      at('memory', 0),
      at('board', 0),
    ];
    platform.readBatch();
    expect(handles.map((handle) => platform.sample(handle))).toEqual([
      1000, 10001, 11001100, 110011, 11111111,
    ]);
    platform.close();
  });

  it('counts only active CPUs, as they come and go', () => {
    const platform = Platform.open({
      root: new Tree(TWO_BY_TWO).root,
      providers: [powers],
      activeCpus: [0, 2],
    });
    const board = platform.push('TEST::NUMBER', 'board', 0);
    const idle = platform.push('TEST::NUMBER', 'core', 1);
    platform.readBatch();
    expect(platform.sample(board)).toBe(101);
    expect(platform.sample(idle)).toBeNaN();
    platform.setActiveCpus([1]);
    expect(platform.sample(board)).toBe(10);
    platform.setActiveCpus(null);
    expect(platform.sample(board)).toBe(11111111);
    platform.close();
  });

  it('refuses finer domains, indices that are not there, and names that nobody has', () => {
    const platform = Platform.open({ root: new Tree({ ...TWO_BY_TWO, ...loadavg('1') }).root });
    expect(() => platform.push('PROC::LOAD_1M', 'cpu', 0)).toThrow(
      'domain cpu is not valid for PROC::LOAD_1M, which is measured per board',
    );
    expect(() => platform.push('TIME', 'cpu', 8)).toThrow('there is no cpu 8; this machine has 8');
    expect(() => platform.push('TYME', 'cpu', 0)).toThrow('there is no signal TYME');
    expect(() => platform.push('CPU_ENERGY', 'board', 0)).toThrow(
      /^CPU_ENERGY is not available on this machine; it would come from powercap: /,
    );
    expect(() => platform.domain('socket')).toThrow('must be one of board, package, core, cpu');
    platform.close();
  });

  it('has one handle for one request', () => {
    const platform = Platform.open();
    expect(platform.push('TIME', 'board', 0)).toBe(platform.push('TIME', 'board', 0));
    platform.close();
  });

  it('tells nothing before the first tick', () => {
    const platform = Platform.open();
    const time = platform.push('TIME', 'board', 0);
    expect(platform.sample(time)).toBeNaN();
    platform.close();
  });

  it('counts TIME from a zero that may be set', () => {
    const platform = Platform.open();
    const time = platform.push('TIME', 'board', 0);
    platform.timeZero = process.hrtime.bigint() - 5_000_000_000n;
    platform.readBatch();
    expect(platform.sample(time)).toBeGreaterThanOrEqual(5);
    expect(platform.sample(time)).toBeLessThan(60);
    platform.close();
  });

  it('reads a file that changes in place, is replaced, vanishes, and comes back', () => {
    const tree = new Tree(loadavg('0.25'));
    const platform = Platform.open({ root: tree.root });
    const load = platform.push('PROC::LOAD_1M', 'board', 0);
    const five = platform.push('PROC::LOAD_5M', 'board', 0);
    const next = () => {
      platform.readBatch();
      return platform.sample(load);
    };
    expect(next()).toBe(0.25);
    expect(platform.sample(five)).toBe(0.04);
    tree.put(loadavg('0.5'));
    expect(next()).toBe(0.5);
    tree.replace('proc/loadavg', '0.75 1 1');
    expect(next()).toBe(0.75);
    tree.remove('proc/loadavg');
    expect(next()).toBeNaN();
    expect(next()).toBeNaN();
    tree.put(loadavg('1.5'));
    expect(next()).toBe(1.5);
    tree.put({ 'proc/loadavg': 'no number' });
    expect(next()).toBeNaN();
    tree.put({ 'proc/loadavg': '' });
    expect(next()).toBeNaN();
    platform.close();
  });

  it('is not stopped by a file that blocks', () => {
    const tree = new Tree(loadavg('0.25'));
    const platform = Platform.open({ root: tree.root });
    const load = platform.push('PROC::LOAD_1M', 'board', 0);
    tree.remove('proc/loadavg');
    execFileSync('mkfifo', [tree.path('proc/loadavg')]);
    platform.readBatch();
    expect(platform.sample(load)).toBeNaN();
    platform.close();
    // Nor where it blocks from the start.
    Platform.open({ root: tree.root }).close();
  });

  it('gives an absent signal to nobody, and demo values only where asked', () => {
    const root = new Tree(TWO_BY_TWO).root;
    const bare = Platform.open({ root });
    expect(bare.info('CPU_ENERGY')).toBeNull();
    bare.close();
    const demo = Platform.open({ root, synthetic: true });
    expect(demo.info('CPU_ENERGY')).toMatchObject({
      name: 'SYNTHETIC::CPU_ENERGY',
      provider: 'synthetic',
      description: expect.stringContaining('not measured'),
    });
    const names = ['TIME', 'CPU_ENERGY', 'DRAM_ENERGY'];
    const [time, energy, dram] = names.map((name) => demo.push(name, 'board', 0));
    demo.readBatch();
    const seconds = demo.sample(time);
    expect(demo.sample(energy)).toBeCloseTo(2 * 50 * seconds, 9);
    expect(demo.sample(dram)).toBeCloseTo(2 * 5 * seconds, 9);
    expect(demo.read('CPU_FREQUENCY_STATUS', 'board', 0)).toBeCloseTo(2.08e9, 3);
    expect(demo.read('CPU_FREQUENCY_STICKER', 'board', 0)).toBe(2.6e9);
    expect(demo.read('CPU_POWER', 'board', 0)).toBeCloseTo(100, 6);
    demo.close();
  });

  it('never puts a demo value in place of a real one', () => {
    const zone = 'sys/class/powercap/intel-rapl:0';
    const tree = new Tree({
      ...TWO_BY_TWO,
      [`${zone}/name`]: 'package-0',
      [`${zone}/energy_uj`]: 2_000_000,
      [`${zone}/max_energy_range_uj`]: 1e12,
    });
    const platform = Platform.open({ root: tree.root, synthetic: true });
    expect(platform.read('CPU_ENERGY', 'package', 0)).toBe(2);
    expect(platform.read('CPU_ENERGY', 'package', 1)).toBeNaN();
    expect(platform.info('DRAM_ENERGY')?.provider).toBe('synthetic');
    platform.close();
  });

  it('works in a worker thread', async () => {
    const module = fileURLToPath(new URL('../../../dist/region/signals/index.js', import.meta.url));
    const worker = new Worker(
      `import('${module}').then(({ Platform }) => {
        const platform = Platform.open();
        const time = platform.push('TIME', 'board', 0);
        platform.readBatch();
        require('node:worker_threads').parentPort.postMessage(platform.sample(time));
      });`,
      { eval: true },
    );
    const seconds = await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
    expect(seconds).toBeGreaterThanOrEqual(0);
    await worker.terminate();
  });
});
