/** How far beyond GVT a PE goes: in step with the other one where that pays, otherwise as far as rollbacks allow. */
import { describe, expect, it } from 'vitest';
import { OptimismWindow } from '../../src/sim/window.ts';

const LOOKAHEAD = 0.5;
const unknownSpan = () => 0;

/** A window after GVTs at which a PE has handled `events` each, all of them `time` apart; a share of the events was undone. */
function atGvts(window: OptimismWindow, events: number, time: number, undone = 0): OptimismWindow {
  for (let n = 1; n <= 40; n++) {
    window.wait();
    const handled = n * events;
    window.adapt(handled, handled * undone, handled * (1 - undone), n * time, unknownSpan);
  }
  return window;
}

describe('the window of one of two threads', () => {
  it('is the lookahead at first, and where a lookahead has enough events of this PE', () => {
    const window = new OptimismWindow(Infinity, LOOKAHEAD, false, 'dense');
    expect([window.size, window.stepping]).toEqual([0.5, true]);
    // 18 events a unit of time: 9 in a lookahead.
    atGvts(window, 36, 2);
    expect([window.size, window.stepping, window.longSteps]).toEqual([0.5, true, false]);
  });

  it('is that of long steps from 128 events on', () => {
    const window = atGvts(new OptimismWindow(Infinity, LOOKAHEAD, false, 'dense'), 512, 2);
    expect([window.size, window.stepping, window.longSteps]).toEqual([0.5, true, true]);
  });

  it('is wide once four stretches one after the other had too few', () => {
    const window = atGvts(new OptimismWindow(Infinity, LOOKAHEAD, false, 'dense'), 600, 15);
    // 600 events in a time of 34: 8.8 in a lookahead.
    const stretch = (n: number) => {
      const handled = 24_000 + n * 600;
      window.adapt(handled, 0, handled, 600 + n * 34, unknownSpan);
      return window.stepping;
    };
    expect([1, 2, 3, 4].map(stretch)).toEqual([true, true, true, false]);
    expect(window.size).toBeGreaterThanOrEqual(8 * LOOKAHEAD);
  });

  it.each([
    [599, false],
    [600, true],
  ])('with %d events in 50 lookaheads is narrow again: %s', (committed, narrow) => {
    const window = atGvts(new OptimismWindow(Infinity, LOOKAHEAD, false, 'dense'), 600, 40);
    expect(window.stepping).toBe(false);
    // What was handled ahead of GVT does not count.
    window.adapt(24_000 + 2000, 0, 24_000 + committed, 1600 + 25, unknownSpan);
    expect(window.stepping).toBe(narrow);
  });

  it('is wide with more PEs, and over MPI', () => {
    const { size } = atGvts(new OptimismWindow(Infinity, LOOKAHEAD, false, 'never'), 80, 2);
    expect(size).toBeGreaterThanOrEqual(8 * LOOKAHEAD);
  });

  it('stays as the user chose it', () => {
    expect(atGvts(new OptimismWindow(3, LOOKAHEAD, false, 'dense'), 80, 2).size).toBe(3);
  });

  it('without a lookahead never goes in step, and shrinks where much is undone', () => {
    const window = new OptimismWindow(Infinity, 0, false, 'dense');
    for (let n = 1; n <= 40; n++) window.adapt(n * 600, n * 300, n * 300, n, () => 16);
    expect(window.size).toBeGreaterThan(0);
    expect(window.size).toBeLessThan(1);
  });
});
