/** What two ranks promise each other in the headers of batches, worked by hand. */
import { beforeEach, describe, expect, it } from 'vitest';
import { MpiPromises } from '../../src/sim/transport/mpi-promises.ts';

const LOOKAHEAD = 1;

describe('of two ranks', () => {
  let here: MpiPromises;
  let there: MpiPromises;
  /** A batch of `from` arrives: as many as `batches` with messages so far. */
  function batch(from: MpiPromises, to: MpiPromises, batches: number): void {
    from.send(batches);
    to.hear(from.header, new Float64Array(from.header.buffer), 0);
  }

  beforeEach(() => {
    here = new MpiPromises(LOOKAHEAD);
    there = new MpiPromises(LOOKAHEAD);
  });

  it('nothing is certain before the first batch', () => {
    expect(here.lbts()).toBe(-Infinity);
    expect(here.toldFrom(-1e300)).toBe(false);
  });

  it('what follows is a lookahead after the first pending event', () => {
    there.promise(5, Infinity, 0);
    batch(there, here, 1);
    expect(here.lbts()).toBe(6);
    expect(here.toldFrom(5)).toBe(true);
    expect(here.toldFrom(5.1)).toBe(false);
  });

  it('a message that the other had not taken may bring an answer, until it tells that it has', () => {
    here.post(3);
    here.send(1);
    there.promise(5, Infinity, 0);
    batch(there, here, 0);
    expect(here.lbts()).toBe(4);
    there.promise(7, Infinity, 1);
    batch(there, here, 0);
    expect(here.lbts()).toBe(8);
  });

  it('so may one that has not been sent yet, and that of a batch behind those that were taken', () => {
    here.post(9);
    here.send(1);
    here.post(2);
    there.promise(20, Infinity, 1);
    batch(there, here, 0);
    expect(here.lbts()).toBe(3);
    here.send(2);
    expect(here.lbts()).toBe(3);
    there.promise(20, Infinity, 2);
    batch(there, here, 0);
    expect(here.lbts()).toBe(21);
  });

  it('what a stop would undo bounds it, and a promise that is withdrawn is none', () => {
    there.promise(5, 5.5, 0);
    batch(there, here, 0);
    expect(here.lbts()).toBe(5.5);
    there.withdraw();
    batch(there, here, 0);
    expect(here.lbts()).toBe(-Infinity);
  });

  it('progress is told from half a lookahead on, a withdrawal and its end at once, and nothing twice', () => {
    expect(here.isNews).toBe(false);
    here.promise(5, Infinity, 0);
    expect(here.isNews).toBe(true);
    here.send(0);
    expect(here.isNews).toBe(false);
    here.promise(5.4, Infinity, 0);
    expect(here.isNews).toBe(false);
    here.promise(5.5, Infinity, 0);
    expect(here.isNews).toBe(true);
    here.send(0);
    here.withdraw();
    expect(here.isNews).toBe(true);
    here.send(0);
    here.promise(6, -Infinity, 0);
    expect(here.isNews).toBe(false);
    here.promise(5, Infinity, 0);
    expect(here.isNews).toBe(true);
    here.send(0);
    here.promise(Infinity, Infinity, 0);
    here.send(0);
    expect(here.isNews).toBe(false);
  });
});
