/** Where only files are wanted, PEs write samples as the files have them: the same bytes as by way of rows. */
import '../../support/small-machine.ts';
import { fileURLToPath } from 'node:url';
import { loadModel, type Settings, type Synchroniser } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { record } from '../support/recorded.ts';

const COUNTING = fileURLToPath(new URL('../support/counting.ts', import.meta.url));
const ALL = { gvt: true, rt: true, vt: true };

const FRAME = 24;
const REAL_TIME = 16;
/** Of a PE's record: the first of the twelve times, and what follows the last. */
const TIMES = 56;
const PE_BYTES = 104;
/** Header of a model's sample of virtual time, and where its real time lies. */
const VT_MODEL = 48;
const VT_REAL_TIME = 32;

/** Where each record of a file begins, by its bytes. @returns how many there are of each kind */
function eachRecord(
  bytes: Buffer,
  visit: (at: number, kind: number, vt: boolean) => void,
): number[] {
  const counts = [0, 0, 0, 0];
  for (let at = 0; at < bytes.length; ) {
    // A frame's second word is a size, never 0; that of a model's sample of virtual time is half of an LP's id.
    const vt = bytes.readInt32LE(at + 4) === 0;
    const kind = vt ? 3 : bytes.readInt32LE(at);
    counts[kind]++;
    visit(at, kind, vt);
    if (vt) at += VT_MODEL + bytes.readInt32LE(at + 40);
    else {
      const payload = kind === 3 ? bytes.readInt32LE(at + FRAME + 20) : 0;
      at += FRAME + bytes.readInt32LE(at + 4) + payload;
    }
  }
  return counts;
}

/** The file without what differs from run to run: real times, and a PE's times. */
function timeless(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  eachRecord(bytes, (at, kind, vt) => {
    const real = at + (vt ? VT_REAL_TIME : REAL_TIME);
    copy.fill(0, real, real + 8);
    if (kind === 0) copy.fill(0, at + FRAME + TIMES, at + FRAME + PE_BYTES);
  });
  return copy;
}

async function run(synch: Synchroniser, instrument: Settings['instrument'], framed: boolean) {
  const model = await loadModel(COUNTING);
  try {
    return await record(model, { synch, end: 100, nkp: 3, lookahead: 0.1, instrument }, framed);
  } finally {
    model.dispose();
  }
}

/** One real-time sample, at the end: when others are taken is a matter of real time. */
const SAMPLES: Settings['instrument'] = {
  engine: ALL,
  model: ALL,
  levels: { pe: true, kp: true, lp: true },
  rtInterval: 1e7,
  vtInterval: 7,
};

describe.each<Synchroniser>(['sequential', 'conservative'])('%s', (synch) => {
  it.each(['gvt', 'rt', 'analysis-lps', 'model'])('-%s.bin', async (name) => {
    const [rows, direct] = await Promise.all([
      run(synch, SAMPLES, true),
      run(synch, SAMPLES, false),
    ]);
    expect(direct.rows.size).toBe(0);
    const [expected, found] = [rows.file(name), direct.file(name)];
    const counts = eachRecord(expected, () => {});
    expect(counts[3] > 0).toBe(name !== 'gvt' && name !== 'rt');
    if (name !== 'model') expect(Math.min(...counts.slice(0, 3))).toBeGreaterThan(0);
    expect(eachRecord(found, () => {})).toEqual(counts);
    expect(timeless(found).equals(timeless(expected))).toBe(true);
  });
});

it('small buffers change nothing', async () => {
  const small = { ...SAMPLES, bufferSize: 4096 };
  const [one, other] = [
    await run('conservative', SAMPLES, false),
    await run('conservative', small, false),
  ];
  for (const name of ['gvt', 'analysis-lps', 'model']) {
    expect(timeless(other.file(name)).equals(timeless(one.file(name)))).toBe(true);
  }
});
