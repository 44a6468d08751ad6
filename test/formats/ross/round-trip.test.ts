/** What is written comes back, for every layout, in both byte orders. */

import * as fc from 'fast-check';
import { batchesOf, bytesSource, ROSS, writeEvent24At, writeEvent2017 } from 'triscope/formats';
import { describe, expect, it } from 'vitest';
import { KP_FIELDS, LP_FIELDS, PE_FIELDS } from '../../../src/model/schemas/ross.ts';
import { readBytes } from './support/read.ts';
import { ourReadme, rossReadme } from './support/readme.ts';
import { encode, type Row } from './support/rows.ts';

const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const time = fc.double({ min: 0, max: 1e300, noNaN: true });
const time32 = fc.float({ min: 0, max: Math.fround(1e30), noNaN: true });
const efficiency = fc.float({ min: Math.fround(-1e30), max: 100, noNaN: true });

function values(fields: readonly { key: string; cell: string }[], ids: Record<string, number>) {
  const arbitraries = fields.map(({ key, cell }) => {
    if (key in ids) return fc.constant(ids[key]);
    if (key === 'efficiency') return efficiency;
    return cell === 'f32' ? time32 : u32;
  });
  return fc.tuple(...arbitraries, u32).map((all) => ({
    ...Object.fromEntries(fields.map(({ key }, k) => [key, all[k] as number])),
    remote_events: all[fields.length] as number,
  }));
}

/** A sampling point with 2 KPs and 3 LPs where `detailed`. */
const point = (mode: 1 | 2, detailed: boolean, withKps: boolean) =>
  fc
    .record({ pe: fc.integer({ min: 0, max: 1 }), real: time, gvt: time })
    .chain(({ pe, real, gvt }) => {
      const row = (kind: 0 | 1 | 2, v: Record<string, number>): Row => ({
        kind,
        mode,
        real,
        virtual: gvt,
        gvt,
        values: v,
      });
      return fc
        .tuple(
          values(PE_FIELDS, { pe_id: pe }),
          fc.tuple(...[0, 1].map((kp) => values(KP_FIELDS, { pe_id: pe, kp_id: kp }))),
          fc.tuple(
            ...[0, 1, 2].map((lp) =>
              values(LP_FIELDS, { pe_id: pe, kp_id: lp >> 1, lp_id: 3 * pe + lp }),
            ),
          ),
        )
        .map(([p, kps, lps]) => [
          row(0, p),
          ...(withKps ? kps.map((v) => row(1, v)) : []),
          ...(detailed ? lps.map((v) => row(2, v)) : []),
        ]);
    });

const model = (mode: 1 | 2 | 3): fc.Arbitrary<Row> =>
  fc
    .record({
      lp: u32,
      real: time,
      virtual: time,
      gvt: time32,
      payload: fc.uint8Array({ maxLength: 20 }),
    })
    .map(({ lp, real, virtual, gvt, payload }) => ({
      kind: 3,
      mode,
      real,
      virtual,
      gvt,
      values: { pe_id: 1, kp_id: 2, lp_id: lp },
      payload,
    }));

const KINDS = ['pe', 'kp', 'lp', 'model'];
const FIELDS = [PE_FIELDS, KP_FIELDS, LP_FIELDS];
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** What a framed file must give for a row. */
function expected(row: Row): Record<string, unknown> {
  const { kind, mode, virtual, real, values: v, gvt, payload = new Uint8Array() } = row;
  if (kind < 3) {
    const fields = FIELDS[kind].map(({ key }) => [key, v[key]]);
    return {
      kind: KINDS[kind],
      virtual_time: virtual,
      real_time: real,
      ...Object.fromEntries(fields),
    };
  }
  const ids = { pe_id: v.pe_id, kp_id: v.kp_id, lp_id: v.lp_id };
  const data = { model_size: payload.length, model_data: hex(payload) };
  if (mode === 3) return { kind: 'vt_model', virtual_time: virtual, ...ids, ...data };
  const times = { virtual_time: virtual, real_time: real };
  return { kind: 'model', ...times, ...ids, gvt: Math.fround(gvt), stats_type: mode, ...data };
}

describe.each(['ross-7', 'ross-8.1'] as const)('%s', (layout) => {
  const rows = fc
    .array(
      fc.oneof(
        point(1, true, true),
        model(1).map((m) => [m]),
        model(3).map((m) => [m]),
      ),
      {
        minLength: 1,
        maxLength: 12,
      },
    )
    .map((all) => all.flat());

  it('gives back every row', () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 64, max: 400 }), (given, bufferBytes) => {
        const { rows: got, fault } = readBytes('a-gvt.bin', encode(layout, given), { bufferBytes });
        expect(fault).toBe(null);
        expect(got).toEqual(given.map(expected));
      }),
      { numRuns: 150 },
    );
  });

  it('gives back every row from a file of the other byte order', () => {
    fc.assert(
      fc.property(rows, (given) => {
        const swapped = swapFramed(encode(layout, given));
        const { rows: got, fault } = readBytes('a-gvt.bin', swapped);
        expect(fault).toBe(null);
        expect(got).toEqual(given.map(expected));
      }),
      { numRuns: 80 },
    );
  });

  it('gives columns with the same values', () => {
    fc.assert(
      fc.property(rows, (given) => {
        const want = given.map(expected);
        const source = bytesSource('a-gvt.bin', encode(layout, given));
        const seen: Record<string, number> = {};
        const { parts } = ROSS.open(source);
        for (const { schema, columns, rows: length } of parts.flatMap((part) => [
          ...batchesOf(part),
        ])) {
          const of = (key: string) => columns[schema.metrics.findIndex((m) => m.key === key)];
          const isVt = schema.name === 'ross_model' && of('mode')[0] === 'vt';
          const kind = isVt ? 'vt_model' : schema.name.replace('ross_', '');
          const mine = want.filter((row) => row.kind === kind);
          const from = seen[kind] ?? 0;
          seen[kind] = from + length;
          schema.metrics.forEach(({ key }, k) => {
            const rowsHere = mine.slice(from, from + length);
            if (rowsHere[0]?.[key] === undefined) return;
            expect(Array.from(columns[k] as ArrayLike<unknown>)).toEqual(
              rowsHere.map((row) => row[key]),
            );
          });
        }
        expect(Object.values(seen).reduce((a, b) => a + b, 0)).toBe(given.length);
      }),
      { numRuns: 80 },
    );
  });
});

/** Reverses the bytes of every number of a framed file; payloads stay. */
function swapFramed(bytes: Uint8Array): Uint8Array {
  const out = bytes.slice();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const flip = (at: number, width: number) => out.subarray(at, at + width).reverse();
  for (let at = 0; at < bytes.length; ) {
    const kind = view.getInt32(at, true);
    const size = view.getInt32(at + 4, true);
    const framed = (kind < 3 && [104, 44, 36, 48].includes(size)) || (kind === 3 && size === 24);
    if (!framed) {
      for (let k = 0; k < 5; k++) flip(at + 8 * k, 8);
      flip(at + 40, 4);
      flip(at + 44, 4);
      at += 48 + view.getInt32(at + 40, true);
      continue;
    }
    flip(at, 4);
    flip(at + 4, 4);
    flip(at + 8, 8);
    flip(at + 16, 8);
    for (let k = 0; k < size; k += 4) flip(at + 24 + k, 4);
    at += 24 + size + (kind === 3 ? view.getUint32(at + 44, true) : 0);
  }
  return out;
}

describe('2017', () => {
  /** GVT grows within a PE, as it must. */
  const growing = (points: readonly (readonly Row[])[]): Row[] =>
    points.flatMap((rows, k) => rows.map((row) => ({ ...row, gvt: k, virtual: k, real: k / 2 })));

  describe.each([
    ['gvt', 1, false, false],
    ['gvt', 1, true, true],
    ['rt', 2, false, true],
    ['rt', 2, true, true],
  ] as const)('%s, mode %i, detailed %s, with KPs %s', (suffix, mode, detailed, withKps) => {
    it('gives back what it has', () => {
      const points = fc.array(point(mode, detailed, withKps), { minLength: 2, maxLength: 10 });
      fc.assert(
        fc.property(points, (given) => {
          const rows = growing(given);
          const bytes = encode('ross-2017', rows);
          const beside = { 'a-README.txt': ourReadme({ detailed }) };
          const { rows: got, fault } = readBytes(`a-${suffix}.bin`, bytes, {}, beside);
          expect(fault).toBe(null);
          const wanted = rows.filter((row) => row.kind !== 1 || mode === 2 || detailed);
          expect(got.map((row) => row.kind)).toEqual(wanted.map((row) => KINDS[row.kind]));
          got.forEach((row, k) => {
            const { values: v, gvt, real } = wanted[k];
            const all: Record<string, number> = {
              ...v,
              virtual_time: gvt,
              real_time: real,
              remote_events:
                suffix === 'rt' && !detailed ? v.remote_events : (v.remote_events ?? 0) | 0,
              net_events: (v.events_processed - v.events_rolled_back) | 0,
            };
            for (const [key, value] of Object.entries(row)) {
              if (key !== 'kind') expect([key, value]).toEqual([key, all[key]]);
            }
          });
        }),
        { numRuns: 60 },
      );
    });
  });

  it('tells packed events by what is in them', () => {
    const event = fc.record({
      src: fc.integer({ min: 0, max: 1000 }),
      dst: fc.integer({ min: 0, max: 1000 }),
      // Times that small integers would be, taken for doubles, are none of a simulation's.
      send: fc.oneof(fc.constant(0), fc.double({ min: 1e-9, max: 1e6, noNaN: true })),
      delay: fc.double({ min: 1e-9, max: 10, noNaN: true }),
    });
    const trace = fc.record({
      events: fc.array(event, { minLength: 5, maxLength: 20 }),
      duration: fc.boolean(),
      payload: fc.constantFrom(0, 4, 7),
    });
    fc.assert(
      fc.property(trace, ({ events, duration, payload }) => {
        const size = (duration ? 48 : 40) + payload;
        const bytes = new Uint8Array(events.length * size);
        const view = new DataView(bytes.buffer);
        events.forEach(({ src, dst, send, delay }, k) => {
          const real = 1e4 + k;
          const end = writeEvent2017(
            view,
            k * size,
            src,
            dst,
            send + delay,
            send,
            real,
            ...(duration ? [1e-6] : []),
          );
          bytes.fill(0xaa, end, end + payload);
        });
        const beside = {
          'a-README.txt': rossReadme({ 'event-trace': duration ? '1' : '3' }, { lpsPerPe: [1001] }),
        };
        const { rows, fault } = readBytes('a-evtrace.bin', bytes, {}, beside);
        expect(fault).toBe(null);
        expect(rows).toEqual(
          events.map(({ src, dst, send, delay }, k) => ({
            kind: 'event',
            source_lp: src,
            destination_lp: dst,
            virtual_send_time: send,
            virtual_recv_time: send + delay,
            real_time: 1e4 + k,
            ...(duration && { duration: 1e-6 }),
            model_data_size: payload,
            model_data: 'aa'.repeat(payload),
          })),
        );
      }),
      { numRuns: 60 },
    );
  });
});

it('events with payloads of any size', () => {
  const event = fc.record({
    src: u32,
    dst: u32,
    send: fc.float({ min: 0, max: 1000, noNaN: true }),
    recv: fc.float({ min: 1000, max: 2000, noNaN: true }),
    payload: fc.uint8Array({ maxLength: 9 }),
  });
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 30 }), (events) => {
      const bytes = new Uint8Array(events.reduce((n, e) => n + 24 + e.payload.length, 0));
      const view = new DataView(bytes.buffer);
      let at = 0;
      for (const { src, dst, send, recv, payload } of events) {
        at = writeEvent24At(view, at, src, dst, send, recv, 7.5, payload.length);
        bytes.set(payload, at);
        at += payload.length;
      }
      const { rows, fault } = readBytes('a-evtrace.bin', bytes, { bufferBytes: 64 });
      expect(fault).toBe(null);
      expect(rows).toEqual(
        events.map(({ src, dst, send, recv, payload }) => ({
          kind: 'event',
          source_lp: src,
          destination_lp: dst,
          virtual_send_time: send,
          virtual_recv_time: recv,
          real_time: 7.5,
          model_data_size: payload.length,
          model_data: hex(payload),
        })),
      );
    }),
    { numRuns: 150 },
  );
});

it('an event of 2017 whose duration was not measured has no number there', () => {
  const bytes = new Uint8Array(6 * 48);
  const view = new DataView(bytes.buffer);
  for (let k = 0; k < 6; k++) writeEvent2017(view, 48 * k, k, 1, k + 1, k, 2, Number.NaN);
  const beside = { 'a-README.txt': ourReadme({ trace: 1 }) };
  const { rows } = readBytes('a-evtrace.bin', bytes, {}, beside);
  expect(rows).toHaveLength(6);
  expect(rows[5]).toMatchObject({
    source_lp: 5,
    real_time: 2,
    duration: Number.NaN,
    model_data: '',
  });
});
