/** Files of frames, written by us. */
import { frameCrc } from '../../src/formats/frames/encode.ts';
import { AT, HEADER_BYTES, MAGIC } from '../../src/formats/frames/layout.ts';
import { label, type Metric, type Schema } from '../../src/model/metric.ts';
import { batchOf, framesOf, type Values } from '../query/support/recording.ts';
import { type Base, baseOf } from './base.ts';

const metric = (key: string, cell: Metric['cell']): Metric => ({
  ...{ key, cell, kind: 'gauge', behaviour: 'variable', form: 'total', unit: '', over: 'last' },
  help: `${key} of a sample`,
});
const schema = (name: string, metrics: readonly Metric[]): Schema => ({
  ...{ name, domain: 'pe', help: `rows of ${name}`, metrics },
});

const SAMPLES = schema('samples', [
  metric('pe_id', 'u32'),
  metric('real_time', 'f64'),
  metric('ahead', 'i32'),
  metric('bytes', 'u64'),
  metric('share', 'f32'),
  label('mode', 'what asked for it'),
]);
const CAUSES = schema('causes', [label('cause', 'why'), metric('virtual_time', 'f64')]);

const sample = (k: number): Values => ({
  ...{ pe_id: k % 3, real_time: k / 4, ahead: -k, bytes: 2n ** 60n + BigInt(k) },
  ...{ share: k / 64, mode: `mode ${k % 5}` },
});

function small(): Uint8Array {
  const samples = Array.from({ length: 12 }, (_, k) =>
    batchOf(SAMPLES, [sample(k), sample(k + 1)].slice(0, 1 + (k % 2))),
  );
  const causes = Array.from({ length: 12 }, (_, k) =>
    batchOf(CAUSES, [{ cause: `cause ${k >> 1}`, virtual_time: k }]),
  );
  return framesOf(...samples.flatMap((batch, k) => [batch, causes[k]]));
}

/** By record: where its frame ends. */
function frameEnds(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const ends: number[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const length = view.getUint32(at + AT.length, true);
    const isData = view.getUint32(at + AT.flags, true) === 0;
    at += length;
    for (let row = isData ? view.getUint32(at - length + AT.rows, true) : 0; row > 0; row--) {
      ends.push(at);
    }
  }
  return ends;
}

/** Checksums of whatever can be a frame. */
function rightChecksums(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const length = view.getUint32(at + AT.length, true);
    if (view.getUint32(at, true) !== MAGIC || length < HEADER_BYTES || at + length > bytes.length) {
      at++;
      continue;
    }
    view.setUint32(at + AT.crc, frameCrc(bytes.subarray(at, at + length)), true);
    at += length;
  }
}

const OPTIONS = { text: false, ends: frameEnds, mend: rightChecksums, most: 1 << 20 };

export const framesBases = (): Base[] => [
  baseOf('extra.frames', small(), OPTIONS),
  baseOf('one.frames', framesOf(batchOf(CAUSES, [{ cause: 'one', virtual_time: 1 }])), OPTIONS),
];
