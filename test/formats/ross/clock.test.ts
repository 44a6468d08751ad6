/** ROSS's cycle counts on the wall clock. */
import { expect, it } from 'vitest';
import {
  alignedTime,
  type ClockNote,
  cyclesPerSecond,
  readClockNote,
} from '../../../src/formats/ross/clock.ts';

/** 2.5 GHz for 4 s, from cycle 10¹³ on, 3 s after the recording's zero. */
const ZERO = 1_795_380_000_000_000_000n;
const TEXT = `1 77 10000000000000 ${ZERO + 3_000_000_000n}\n1 77 10010000000000 ${ZERO + 7_000_000_000n}\n`;
const note = readClockNote(TEXT) as ClockNote;

it('a note says rank, process and how fast the counter is; one moment, or two that contradict, say nothing', () => {
  expect([note.rank, note.process, cyclesPerSecond(note)]).toEqual([1, 77, 2.5e9]);
  const [first, last] = TEXT.split('\n');
  for (const text of [
    '',
    first,
    `${last}\n${first}`,
    `${first}\n${last.replace('77', '78')}`,
    'no note\n',
  ]) {
    expect([text, readClockNote(text)]).toEqual([text, null]);
  }
});

it('times count from the machine’s start or from the run’s: their size says which; --clock-rate is undone', () => {
  // 2 s into the run: cycle 10¹³ + 5·10⁹, over 10⁹ and over 2.5·10⁹ a second.
  expect(alignedTime(10_005, note, 1e9, ZERO)).toBeCloseTo(5, 9);
  expect(alignedTime(4002, note, 2.5e9, ZERO)).toBeCloseTo(5, 9);
  expect(alignedTime(5, note, 1e9, ZERO)).toBeCloseTo(5, 9);
  expect(alignedTime(0, note, 1e9, ZERO)).toBeCloseTo(3, 9);
});
