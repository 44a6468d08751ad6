/** When threads begin a computation of GVT. */
import { describe, expect, it } from 'vitest';
import { controlMemory, EngineControl } from '../../src/sim/transport/control.ts';
import { type Gvt, startOfTime } from '../../src/sim/transport/transport.ts';

const at = (time: number): Gvt => ({ ...startOfTime(), time });

describe('a round of GVT', () => {
  const memory = controlMemory(2, 1000);
  const [a, b] = [new EngineControl(memory, 2), new EngineControl(memory, 2)];
  const contribute = (pe: number, time: number) =>
    [a, b][pe].contribute(pe, at(time), Infinity, at(time));

  it('is not requested by a PE that has not taken the result of the last one', () => {
    expect(a.requestGvt()).toBe(true);
    expect(a.requestGvt(), 'one is open').toBe(false);
    contribute(0, 5);
    contribute(1, 3);
    const gvt = startOfTime();
    expect(a.requestGvt(), 'its result is there').toBe(false);
    expect([a.takeGvt(gvt), gvt.time]).toEqual([true, 3]);
    expect(a.takeGvt(gvt)).toBe(false);
    expect(a.requestGvt()).toBe(true);
  });

  it('that another PE has requested waits until the last result is taken', () => {
    expect([b.roundIsOpen(), b.awaits()]).toEqual([true, false]);
    expect(b.takeGvt(startOfTime())).toBe(true);
    expect([b.roundIsOpen(), b.awaits()]).toEqual([true, true]);
  });
});
