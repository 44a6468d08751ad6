/** Recordings that a file's tests open, in a folder of its own; all is closed and removed behind them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenRecording, openRecording } from 'triscope/query';
import { afterAll, afterEach } from 'vitest';
import type { Values } from './recording.ts';

export const folder = mkdtempSync(join(tmpdir(), 'query-'));
afterAll(() => rmSync(folder, { recursive: true }));

const opened: OpenRecording[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

export async function open(path: string, ...more: string[]): Promise<OpenRecording> {
  const recording = await openRecording(path, ...more);
  opened.push(recording);
  return recording;
}

let made = 0;
export const freshFolder = (): string => join(folder, `${++made}`);
export const fresh = (name = 'run'): string => join(freshFolder(), `${name}.tri`);

/** Two PEs, a sample each half second: PE 0 rolls back 10 of 100 events, PE 1 50 of 100. */
export const samples = (seconds: number): Values[] =>
  Array.from({ length: seconds * 2 }, (_, k) => (k + 1) / 2).flatMap((real_time) =>
    [0, 1].map((pe_id) => ({
      pe_id,
      real_time,
      mode: 'gvt',
      events_processed: 100,
      events_rolled_back: pe_id === 0 ? 10 : 50,
      total_rollbacks: 5,
    })),
  );
