/**
 * Damage in files of 2016 and 2017, which do not describe themselves: whatever is flipped or cut off, records before it
 * are as they were, or the file is refused. Genuine files; `TRISCOPE_DAMAGE=N` tries N flips and cuts of each.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readingOf, violation } from './support/damage.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const FOLDER = join(GOLDEN ?? '', 'ross');
const CASES = Number(process.env.TRISCOPE_DAMAGE ?? 40);
/** Bytes kept of each file: records enough for one to be judged by the others. */
const KEPT = 1600;

const RUNS = !GOLDEN ? [] : readdirSync(FOLDER).filter((run) => /^o17/.test(run));
const FILES = RUNS.flatMap((run) =>
  readdirSync(join(FOLDER, run))
    .filter((file) => file.endsWith('.bin'))
    .map((file) => ({ run, file })),
);

/** Evenly spread, and at another bit of each byte. */
const spread = (most: number) =>
  Array.from({ length: CASES }, (_, k) => Math.floor(((k + 0.5) * most) / CASES));

function load(run: string, file: string) {
  const text = file.replace(/-\w+\.bin$/, '-README.txt');
  const beside = { [text]: readFileSync(join(FOLDER, run, text), 'utf8') };
  const all = new Uint8Array(readFileSync(join(FOLDER, run, file)));
  const { offsets } = readingOf(file, all, beside);
  const end = offsets.filter((offset) => offset <= KEPT).at(-1) ?? 0;
  // Whole records: of those with KPs and LPs the first, at least twice over.
  const pes = readingOf(file, all, beside).lines.flatMap((line, k) =>
    /^(kp|lp)/.test(line) ? [] : [offsets[k]],
  );
  const cut = pes.find((offset) => offset >= Math.max(end, pes[6] ?? 0)) ?? all.length;
  const bytes = all.subarray(0, cut);
  return { beside, bytes, whole: readingOf(file, bytes, beside) };
}

describe.skipIf(!GOLDEN)("damage in ROSS's genuine files (needs TRISCOPE_GOLDEN)", () => {
  it('has files to damage', () => {
    expect(FILES.length).toBeGreaterThanOrEqual(12);
  });

  describe.each(FILES)('$run/$file', ({ run, file }) => {
    const { beside, bytes, whole } = load(run, file);

    it('of the other byte order is read as it was', () => {
      // Of the other files the records' sizes are not known here.
      if (!/-(gvt|rt)\.bin$/.test(file)) return;
      // A PE's number, then words: points of PEs whose records have one size.
      const points = whole.offsets.filter((_, k) => /^pe /.test(whole.lines[k]));
      const other = Buffer.from(bytes);
      points.forEach((from, k) => {
        const to = points[k + 1] ?? other.length;
        other.subarray(from, from + 2).swap16();
        other.subarray(from + 2, to).swap32();
      });
      expect(readingOf(file, other, beside)).toEqual(whole);
    });

    it('a flipped bit changes no record before it, and makes no layout of another era', () => {
      expect(whole.fault).toBe(null);
      const wrong = spread(bytes.length * 8).flatMap((bit) => {
        const bad = bytes.slice();
        bad[bit >> 3] ^= 1 << (bit & 7);
        const got = readingOf(file, bad, beside);
        const what = violation(whole, got, bit >> 3, bytes.length);
        // Nothing was cut off: without an error there are as many records as before.
        const lost = got.fault === null && got.lines.length !== whole.lines.length;
        return what !== '' || lost ? [`bit ${bit}: ${what} (${got.lines.length} records)`] : [];
      });
      expect(wrong).toEqual([]);
    });

    it('cut anywhere it has the records before, or is refused', () => {
      const wrong = spread(bytes.length).flatMap((length) => {
        const got = readingOf(file, bytes.subarray(0, length), beside);
        const what = violation(whole, got, length, bytes.length);
        return what === '' ? [] : [`cut to ${length}: ${what}`];
      });
      expect(wrong).toEqual([]);
    });

    it('is refused where it has one record and some bytes, and no size is told', () => {
      const second = whole.offsets.find(
        (offset, k) => offset > 0 && /^(event|model)/.test(whole.lines[k]),
      );
      if (second === undefined) return;
      const { lines, fault } = readingOf(file, bytes.subarray(0, second + 5), beside);
      expect(lines).toEqual([]);
      expect(fault).toMatch(/nothing says how many bytes of the model follow each .*--layout=FILE/);
    });
  });
});
