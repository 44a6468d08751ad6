// The data that bench/web.mjs shows: a recording with samples of KPs and PEs and traced events, and samples of a live run.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FrameEncoder } from '../dist/formats/frames/index.js';
import { ROSS_EVENT, ROSS_KP, ROSS_PE } from '../dist/model/schemas/ross.js';

export { ROSS_PE };

export const KPS = 1024;
export const PES = 16;
export const PERIOD = 0.1;
export const LIVE_PES = 256;

const ARRAYS = {
  u32: Uint32Array,
  i32: Int32Array,
  u64: BigUint64Array,
  f32: Float32Array,
  f64: Float64Array,
};
/** A batch of `rows`; `set` returns values by key and row, 0 if it has none. */
export function batchOf(schema, rows, set) {
  const columns = schema.metrics.map(({ key, cell }) => {
    if (cell === 'label') return new Array(rows).fill(set(key, 0) ?? '');
    const column = new ARRAYS[cell](rows);
    if (cell !== 'u64') for (let row = 0; row < rows; row++) column[row] = set(key, row) ?? 0;
    return column;
  });
  return { schema, rows, columns };
}

const wave = (step, entity) => 1 + Math.sin(step / 40 + entity / 7);
const sampleOf = (step, perPe) => (key, row) => {
  const pe = perPe === 1 ? row : Math.floor(row / perPe);
  switch (key) {
    case 'real_time':
      return (step + 1) * PERIOD;
    case 'virtual_time':
    case 'gvt':
    case 'gvt_index':
      return step + 1;
    case 'mode':
      return 'gvt';
    case 'pe_id':
      return pe;
    case 'kp_id':
      return row % perPe;
    case 'events_processed':
      return 100 * wave(step, row);
    case 'events_rolled_back':
      return 20 * wave(step + 20, row);
    case 'events_processed_time':
    case 'rollback_time':
      return 0.02 * wave(step, pe);
    default:
      return undefined;
  }
};
export const liveSample = (step) => sampleOf(step, 1);

/** Seconds that a recording of `samples` spans. */
export const endOf = (samples) => Math.ceil(samples / KPS) * PERIOD;

/** A recording in `folder` of about `samples` of KPs, and as many events; its path. */
export function record(folder, samples) {
  const path = join(folder, 'bench.tri');
  mkdirSync(path);
  const encoder = new FrameEncoder();
  const frames = [];
  const end = endOf(samples);
  for (let step = 0; step < Math.ceil(samples / KPS); step++) {
    frames.push(...encoder.encode(batchOf(ROSS_KP, KPS, sampleOf(step, KPS / PES))));
    frames.push(...encoder.encode(batchOf(ROSS_PE, PES, sampleOf(step, 1))));
  }
  const rows = 10_000;
  for (let first = 0; first < samples; first += rows) {
    const at = (row) => ((first + row) / samples) * end;
    const event = (key, row) => {
      if (key === 'source_lp') return (first + row * 7919) % 4096;
      if (key === 'destination_lp') return (first + row * 104_729) % 4096;
      if (key === 'real_time') return at(row);
      if (key.startsWith('virtual')) return at(row) * 10 + (key === 'virtual_recv_time' ? 1 : 0);
      return undefined;
    };
    frames.push(...encoder.encode(batchOf(ROSS_EVENT, rows, event)));
  }
  writeFileSync(join(path, 'extra.frames'), Buffer.concat(frames));
  const zero = '1795245576000000000';
  const files = [{ path: 'extra.frames', format: 'frames' }];
  const host = { name: 'n1', platform: 'linux', arch: 'x64', cpus: PES, cpuModel: '', memory: 1 };
  const recording = {
    version: 1,
    state: 'finished',
    madeBy: { command: ['bench'], triscope: '0', node: '20' },
    started: '2026-11-21T00:00:00Z',
    hosts: [host],
    sources: [{ name: 'sim', files, zero, droppedBytes: 0 }],
    pes: Array.from({ length: PES }, (_, pe) => ({
      ...{ pe, rank: 0, host: 'n1', cpu: pe, threadId: null },
    })),
  };
  writeFileSync(join(path, 'recording.json'), JSON.stringify(recording));
  return path;
}
