/** Record filters: epochs from entries. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { regionHash } from '../../../src/model/region-hash.ts';
import { recordFilterFrom } from '../../../src/region/filters/index.ts';
import { Periodicity } from '../../../src/region/filters/periodicity.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;

interface Entry {
  readonly time: number;
  readonly process: string;
  readonly hash: number;
}

/** Rows of a profile trace with an event; hashes of 8 or 16 digits. */
function rows(path: string, event: string): Entry[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.split('|'))
    .filter((cells) => cells[2] === event)
    .map(([time, process, , signal]) => ({
      time: Number(time),
      process,
      hash: Number(BigInt(signal)),
    }));
}

/** The 0-based numbers of the entries that begin an epoch, whose numbers must count up from 1. */
function epochs(filter: string, hashes: readonly number[]): number[] {
  const finder = recordFilterFrom(filter)();
  let epoch = 0;
  return hashes.flatMap((hash, k) => {
    const number = finder.entry(hash);
    if (number > 0) expect(number).toBe(++epoch);
    return number > 0 ? [k] : [];
  });
}

const repeated = (pattern: string, length: number) =>
  Array.from({ length }, (_, k) => pattern.charCodeAt(k % pattern.length));

describe('proxy_epoch', () => {
  const B = regionHash('B');
  const twelve = Array.from({ length: 12 }, () => [regionHash('A'), B]).flat();
  const entriesOfB = (numbers: readonly number[]) => numbers.map((k) => (k + 1) / 2);

  it('begins an epoch at each entry, at every n-th, and after those of the start', () => {
    expect(entriesOfB(epochs('proxy_epoch,B', twelve))).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
    ]);
    expect(entriesOfB(epochs('proxy_epoch,B,2,1', twelve))).toEqual([2, 4, 6, 8, 10, 12]);
    expect(entriesOfB(epochs('proxy_epoch,B,5,3', twelve))).toEqual([4, 9]);
  });

  it('takes a hash in place of the name', () => {
    expect(epochs('proxy_epoch,0x4ad0cf31,3', twelve)).toEqual(epochs('proxy_epoch,B,3', twelve));
  });
});

describe('edit_distance', () => {
  it('finds periods once they have stayed, then counts by them', () => {
    const filter = 'edit_distance,20,4,1,1.0,1.5';
    expect(epochs(filter, repeated('a', 10))).toEqual([5, 6, 7, 8, 9]);
    expect(epochs(filter, repeated('ab', 30))).toEqual([
      7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29,
    ]);
    expect(epochs(filter, repeated('abb', 34))).toEqual([9, 12, 15, 18, 21, 24, 27, 30, 33]);
  });

  it('the period is the smallest unit of the part that repeats', () => {
    const periodicity = new Periodicity(20);
    for (const value of repeated('abcab', 30)) periodicity.add(value);
    expect(periodicity.period).toBe(5);
    expect(periodicity.score).toBe(0);
  });

  it('goes back to searching when the period is lost', () => {
    const noise = Array.from({ length: 60 }, (_, k) => 1000 + k);
    const found = epochs('edit_distance,20,4,1', [
      ...repeated('ab', 20),
      ...noise,
      ...repeated('ab', 20),
    ]);
    expect(found.filter((k) => k >= 30 && k < 80)).toEqual([]);
    expect(found.some((k) => k >= 80)).toBe(true);
  });
});

describe('edit_distance after a loss', () => {
  it('remembers the period that was lost: it is found again an entry sooner', () => {
    // abcd until it is found, four entries of another order that lose it, then abcd again.
    const letters = [...repeated('abcd', 32), ...repeated('dbca', 8), ...repeated('abcd', 32)];
    const periodicity = new Periodicity(20);
    const [least, base] = [3, 4];
    let [found, last, stable, unstable, begin] = [false, -1, 0, 0, -1];
    const expected = letters.flatMap((letter, k) => {
      periodicity.add(letter);
      const { period, score, count } = periodicity;
      if (period === 0) return [];
      if (found) {
        unstable = period === last ? 0 : unstable + 1;
        if (unstable >= Math.floor(1.5 * last)) [found, unstable] = [false, 0];
        else if (period >= last && count - begin >= period) {
          begin = count;
          return [k];
        }
        return [];
      }
      if (score >= period || period < least) [last, stable] = [-1, 0];
      else if (period === last) stable++;
      else [last, stable] = [period, 0];
      const enough = period <= base ? stable === base : stable >= period;
      if (!enough) return [];
      [found, begin, stable] = [true, count, 0];
      return [k];
    });
    expect(epochs('edit_distance,20,4,3', letters)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(8);
  });
});

describe('edit_distance beyond what it remembers', () => {
  // Expected: what GEOPM's own classes, compiled alone, say of these entries.
  it.each([
    ['caabb', 34, 'bab', 33, [14, 19, 24, 29, 34, 46, 49, 52, 55, 58, 61, 64]],
    ['cb', 15, 'bbbbc', 42, [27, 32, 37, 42, 47, 52]],
    ['ca', 23, 'bbaaa', 25, [37, 42, 47]],
  ])('%s (%d), then %s (%d)', (first, n, second, m, expected) => {
    const entries = [...repeated(first, n), ...repeated(second, m)];
    expect(epochs('edit_distance,12,4,3', entries)).toEqual(expected);
  });
});

describe('wrong settings', () => {
  it.each([
    ['nothing,3', 'there is no record filter nothing: use proxy_epoch or edit_distance'],
    ['proxy_epoch', 'proxy_epoch needs a region'],
    ['proxy_epoch,A,0', 'proxy_epoch: calls is 0; it must be a whole number from 1'],
    ['proxy_epoch,A,1,0,7', 'proxy_epoch takes at most 2 settings: calls,startup'],
    ['edit_distance,1.5', 'edit_distance: buffer is 1.5; it must be a whole number from 2 to 400'],
    ['edit_distance,20,4,3,x', 'edit_distance: stable hysteresis is x; it must be a number from 0'],
  ])('%s: %s', (text, message) => {
    expect(() => recordFilterFrom(text)).toThrow(message);
  });
});

describe.skipIf(GOLDEN === undefined)('genuine traces (needs TRISCOPE_GOLDEN)', () => {
  const repo = (name: string) => join(GOLDEN ?? '', 'geopm/repo', name);
  const run = (name: string) => join(GOLDEN ?? '', 'geopm/real-run', name);
  const range = (from: number, to: number, step: number) =>
    Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, k) => from + k * step);

  it.each([
    ['0_pattern_a', range(5, 9, 1)],
    ['1_pattern_ab', range(7, 29, 2)],
    ['2_pattern_abb', range(9, 33, 3)],
    ['4_pattern_ababc', range(16, 31, 5)],
    ['fft_small', range(65, 143, 13)],
  ])('edit_distance on %s', (name, expected) => {
    const entries = rows(repo(`EditDistPeriodicityDetectorTest.${name}.trace`), 'REGION_ENTRY');
    const found = epochs(
      'edit_distance,20,4,1,1.0,1.5',
      entries.map(({ hash }) => hash),
    );
    expect(found).toEqual(expected);
  });

  it('edit_distance with its defaults gives every epoch of both processes of a real run', () => {
    const path = run('edit-distance.profile-trace-vm');
    const entries = rows(path, 'REGION_ENTRY');
    const written = rows(path, 'EPOCH_COUNT');
    const counts: number[] = [];
    for (const process of new Set(entries.map((entry) => entry.process))) {
      const own = entries.filter((entry) => entry.process === process);
      const found = epochs(
        'edit_distance',
        own.map(({ hash }) => hash),
      ).map((k) => own[k].time);
      expect(found).toEqual(written.filter((w) => w.process === process).map(({ time }) => time));
      counts.push(found.length);
    }
    expect(counts.sort()).toEqual([13, 27]);
  });

  it('proxy_epoch gives the epochs of a real run', () => {
    const path = run('proxy-epoch.profile-trace-vm');
    const entries = rows(path, 'REGION_ENTRY');
    for (const process of new Set(entries.map((entry) => entry.process))) {
      const own = entries.filter((entry) => entry.process === process);
      const found = epochs(
        'proxy_epoch,B,2,1',
        own.map(({ hash }) => hash),
      ).map((k) => own[k].time);
      expect(found).toEqual(
        rows(path, 'EPOCH_COUNT')
          .filter((w) => w.process === process)
          .map(({ time }) => time),
      );
      expect(found).toHaveLength(6);
    }
  });
});
