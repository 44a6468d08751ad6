/** Files with holes: what nobody wrote is no record, and costs nothing to pass over. */
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
import { openFile, writeEvent24At } from 'triscope/formats';
import { afterAll, describe, expect, it } from 'vitest';
import { identifyOrFail } from '../../../src/formats/registry.ts';
import { triscopeHere } from '../../cli/support/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'holes-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SIZE = 24;
/** Of 20 GB: it would take minutes to read. */
const FAR = 900_000_000 * SIZE;

/** 100 events from event `from` on. */
function events(from: number): Uint8Array {
  const bytes = new Uint8Array(100 * SIZE);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < 100; k++) {
    const n = from + k;
    writeEvent24At(view, k * SIZE, n % 5, n % 7, n, n + 1.25, n / 8 + 3, 0);
  }
  return bytes;
}

function sparse(name: string, work: (file: number) => void): string {
  const path = join(folder, name);
  const file = openSync(path, 'w');
  work(file);
  closeSync(file);
  return path;
}

const hasHoles = (() => {
  const { blocks } = statSync(sparse('probe', (file) => ftruncateSync(file, 1 << 20)));
  return process.platform === 'linux' && blocks * 512 < 1 << 20;
})();

function infoOf(path: string) {
  const source = openFile(path);
  const info = identifyOrFail(source).format.open(source, { counters: true }).info();
  source.close();
  return info;
}

describe.skipIf(!hasHoles)('a hole in a trace (needs a file system that has them)', () => {
  it('of 20 GB between events is told, and the events on both sides are read', () => {
    const path = sparse('ross-stats-evtrace.bin', (file) => {
      writeSync(file, events(1), 0, 2400, 0);
      writeSync(file, events(101), 0, 2400, FAR);
    });
    const { records, suspect } = infoOf(path);
    expect(records).toEqual({ event: 200 });
    expect(suspect.map(({ what }) => what)).toEqual([
      expect.stringMatching(/^a hole of 2\d{10} bytes, which nobody wrote/),
    ]);
  });

  it('at its end is told, too', async () => {
    const path = sparse('ross-stats-evtrace-1.bin', (file) => {
      writeSync(file, events(1), 0, 2400, 0);
      ftruncateSync(file, FAR);
    });
    const { code, out } = await triscopeHere(['info', path]);
    expect([code, out]).toEqual([3, expect.stringContaining('100 event')]);
    expect(out).toContain('which nobody wrote');
  });
});
