/** Where the application is, CPU by CPU: from the processes that may run there. */
import { describe, expect, it } from 'vitest';
import { HINTS } from '../../../src/model/region-layout.ts';
import { Application } from '../../../src/region/controller/application.ts';
import type { ApplicationProcess } from '../../../src/region/controller/process-table.ts';
import { Platform } from '../../../src/region/platform.ts';
import { CPUS, tree } from '../../cli/support/region.ts';

const A = 0xd3d99e8b;
const B = 0x4ad0cf31;
const UNMARKED = 0x725e8066;
const UNKNOWN = 1;
const COMPUTE = HINTS.indexOf('compute');
const MEMORY = HINTS.indexOf('memory');

const process = (cpus: readonly number[], hash: number, hint = 0, epochs = 0) =>
  ({ page: { cpus }, hash, hint, epochs, progress: Number.NaN }) as unknown as ApplicationProcess;

/** Signals of a machine of two CPUs, after `processes` were seen. */
function signalsOf(processes: readonly ApplicationProcess[]) {
  const application = new Application(2);
  const platform = Platform.open({ root: tree(CPUS), providers: [application.provider()] });
  const at = (name: string, domain: 'board' | 'cpu', index: number) => {
    const handle = platform.push(name, domain, index);
    application.update(0, processes);
    platform.readBatch();
    return platform.sample(handle);
  };
  const all = (name: string) => [at(name, 'board', 0), at(name, 'cpu', 0), at(name, 'cpu', 1)];
  return { application, all, close: () => platform.close() };
}

describe('the board and its CPUs', () => {
  it.each([
    ['all in one region', [process([0], A), process([1], A)], [A, A, A]],
    ['in different ones', [process([0], A), process([1], B)], [UNMARKED, A, B]],
    ['one in none', [process([0], A), process([1], UNMARKED)], [UNMARKED, A, UNMARKED]],
    ['a CPU that nobody may use', [process([0], A)], [A, A, Number.NaN]],
    ['two that share a CPU', [process([0], A), process([0], B)], [UNMARKED, UNMARKED, Number.NaN]],
    ['CPUs unknown', [process([], A)], [A, A, A]],
    ['CPUs that the machine has not', [process([64, 65], A)], [A, A, A]],
    ['nobody', [], [Number.NaN, Number.NaN, Number.NaN]],
  ])('%s', (_, processes, expected) => {
    const { all, close } = signalsOf(processes);
    expect(all('REGION_HASH')).toEqual(expected);
    close();
  });

  it('have the hint, and the epochs, that all agree upon', () => {
    const { all, close } = signalsOf([process([0], A, COMPUTE, 3), process([1], A, MEMORY, 2)]);
    expect(all('REGION_HINT')).toEqual([UNKNOWN, COMPUTE, MEMORY]);
    expect(all('EPOCH_COUNT')).toEqual([2, 3, 2]);
    close();
  });
});

describe('seconds of hints', () => {
  it('pass with the hints of the interval’s start, as shares of the active CPUs', () => {
    const { application, close } = signalsOf([]);
    application.update(0, [process([0], A, COMPUTE), process([1], A, MEMORY)]);
    application.update(2, [process([0], A, COMPUTE), process([1], A, COMPUTE)]);
    application.update(3, []);
    application.update(9, []);
    expect(application.hintSeconds[COMPUTE]).toBeCloseTo(2, 12);
    expect(application.hintSeconds[MEMORY]).toBeCloseTo(1, 12);
    const cpu1 = application.seconds.subarray(HINTS.length);
    expect([cpu1[COMPUTE], cpu1[MEMORY]]).toEqual([1, 2]);
    close();
  });

  it('of the board never jump where processes come and go: they are the mean, as in the report', () => {
    const application = new Application(2);
    const platform = Platform.open({ root: tree(CPUS), providers: [application.provider()] });
    const board = platform.push('TIME_HINT_COMPUTE', 'board', 0);
    const own = platform.push('TIME_HINT_COMPUTE', 'cpu', 1);
    const [first, second] = [process([0], A, COMPUTE), process([1], A, MEMORY)];
    const seen = [[first], [first, second], [second], [], [first, second], []].map((running, k) => {
      application.update(2 * k, running);
      platform.readBatch();
      expect(platform.sample(board)).toBeCloseTo(application.hintSeconds[COMPUTE], 12);
      return [platform.sample(board), platform.sample(own)];
    });
    // A second CPU that comes begins with the mean; the first one, gone, is as the others are.
    expect(seen).toEqual([
      [0, NaN],
      [2, 2],
      [3, 2],
      [3, 2],
      [3, 2],
      [4, 2],
    ]);
    platform.close();
  });

  it('are shared by processes that share CPUs', () => {
    const { application, close } = signalsOf([]);
    application.update(0, [process([0, 1], A, COMPUTE), process([0, 1], B, MEMORY)]);
    application.update(4, []);
    expect(application.hintSeconds[COMPUTE]).toBeCloseTo(2, 12);
    expect(application.hintSeconds[MEMORY]).toBeCloseTo(2, 12);
    close();
  });
});
