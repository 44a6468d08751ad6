/** Hand-made recordings: a folder with recording.json, extra.frames and raw stats files. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FrameEncoder } from '../../../src/formats/frames/index.ts';
import type { Batch, Column, Schema } from '../../../src/model/metric.ts';
import type { Recording, RecordingPe } from '../../../src/model/recording.ts';

/** 2026-03-01T12:00:00Z in seconds. */
export const NOON = 1772366400;

export type Values = Readonly<Record<string, number | bigint | string | undefined>>;

const ARRAYS = {
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

/** A batch of rows; columns that a row does not name are 0, NaN where they are floating, or ''. */
export function batchOf(schema: Schema, rows: readonly Values[]): Batch {
  const columns = schema.metrics.map(({ key, cell }): Column => {
    const values = rows.map((row) => row[key]);
    if (cell === 'label') return values.map((value) => String(value ?? ''));
    if (cell === 'u64') return new BigUint64Array(values.map((value) => BigInt(value ?? 0)));
    const missing = cell === 'f32' || cell === 'f64' ? Number.NaN : 0;
    return ARRAYS[cell].from(values.map((value) => Number(value ?? missing)));
  });
  return { schema, rows: rows.length, columns };
}

export function framesOf(...batches: readonly Batch[]): Uint8Array {
  const encoder = new FrameEncoder();
  return Buffer.concat(batches.flatMap((batch) => encoder.encode(batch)));
}

/** A raw stats file of `cpu` and `cpu_steal`: a group a time (s since 1970), cs in each state per CPU. */
export function rawStats(
  host: string,
  groups: readonly { time: number; cpus: readonly Values[] }[],
): string {
  const cpu = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq'];
  const steal = ['steal', 'guest', 'guest_nice'];
  const line = (type: string, keys: readonly string[], device: number, values: Values) =>
    [type, device, ...keys.map((key) => values[key] ?? 0)].join(' ');
  return [
    '$hpcperfstats 2.3',
    `$hostname ${host}`,
    `!cpu ${cpu.map((key) => `${key},E,U=cs`).join(' ')}`,
    `!cpu_steal ${steal.map((key) => `${key},E,U=cs`).join(' ')}`,
    ...groups.flatMap(({ time, cpus }) => [
      '',
      `${time.toFixed(6)} - ${host}`,
      ...cpus.map((values, k) => line('cpu', cpu, k, values)),
      ...cpus.map((values, k) => line('cpu_steal', steal, k, values)),
    ]),
    '',
  ].join('\n');
}

export const nanoseconds = (seconds: number): string =>
  `${BigInt(Math.round(seconds * 1e6)) * 1000n}`;

export function recordingOf(more: Partial<Recording> = {}): Recording {
  return {
    version: 1,
    state: 'finished',
    madeBy: { command: ['triscope', 'sim', 'run', 'phold'], triscope: '0.1.0', node: '20.20.2' },
    started: '2026-03-01T12:00:00.000Z',
    ended: '2026-03-01T12:00:10.000Z',
    hosts: [
      { name: 'h1', platform: 'linux', arch: 'x64', cpus: 2, cpuModel: 'a CPU', memory: 2 ** 33 },
    ],
    sources: [
      {
        name: 'sim',
        files: [{ path: 'extra.frames', format: 'frames' }],
        zero: nanoseconds(NOON),
        droppedBytes: 0,
      },
    ],
    pes: [0, 1].map((pe) => placeOf({ pe, cpu: pe })),
    ...more,
  };
}

export const placeOf = (more: Partial<RecordingPe>): RecordingPe => ({
  pe: 0,
  rank: 0,
  host: 'h1',
  cpu: null,
  threadId: null,
  ...more,
});

/** Writes files, by their paths inside `folder`. */
export function writeFolder(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array | Recording>>,
): string {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    const isRaw = typeof content === 'string' || content instanceof Uint8Array;
    writeFileSync(file, isRaw ? content : JSON.stringify(content));
  }
  return folder;
}
