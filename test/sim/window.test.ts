/** How far beyond GVT a PE goes: in step with the other one where that pays, otherwise as far as rollbacks allow. */
import { describe, expect, it } from 'vitest';
import { OptimismWindow } from '../../src/sim/window.ts';

const LOOKAHEAD = 0.5;
const unknownSpan = () => 0;

/** A window after GVTs at which a PE has handled `events` each, all of them `time` apart; a share of the events was undone. */
function atGvts(window: OptimismWindow, events: number, time: number, undone = 0): OptimismWindow {
  for (let n = 1; n <= 40; n++) {
    window.wait();
    window.adapt(n * events, n * events * undone, n * time, unknownSpan);
  }
  return window;
}

describe('the window of one of two threads', () => {
  it('is the lookahead where a lookahead has 20 events or more of this PE', () => {
    // 40 events a unit of time.
    const window = atGvts(new OptimismWindow(Infinity, LOOKAHEAD, false, 'dense'), 80, 2);
    expect([window.size, window.stepping, window.longSteps]).toEqual([0.5, true, false]);
  });

  it('is that of long steps from 128 events on', () => {
    const window = atGvts(new OptimismWindow(Infinity, LOOKAHEAD, false, 'dense'), 512, 2);
    expect([window.size, window.stepping, window.longSteps]).toEqual([0.5, true, true]);
  });

  it('is wide where it has fewer', () => {
    // 38 events a unit of time: 19 in a lookahead.
    const { size } = atGvts(new OptimismWindow(Infinity, LOOKAHEAD, false, 'dense'), 76, 2);
    expect(size).toBeGreaterThanOrEqual(8 * LOOKAHEAD);
  });

  it('is wide again once events get rare', () => {
    const window = atGvts(new OptimismWindow(Infinity, LOOKAHEAD, false, 'dense'), 80, 2);
    // 24 events a unit of time, then 23.
    window.adapt(3200 + 600, 0, 80 + 25, unknownSpan);
    expect(window.size).toBe(LOOKAHEAD);
    window.adapt(3800 + 575, 0, 105 + 25, unknownSpan);
    expect(window.size).toBeGreaterThanOrEqual(8 * LOOKAHEAD);
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
    for (let n = 1; n <= 40; n++) window.adapt(n * 600, n * 300, n, () => 16);
    expect(window.size).toBeGreaterThan(0);
    expect(window.size).toBeLessThan(1);
  });
});
