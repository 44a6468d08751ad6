/** The two forms in which a PE writes samples: neutral rows, and the bytes of ROSS's files themselves. */
import { KP_FIELDS, LP_FIELDS, PE_FIELDS } from '../../model/schemas/ross.ts';
import {
  ROW_FIELDS,
  ROW_GVT,
  ROW_GVT_INDEX,
  ROW_KIND,
  ROW_MODE,
  ROW_REAL,
  ROW_VIRTUAL,
  ROW_WORDS,
} from '../../model/schemas/ross-rows.ts';
import type { SamplePoint } from './pe-recorder.ts';

export interface RowForm {
  readonly direct: boolean;
  /** Words of a row, by kind. */
  readonly words: readonly number[];
  /** Words before the fields, and what they hold: `at` and `begin` fill them. */
  readonly headWords: number;
  readonly head: Int32Array;
  /** Rows of a new sampling point follow. */
  at(point: SamplePoint): void;
  /** A row of kind `kind` follows. */
  begin(kind: number): void;
}

/** `model/schemas/ross-rows.ts` */
export class NeutralRows implements RowForm {
  readonly direct = false;
  readonly words = ROW_WORDS;
  readonly headWords = ROW_FIELDS;
  readonly head = new Int32Array(32);
  private readonly doubles = new Float64Array(this.head.buffer);

  constructor(mode: number) {
    this.head[ROW_MODE] = mode;
  }

  at(point: SamplePoint): void {
    this.doubles[ROW_REAL >> 1] = point.real;
    this.doubles[ROW_VIRTUAL >> 1] = point.virtual;
    this.doubles[ROW_GVT >> 1] = point.gvt;
    this.head[ROW_GVT_INDEX] = point.gvtIndex;
  }

  begin(kind: number): void {
    this.head[ROW_KIND] = kind;
  }
}

/** Bytes of each record of seed 000 (specs of ROSS 7.0 to 8.0), by kind, without its frame. */
const RECORD_BYTES = [PE_FIELDS.length * 4, KP_FIELDS.length * 4, LP_FIELDS.length * 4];
/** A frame: kind, size, virtual time, real time. */
const FRAME_WORDS = 6;

/** Seed 000: a frame of 24 bytes, then the record. */
export class FileRows implements RowForm {
  readonly direct = true;
  readonly words = RECORD_BYTES.map((bytes) => FRAME_WORDS + bytes / 4);
  readonly headWords = FRAME_WORDS;
  readonly head = new Int32Array(32);
  private readonly doubles = new Float64Array(this.head.buffer);

  at(point: SamplePoint): void {
    this.doubles[1] = point.virtual;
    this.doubles[2] = point.real;
  }

  begin(kind: number): void {
    this.head[0] = kind;
    this.head[1] = RECORD_BYTES[kind];
  }
}
