/** Frames with holes: what nobody wrote costs nothing, unless it lies in a frame. */
import {
  closeSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFile } from 'triscope/formats';
import { afterAll, describe, expect, it } from 'vitest';
import { FRAMES } from '../../../src/formats/frames/format.ts';
import type { Schema } from '../../../src/model/metric.ts';
import { batchOf, framesOf } from '../../query/support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'frames-holes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCHEMA: Schema = {
  ...{ name: 'samples', domain: 'pe', help: 'samples' },
  metrics: [
    {
      ...{ key: 'value', cell: 'f64', kind: 'gauge', behaviour: 'variable', form: 'total' },
      ...{ unit: '', over: 'last', help: 'a value' },
    },
  ],
};
const FRAME_OF = (rows: number, value: number) =>
  framesOf(
    batchOf(
      SCHEMA,
      Array.from({ length: rows }, () => ({ value })),
    ),
  );

/** A file with pieces at their places, and holes between them. */
function sparse(name: string, size: number, pieces: readonly (readonly [number, Uint8Array])[]) {
  const path = join(folder, name);
  const file = openSync(path, 'w');
  for (const [at, bytes] of pieces) writeSync(file, bytes, 0, bytes.length, at);
  ftruncateSync(file, size);
  closeSync(file);
  return path;
}

const infoOf = (path: string) => {
  const source = openFile(path);
  const info = FRAMES.open(source).info();
  source.close();
  return info;
};

const hasHoles =
  process.platform === 'linux' && statSync(sparse('probe', 1 << 20, [])).blocks * 512 < 1 << 20;

describe.skipIf(!hasHoles)('a hole in frames (needs a file system that has them)', () => {
  it('of 20 GB is damage, and the frames on both sides are read', () => {
    const far = 20e9;
    const one = FRAME_OF(3, 1);
    const path = sparse('far.frames', 2 * far, [
      [0, one],
      [far, one],
    ]);
    const { records, suspect } = infoOf(path);
    expect(records).toEqual({ samples: 6 });
    expect(suspect.map(({ where }) => where)).toContain(`byte ${one.length}`);
  });

  it('within a frame is zeros that were written, also of a frame that ends behind it', () => {
    const zeros = FRAME_OF(100_000, 0);
    const block = 4096;
    const [head, tail] = [zeros.subarray(0, block), zeros.subarray(-block)];
    const path = sparse('zeros.frames', zeros.length, [
      [0, head],
      [zeros.length - block, tail],
    ]);
    expect(statSync(path).blocks * 512).toBeLessThan(zeros.length / 2);
    expect(infoOf(path)).toMatchObject({ records: { samples: 100_000 }, suspect: [] });
    // The same behind damage, where a search finds it.
    const behind = sparse('behind.frames', (1 << 20) + zeros.length, [
      [0, FRAME_OF(1, 1)],
      [1 << 20, head],
      [(1 << 20) + zeros.length - block, tail],
    ]);
    expect(infoOf(behind).records).toEqual({ samples: 100_001 });
  });
});
