/** Files of ROSS's instrumentation of every era, written by us and genuine. */
import {
  encodedBytes,
  encodeRows,
  event2017Bytes,
  type ReadmeInfo,
  type RossLayout,
  readmeText,
  writeEvent24At,
  writeEvent2017,
} from 'triscope/formats';
import { type Row, rowsOf } from '../formats/ross/support/rows.ts';
import { type Base, type BaseOptions, baseOf, byOffset, byPoint } from './base.ts';
import { goldenFiles } from './golden.ts';

const point = (mode: 1 | 2 | 3, k: number, pe: number): Row[] => {
  const common = { mode, real: k + 0.5, virtual: k, gvt: k } as const;
  const counters = { events_processed: 100 + k, events_rolled_back: 10, efficiency: 88.75 };
  return [
    { ...common, kind: 0, values: { pe_id: pe, ...counters } },
    { ...common, kind: 1, values: { pe_id: pe, kp_id: 0, ...counters } },
    { ...common, kind: 2, values: { pe_id: pe, kp_id: 0, lp_id: pe, ...counters } },
  ];
};

const modelRow = (mode: 1 | 2 | 3, k: number): Row => ({
  ...{ kind: 3, mode, real: k + 0.5, virtual: k + 0.25, gvt: k },
  values: { pe_id: k % 2, kp_id: 0, lp_id: k % 4 },
  payload: Uint8Array.of(k, 2, 3, 4, 5, 6, 7, 8),
});

function encode(layout: RossLayout, rows: readonly Row[]): Uint8Array {
  const words = rowsOf(rows);
  const out = new Uint8Array(encodedBytes(layout, words, 0, words.length));
  encodeRows(layout, words, 0, words.length, out, 0);
  return out;
}

const COUNT = Array.from({ length: 12 }, (_, k) => k);
const points = (mode: 1 | 2 | 3) =>
  COUNT.slice(0, 6).flatMap((k) => [...point(mode, k, 0), ...point(mode, k, 1)]);

function events(payload: number): Uint8Array {
  const size = 24 + payload;
  const bytes = new Uint8Array(30 * size);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < 30; k++) {
    const at = writeEvent24At(view, k * size, k % 5, k % 7, k, k + 1.25, k / 8 + 3, payload);
    bytes.fill(k, at, at + payload);
  }
  return bytes;
}

function events2017(withDuration: boolean): Uint8Array {
  const size = event2017Bytes(withDuration);
  const bytes = new Uint8Array(30 * size);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < 30; k++) {
    const duration = withDuration ? 1e-6 * (k + 1) : undefined;
    writeEvent2017(view, k * size, k % 5, k % 7, k + 1.25, k + 0.5, k / 8 + 3, duration);
  }
  return bytes;
}

type Texts = Readonly<Record<string, string>>;

/**
 * What our own README says beside them: files of 2017 do not say what they are, and one without it is refused. How many
 * LPs there are, which events are traced, and the bytes of models are what the files below have.
 */
const besides = (said: Partial<ReadmeInfo>): Texts => ({
  'a-README.txt': readmeText({
    ...{ layout: 'ross-2017', kpsPerPe: 1, lpsPerPe: [1, 1], detailed: true, gvt: true, rt: true },
    ...{ created: new Date(0), version: '', groups: [], ...said },
  }),
});
const POINTS = besides({});
const EVENTS = besides({ lpsPerPe: [4, 3], trace: 1 });
const MODELS = besides({
  ...{ lpsPerPe: [2, 2], model: true, lpTypes: 'one' },
  samples: [{ name: 'one', bytes: 8, fields: [] }],
});

const fileOf =
  (ends: BaseOptions['ends']) =>
  (name: string, bytes: Uint8Array, beside: Texts = {}): Base =>
    baseOf(name, bytes, { text: false, ends, beside, most: 1600 });
/** A file of v7.0 or later. */
const ross = fileOf(byOffset);
const old = fileOf(byPoint);

const golden = (pattern: RegExp, of = ross): Base[] =>
  goldenFiles('ross', pattern)
    .filter(({ bytes }) => bytes.length > 0)
    .map(({ name, bytes, beside }) => of(name, bytes, beside));

/** Samples of v7.0 and later: records that say what they are. */
export const rossSamples = (): Base[] => [
  ross('v7/a-gvt.bin', encode('ross-7', points(1))),
  ross('v8.1/a-gvt.bin', encode('ross-8.1', points(1))),
  ross('v8.1/a-analysis-lps.bin', encode('ross-8.1', points(3))),
  ross(
    'v7/a-model.bin',
    encode(
      'ross-7',
      COUNT.map((k) => modelRow(1, k)),
    ),
  ),
  ross(
    'v7/b-analysis-lps.bin',
    encode(
      'ross-7',
      COUNT.map((k) => modelRow(3, k)),
    ),
  ),
  ...golden(/^(m|p|v)[^/]*\/.*-(gvt|rt|model|analysis-lps)\.bin$/),
];

/** Event traces of v7.0 and later. */
export const rossEvents = (): Base[] => [
  ross('v7/a-evtrace.bin', events(0)),
  ross('v7/b-evtrace.bin', events(8)),
  ...golden(/^(m|p|v)[^/]*\/.*-evtrace\.bin$/),
];

/** Everything of 2016 and 2017: records of fixed lengths that say nothing of themselves. */
export const ross2017 = (): Base[] => [
  old('2017/a-gvt.bin', encode('ross-2017', points(1)), POINTS),
  old('2017/a-rt.bin', encode('ross-2017', points(2)), POINTS),
  old(
    '2017/a-model.bin',
    encode(
      'ross-2017',
      COUNT.map((k) => modelRow(1, k)),
    ),
    MODELS,
  ),
  old('2017/a-evtrace.bin', events2017(true), EVENTS),
  ...golden(/^o[^/]*\/.*\.bin$/, old),
];
