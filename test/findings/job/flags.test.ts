/** Flags on hand-worked numbers. */
import { describe, expect, it } from 'vitest';
import { flagsOf, type Job, metricsOf } from '../../../src/findings/job/index.ts';
import { MEM } from './support/archive.ts';
import { CORE, job } from './support/made-job.ts';

describe('flags', () => {
  const flag = async (of: Promise<Job>, name: string) => {
    const found = flagsOf(await of, metricsOf(await of)).find((one) => one.flag.name === name);
    return found?.result;
  };
  const cpi = (cycles: number) =>
    job(
      [CORE('intel_snb')],
      ['intel_snb 0 0 0 0 0 0 0 0'],
      [`intel_snb 0 0 0 0 0 100 ${cycles} ${cycles}`],
    );

  it('are up beyond their threshold', async () => {
    expect(await flag(cpi(151), 'high-cpi')).toBe('flagged');
    expect(await flag(cpi(150), 'high-cpi')).toBe('pass');
    expect(await flag(cpi(300), 'page-cpi')).toBe('flagged');
    expect(await flag(cpi(100), 'mdc-wait')).toBe('not available');
  });

  it('are about a queue, where they are', async () => {
    const of = await job([MEM], ['mem 0 8388608 2097152 0 0']);
    const name = 'page-small-in-largemem';
    expect(await flag(Promise.resolve(of), name)).toBe('not available');
    const accounted = {
      ...{ id: '7', user: '', account: '', queue: 'largemem512', name: '', state: '', place: '' },
      ...{ submitted: null, started: null, ended: null, nodes: null, cores: null, hosts: null },
      timeLimit: null,
    };
    expect(await flag(Promise.resolve({ ...of, accounted }), name)).toBe('flagged');
  });
});
