/** Rows to bytes: what the documentation says, byte by byte. */

import {
  encodedBytes,
  encodeRows,
  lpMappingText,
  type RossLayout,
  readmeText,
  writeEvent24,
  writeEvent2017,
} from 'triscope/formats';
import { describe, expect, it } from 'vitest';
import { lpPlaces } from '../../../src/formats/ross/read/lp-mapping.ts';
import { KP_FIELDS, LP_FIELDS, PE_FIELDS } from '../../../src/model/schemas/ross.ts';
import { type Row, rowsOf } from './support/rows.ts';

function encode(layout: RossLayout, rows: readonly Row[], lastGvts?: Uint32Array): DataView {
  const words = rowsOf(rows);
  const size = encodedBytes(layout, words, 0, words.length);
  const out = new Uint8Array(size + 8).fill(0xee);
  expect(encodeRows(layout, words, 0, words.length, out, 4, lastGvts?.slice())).toBe(size);
  expect([...out.subarray(0, 4), ...out.subarray(4 + size)]).toEqual(Array(8).fill(0xee));
  const odd = new Uint8Array(size + 3);
  encodeRows(layout, words, 0, words.length, odd, 3, lastGvts);
  expect(odd.subarray(3)).toEqual(out.subarray(4, 4 + size));
  return new DataView(out.buffer, 4, size);
}

const numbered = (fields: readonly { key: string }[], from: number) =>
  Object.fromEntries(fields.map(({ key }, k) => [key, from + k]));
const PE: Row = {
  kind: 0,
  mode: 2,
  real: 1.5,
  virtual: 20.25,
  gvt: 20.25,
  values: { ...numbered(PE_FIELDS, 1000), pe_id: 3, remote_events: 77 },
};
const KP: Row = { ...PE, kind: 1, values: { ...numbered(KP_FIELDS, 2000), pe_id: 3, kp_id: 1 } };
const LP: Row = {
  ...PE,
  kind: 2,
  values: { ...numbered(LP_FIELDS, 3000), pe_id: 3, kp_id: 1, lp_id: 9, remote_events: 66 },
};
const MODEL: Row = {
  kind: 3,
  mode: 1,
  real: 2.5,
  virtual: 30.5,
  gvt: 30.25,
  values: { pe_id: 1, kp_id: 2, lp_id: 3 },
  payload: Uint8Array.of(1, 2, 3, 4, 5),
};

const frame = (view: DataView, at: number) => [
  view.getInt32(at, true),
  view.getInt32(at + 4, true),
  view.getFloat64(at + 8, true),
  view.getFloat64(at + 16, true),
];
const u32s = (view: DataView, at: number, n: number) =>
  Array.from({ length: n }, (_, k) => view.getUint32(at + 4 * k, true));
const f32s = (view: DataView, at: number, n: number) =>
  Array.from({ length: n }, (_, k) => view.getFloat32(at + 4 * k, true));
const range = (from: number, n: number) => Array.from({ length: n }, (_, k) => from + k);

describe('framed samples', () => {
  it('of a PE take 24 and 104 bytes', () => {
    const view = encode('ross-7', [PE]);
    expect(view.byteLength).toBe(128);
    expect(frame(view, 0)).toEqual([0, 104, 20.25, 1.5]);
    expect(u32s(view, 24, 13)).toEqual([3, ...range(1001, 12)]);
    expect(f32s(view, 76, 13)).toEqual(range(1013, 13));
  });

  it('of a KP take 24 and 44', () => {
    const view = encode('ross-7', [KP]);
    expect(view.byteLength).toBe(68);
    expect(frame(view, 0)).toEqual([1, 44, 20.25, 1.5]);
    expect(u32s(view, 24, 9)).toEqual([3, 1, ...range(2002, 7)]);
    expect(f32s(view, 60, 2)).toEqual([2009, 2010]);
  });

  it('of an LP take 24 and 36, and 48 from v8.1.0 on', () => {
    const view = encode('ross-7', [LP]);
    expect(view.byteLength).toBe(60);
    expect(frame(view, 0)).toEqual([2, 36, 20.25, 1.5]);
    expect(u32s(view, 24, 8)).toEqual([3, 1, 9, ...range(3003, 5)]);
    expect(f32s(view, 56, 1)).toEqual([3008]);
    const wide = encode('ross-8.1', [LP]);
    expect(wide.byteLength).toBe(72);
    expect(frame(wide, 0)).toEqual([2, 48, 20.25, 1.5]);
    expect(u32s(wide, 24, 8)).toEqual([3, 1, 9, ...range(3003, 5)]);
    expect(u32s(wide, 56, 2)).toEqual([0, 0]);
    expect(f32s(wide, 64, 2)).toEqual([3008, 0]);
  });

  it('of a model have metadata, then the model’s bytes; whatever follows is whole', () => {
    const view = encode('ross-7', [MODEL, PE, LP]);
    expect(view.byteLength).toBe(53 + 128 + 60);
    expect(frame(view, 0)).toEqual([3, 24, 30.5, 2.5]);
    expect(u32s(view, 24, 3)).toEqual([1, 2, 3]);
    expect(view.getFloat32(36, true)).toBe(30.25);
    expect(u32s(view, 40, 2)).toEqual([1, 5]);
    expect([...new Uint8Array(view.buffer, view.byteOffset + 48, 5)]).toEqual([1, 2, 3, 4, 5]);
    expect(frame(view, 53)).toEqual([0, 104, 20.25, 1.5]);
    expect(u32s(view, 53 + 24, 2)).toEqual([3, 1001]);
    expect(frame(view, 181)).toEqual([2, 36, 20.25, 1.5]);
  });

  it('of a model in virtual time have a header of their own', () => {
    const view = encode('ross-8.1', [{ ...MODEL, mode: 3 }]);
    expect(view.byteLength).toBe(53);
    expect([0, 8, 16].map((at) => view.getBigUint64(at, true))).toEqual([3n, 2n, 1n]);
    expect([view.getFloat64(24, true), view.getFloat64(32, true)]).toEqual([30.5, 2.5]);
    expect([view.getInt32(40, true), view.getInt32(44, true)]).toEqual([5, 3]);
  });
});

describe('records of 2017', () => {
  const gvt = (row: Row): Row => ({ ...row, mode: 1 });
  const key = (name: string) => 1000 + PE_FIELDS.findIndex((f) => f.key === name);

  it('at GVT, PEs only: 58 bytes', () => {
    const view = encode('ross-2017', [gvt(PE)]);
    expect(view.byteLength).toBe(58);
    expect(view.getUint16(0, true)).toBe(3);
    expect(f32s(view, 2, 2)).toEqual([20.25, 1.5]);
    const want = ['all_reduce_count', 'events_processed', 'events_aborted', 'events_rolled_back'];
    want.push('pe_event_ties', 'total_rollbacks', 'secondary_rollbacks');
    want.push('fossil_collect_attempts', 'network_sends', 'network_receives');
    expect(u32s(view, 10, 11)).toEqual([...want.map(key), 77]);
    expect(f32s(view, 54, 1)).toEqual([key('efficiency')]);
  });

  it('at GVT with KPs and LPs', () => {
    const view = encode('ross-2017', [PE, KP, KP, LP].map(gvt));
    expect(view.byteLength).toBe(34 + 16 + 20);
    expect(u32s(view, 10, 4)).toEqual(
      ['all_reduce_count', 'events_aborted', 'pe_event_ties', 'fossil_collect_attempts'].map(key),
    );
    expect(view.getInt32(26, true)).toBe(key('events_processed') - key('events_rolled_back'));
    expect(f32s(view, 30, 1)).toEqual([key('efficiency')]);
    expect(u32s(view, 34, 4)).toEqual([2005, 2006, 2005, 2006]);
    expect(u32s(view, 50, 5)).toEqual([3003, 3005, 3006, 3007, 66]);
  });

  it('in real time, PEs only; the number of GVTs is a change', () => {
    const last = new Uint32Array(4).fill(10);
    const view = encode('ross-2017', [PE, KP, KP], last);
    expect(view.byteLength).toBe(10 + 8 + 44 + 48);
    expect(f32s(view, 2, 4)).toEqual([1.5, 20.25, 2009, 2009]);
    const times = PE_FIELDS.filter((f) => f.key.endsWith('_time')).map((f) => f.key);
    expect(f32s(view, 18, 11)).toEqual(times.filter((k) => k !== 'network_other_time').map(key));
    const counters = u32s(view, 62, 12);
    expect(counters[2]).toBe(77);
    expect(counters[7]).toBe(key('num_gvts') - 10);
    expect(last[3]).toBe(key('num_gvts'));
  });

  it('in real time with KPs and LPs', () => {
    const view = encode('ross-2017', [PE, KP, LP, LP]);
    expect(view.byteLength).toBe(10 + 4 + 44 + 20 + 8 + 40);
    expect(u32s(view, 14 + 44 + 20, 2)).toEqual([2005, 2006]);
  });

  it('have no place for virtual-time samples, nor for PE 65536', () => {
    expect(() => encode('ross-2017', [{ ...MODEL, mode: 3 }])).toThrow(/no samples of mode vt/);
    expect(() => encode('ross-2017', [{ ...PE, values: { pe_id: 65536 } }])).toThrow(/PE 65536/);
    expect(() => encode('ross-2017', [KP])).toThrow(/a PE's row begins/);
  });

  it('of a model', () => {
    const view = encode('ross-2017', [MODEL]);
    expect(view.byteLength).toBe(33);
    expect(view.getBigUint64(0, true)).toBe(3n);
    expect([view.getFloat64(8, true), view.getFloat64(16, true)]).toEqual([2.5, 30.25]);
    expect(view.getInt32(24, true)).toBe(1);
  });
});

it('events', () => {
  const u32 = new Uint32Array(8);
  const f32 = new Float32Array(u32.buffer);
  expect(writeEvent24(u32, f32, 1, 4, 5, 0.5, 1.5, 2.5, 8)).toBe(7);
  const view = new DataView(u32.buffer, 4);
  expect(u32s(view, 0, 2)).toEqual([4, 5]);
  expect(f32s(view, 8, 3)).toEqual([0.5, 1.5, 2.5]);
  expect(view.getUint32(20, true)).toBe(8);
  const old = new DataView(new ArrayBuffer(48));
  expect(writeEvent2017(old, 0, 4, 5, 1.5, 0.5, 2.5, 1e-6)).toBe(48);
  expect([old.getBigUint64(0, true), old.getBigUint64(8, true)]).toEqual([4n, 5n]);
  expect([16, 24, 32, 40].map((at) => old.getFloat64(at, true))).toEqual([1.5, 0.5, 2.5, 1e-6]);
  expect(writeEvent2017(old, 0, 4, 5, 1.5, 0.5, 2.5)).toBe(40);
});

it('the texts beside the files', () => {
  const text = readmeText({
    layout: 'ross-2017',
    kpsPerPe: 2,
    lpsPerPe: [4, 3],
    detailed: true,
    gvt: true,
    rt: true,
    created: new Date(Date.UTC(2026, 10, 1, 2, 4, 9)),
    version: 'Triscope 1',
    groups: [
      {
        title: 'ROSS Kernel',
        options: [
          ['synch', '3'],
          ['max-opt-lookahead', '7'],
          ['help', null],
        ],
      },
    ],
  });
  const head = ['GRANULARITY=1', 'NUM_PE=2', 'NUM_KP=2', 'LP_PER_PE=4,3', 'NUM_GVT_VALS_PE=4'];
  expect(text.split('\n').slice(0, 5)).toEqual(head);
  expect(text).toContain(
    '\nNUM_EV_CTRS_LP=4\nLAYOUT=ross-2017\nBYTE_ORDER=little\nEVENT_TRACE=0\nEND\n\nInfo for ROSS run.\n',
  );
  expect(text).toContain('Date Created:\tSun Nov  1 02:04:09 2026\n');
  expect(text).toContain(
    '  --synch             3\n  --max-opt-lookahead\n                      7\n',
  );
  const typeOf = (lp: number) => (lp < 2 ? 'server' : 'queue');
  const mapping = lpMappingText({ peOf: [0, 0, 1], kpOf: [0, 1, 0], typeOf });
  expect(mapping).toBe('PE,KP,LP,type\n0,0,0,server\n0,1,1,server\n1,0,2,queue\n');
  const places = [
    { lp: 0, pe: 0, kp: 0 },
    { lp: 1, pe: 0, kp: 1 },
    { lp: 2, pe: 1, kp: 0 },
  ];
  expect(lpPlaces(mapping)).toEqual(places);
  // As recordings had it before.
  expect(lpPlaces('0 0 0\n1 0 1\n2 1 0\n')).toEqual(places);
  expect(lpPlaces('0,0,0,server\nhello\n')).toBeNull();
});
