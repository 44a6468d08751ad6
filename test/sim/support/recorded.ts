/** Runs a model with instrumentation into a temporary folder, and reads back what was written. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type LoadedModel,
  type Model,
  type RunResult,
  type Settings,
  simulate,
} from 'triscope/sim';
import { onTestFinished } from 'vitest';
import { FrameDecoder } from '../../../src/formats/frames/index.ts';

export type Row = Readonly<Record<string, number | bigint | string>>;

export interface Recorded {
  readonly result: RunResult;
  readonly folder: string;
  /** Bytes of `ross-stats-NAME.bin`; empty where there is none. */
  file(name: string): Buffer;
  /** Rows of `extra.frames`, by schema. */
  readonly rows: ReadonlyMap<string, readonly Row[]>;
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function rowsOf(path: string): Map<string, Row[]> {
  const rows = new Map<string, Row[]>();
  for (const batch of new FrameDecoder().push(readFileSync(path))) {
    const list = rows.get(batch.schema.name) ?? [];
    rows.set(batch.schema.name, list);
    for (let k = 0; k < batch.rows; k++) {
      list.push(
        Object.fromEntries(batch.schema.metrics.map((m, c) => [m.key, batch.columns[c][k]])),
      );
    }
  }
  return rows;
}

const OFF = { gvt: false, rt: false, vt: false };

/** @param framed whether there is an `extra.frames`; without it PEs write samples as the files have them */
export async function record(
  model: Model | LoadedModel | string,
  settings: Settings,
  framed = true,
  extra: { readonly chaos?: { readonly seed: number } } = {},
): Promise<Recorded> {
  const top = temporaryFolder();
  const path = join(top, 'stats-output');
  const frames = join(top, 'extra.frames');
  const result = await simulate(
    model,
    {
      ...settings,
      instrument: { engine: OFF, model: OFF, ...settings.instrument },
    },
    {
      ...extra,
      signal: AbortSignal.timeout(240_000),
      instrument: {
        files: { path, prefix: 'ross-stats' },
        frames: framed ? frames : null,
        version: 'Triscope',
        settings: [],
      },
    },
  );
  return {
    result,
    folder: path,
    file: (name) => {
      const bin = join(path, `ross-stats-${name}.bin`);
      return existsSync(bin) ? readFileSync(bin) : Buffer.alloc(0);
    },
    rows: existsSync(frames) ? rowsOf(frames) : new Map(),
  };
}

/** Frames of a file of samples: kind, the record's words from the frame on, and where they begin. */
export function framesOf(bytes: Buffer): { kind: number; at: number; size: number }[] {
  const frames: { kind: number; at: number; size: number }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = bytes.readInt32LE(at);
    const size = bytes.readInt32LE(at + 4);
    const payload = kind === 3 ? bytes.readUInt32LE(at + 24 + 20) : 0;
    frames.push({ kind, at: at + 24, size: size + payload });
    at += 24 + size + payload;
  }
  return frames;
}
