/** Samples and recordings made by hand. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RawWriter } from 'triscope/formats/tacc';
import { FrameEncoder } from '../../../src/formats/frames/index.ts';
import type { Batch, Column, Metric, Schema } from '../../../src/model/metric.ts';
import { ROSS_PE } from '../../../src/model/schemas/ross.ts';

/** Values of a row by key; 0, or the empty text, for others. */
export type Row = Readonly<Record<string, number | bigint | string>>;

const MADE: Readonly<Record<Metric['cell'], (values: Row[string][]) => Column>> = {
  u32: (values) => Uint32Array.from(values, Number),
  i32: (values) => Int32Array.from(values, Number),
  u64: (values) => BigUint64Array.from(values, (v) => BigInt(v)),
  f32: (values) => Float32Array.from(values, Number),
  f64: (values) => Float64Array.from(values, Number),
  label: (values) => values.map((v) => (v === 0 ? '' : String(v))),
};

export function batch(schema: Schema, rows: readonly Row[]): Batch {
  const columns = schema.metrics.map(({ key, cell }) =>
    MADE[cell](rows.map((row) => row[key] ?? 0)),
  );
  return { schema, rows: rows.length, columns };
}

/** Samples of two PEs every 0.1 s: 1000 events per sample on PE 0, 500 on PE 1, of which 50 are undone. */
export function peRow(k: number, pe: number): Row {
  return {
    real_time: 0.1 * (k + 1),
    virtual_time: k,
    gvt: k,
    gvt_index: k,
    mode: 'rt',
    pe_id: pe,
    events_processed: pe === 0 ? 1000 : 500,
    events_rolled_back: pe === 0 ? 0 : 50,
    events_processed_time: 0.05,
    priority_queue_time: 0.02,
  };
}

export const peBatch = (k: number): Batch => batch(ROSS_PE, [peRow(k, 0), peRow(k, 1)]);

export const ZERO_SECONDS = 1_795_245_576;
export const HOST = 'n1';

/** The text of a raw stats file: two CPUs, 10 samples 0.1 s apart; CPU 0 half in user mode, CPU 1 fully. */
export function rawText(): string {
  let text = '';
  const keys = (names: readonly string[]) =>
    names.map((name) => ({ name, kind: 'event' as const, bits: 64, unit: 'cs' }));
  const cpu = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq'];
  const schemas = [{ type: 'cpu', keys: keys(cpu) }];
  const sink = (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString();
  };
  const writer = new RawWriter({ hostname: HOST, uname: 'Linux', uptime: 1, schemas }, sink, '2.3');
  writer.header();
  for (let k = 0; k <= 10; k++) {
    writer.group(ZERO_SECONDS * 1e6 + k * 1e5, ['7']);
    for (const device of [0, 1]) {
      writer.record('cpu', String(device));
      writer.number(1000 + k * (device === 0 ? 5 : 10));
      for (let key = 1; key < cpu.length; key++) writer.number(7);
      writer.endRecord(cpu.length);
    }
  }
  writer.flush();
  return text;
}

/** A finished recording of one second; its folder. `rowOf`: what PE `pe` has in sample `k`. */
export function recording(name = 'made', rowOf: (k: number, pe: number) => Row = peRow): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'triscope-live-')), `${name}.tri`);
  mkdirSync(join(folder, 'node', HOST), { recursive: true });
  const encoder = new FrameEncoder();
  const rows = (k: number) => batch(ROSS_PE, [rowOf(k, 0), rowOf(k, 1)]);
  const frames = Array.from({ length: 10 }, (_, k) => encoder.encode(rows(k))).flat();
  writeFileSync(join(folder, 'extra.frames'), Buffer.concat(frames));
  writeFileSync(join(folder, 'node', HOST, String(ZERO_SECONDS)), rawText());
  const zero = `${ZERO_SECONDS}000000000`;
  const source = (name: string, path: string, format: string) => ({
    name,
    files: [{ path, format }],
    zero,
    droppedBytes: 0,
  });
  const content = {
    version: 1,
    state: 'finished',
    madeBy: { command: ['sim', 'run', 'phold'], triscope: '0.1.0', node: '20.19.0' },
    started: new Date(ZERO_SECONDS * 1000).toISOString(),
    hosts: [{ name: HOST, platform: 'linux', arch: 'x64', cpus: 2, cpuModel: '', memory: 1 }],
    sources: [
      source('sim', 'extra.frames', 'frames'),
      source('node', `node/${HOST}/${ZERO_SECONDS}`, 'tacc'),
    ],
    pes: [0, 1].map((pe) => ({ pe, rank: 0, host: HOST, cpu: pe, threadId: null })),
  };
  writeFileSync(join(folder, 'recording.json'), JSON.stringify(content));
  return folder;
}
