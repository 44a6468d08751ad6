/** Where a recording's LPs are drawn: PEs are processes, KPs their threads. */

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { lpPlaces } from '../../formats/ross/read/lp-mapping.ts';
import type { TraceThread } from '../../formats/trace-event/index.ts';
import type { Sources } from '../sources.ts';
import { columnsOf } from './vectors.ts';

/** Process of LPs whose PE is not known. */
export const UNPLACED = 999_999;

export class LpThreads {
  private readonly base: number;
  private readonly byLp = new Map<number, TraceThread>();
  private readonly _lanes = new Map<string, TraceThread>();

  /** @param base number of the recording's first process */
  constructor(base: number) {
    this.base = base;
  }

  /** Threads in use. */
  get lanes(): Iterable<TraceThread> {
    return this._lanes.values();
  }

  lane(pe: number, kp: number): TraceThread {
    const key = `${pe} ${kp}`;
    let lane = this._lanes.get(key);
    if (lane === undefined) {
      lane = { pid: this.base + pe, tid: kp };
      this._lanes.set(key, lane);
    }
    return lane;
  }

  place(lp: number, pe: number, kp: number): void {
    this.byLp.set(lp, this.lane(pe, kp));
  }

  laneOf(lp: number): TraceThread {
    return this.byLp.get(lp) ?? this.lane(UNPLACED, lp);
  }

  get size(): number {
    return this.byLp.size;
  }
}

/** Fills `places` from `lp-mapping.txt`, or else from the LPs' samples. */
export async function placeLps(
  places: LpThreads,
  { files }: Sources,
  connection: DuckDBConnection,
  samples: string | null,
): Promise<void> {
  for (const { path } of files) {
    if (basename(path) === 'lp-mapping.txt') readMapping(path, places);
  }
  if (places.size > 0 || samples === null) return;
  const rows = await columnsOf(connection, `SELECT DISTINCT lp_id, pe_id, kp_id FROM ${samples}`, [
    'UINTEGER',
    'UINTEGER',
    'UINTEGER',
  ]);
  const [lp, pe, kp] = [rows.integers(0), rows.integers(1), rows.integers(2)];
  for (let row = 0; row < rows.rows; row++) places.place(lp[row], pe[row], kp[row]);
}

/** A file that is something else is left alone. */
function readMapping(path: string, places: LpThreads): void {
  for (const { lp, pe, kp } of lpPlaces(readFileSync(path, 'utf8')) ?? []) places.place(lp, pe, kp);
}
