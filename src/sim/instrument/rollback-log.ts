/** Every rollback of one PE: what caused it, how deep it went, what it undid. */
import {
  ROW_FIELDS,
  ROW_GVT,
  ROW_GVT_INDEX,
  ROW_KIND,
  ROW_MODE,
  ROW_PAYLOAD,
  ROW_REAL,
  ROW_ROLLBACK,
  ROW_VIRTUAL,
  ROW_WORDS,
} from '../../model/schemas/ross-rows.ts';
import type { RunClock } from '../../os/run-clock.ts';
import * as layout from '../layout.ts';
import type { Pe } from '../pe.ts';
import type { SlabWriter } from './slab.ts';

const { ORIGIN_SHIFT, RECV, REMOTE, SEND, SOURCE, STATE } = layout;

/** Indices of CAUSES. */
export const BY_STRAGGLER = 0;
export const BY_CANCELLATION = 1;
export const BY_ABORT = 2;
export const BY_CANCELBACK = 3;

const WORDS = ROW_WORDS[ROW_ROLLBACK];

export class RollbackLog {
  /** Number of the current rollback, or of the last one. */
  current = 0;
  private readonly pe: Pe;
  private readonly slab: SlabWriter;
  private readonly clock: RunClock;
  /** The last GVT, set from outside. */
  gvt = 0;
  gvtIndex = 0;
  private row = -1;
  private undone = 0;

  constructor(pe: Pe, slab: SlabWriter, clock: RunClock) {
    this.pe = pe;
    this.slab = slab;
    this.clock = clock;
  }

  /**
   * A rollback of `kp` to event `h` begins.
   * @param newest receive time of the KP's newest event
   * @param parentPe, parentId the rollback that cancelled `h`; 0 if there is none
   */
  begin(
    cause: number,
    kp: number,
    h: number,
    newest: number,
    parentPe: number,
    parentId: number,
  ): void {
    const { pe, slab } = this;
    this.current++;
    this.undone = 0;
    this.row = -1;
    if (!slab.ensure(WORDS)) return;
    const at = slab.at;
    slab.at = at + WORDS;
    this.row = at;
    const { i32, f64 } = slab;
    const { F, I } = pe.pool;
    const state = I[(h << 1) + STATE];
    i32[at + ROW_KIND] = ROW_ROLLBACK;
    i32[at + ROW_PAYLOAD] = 0;
    f64[(at + ROW_REAL) >> 1] = this.clock.now();
    f64[(at + ROW_VIRTUAL) >> 1] = F[h + RECV];
    f64[(at + ROW_GVT) >> 1] = this.gvt;
    i32[at + ROW_GVT_INDEX] = this.gvtIndex;
    i32[at + ROW_MODE] = 0;
    const w = at + ROW_FIELDS;
    i32[w] = pe.number;
    i32[w + 1] = kp;
    i32[w + 2] = this.current;
    i32[w + 3] = cause;
    i32[w + 4] = parentPe;
    i32[w + 5] = parentId;
    i32[w + 6] = (state & REMOTE) !== 0 ? state >> ORIGIN_SHIFT : pe.number;
    i32[w + 7] = I[(h << 1) + SOURCE];
    i32[w + 8] = 0;
    i32[w + 9] = 0;
    const d = (w + 10) >> 1;
    f64[d] = F[h + SEND];
    f64[d + 1] = F[h + RECV];
    f64[d + 2] = Math.max(0, newest - F[h + RECV]);
  }

  /** One event of the KP has been undone. */
  undid(): void {
    this.undone++;
  }

  end(): void {
    if (this.row >= 0) this.slab.i32[this.row + ROW_FIELDS + 8] = this.undone;
  }
}
