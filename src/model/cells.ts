/**
 * Fields with methods, such as statistics: some 8-byte cells of a struct, and a class that reads and writes
 * them. Writes are logged as for all other fields, and so undone with their event.
 */
import { FieldOverflowError, FieldUseError, ReadonlyFieldError } from './field-error.ts';

/** Receives the 8-byte cell that is about to be written, so that the write can be undone. */
export interface WriteLog {
  save(cell: number): void;
}

/** The LP to which the struct belongs, as far as fields need it. */
export interface FieldHost {
  /** Virtual time of the current event. */
  readonly now: number;
  readonly end: number;
  /** Virtual time from which on statistics count. */
  readonly warmup: number;
}

/** The struct that contains a field. */
export interface CellOwner {
  readonly $b: number;
  readonly $f64: Float64Array;
  readonly $u32: Uint32Array;
  readonly $log: WriteLog | null;
  readonly $host: FieldHost | null;
}

/** The cells of one field, all zero at the start. */
export interface Cells {
  /** The field's name, for messages. */
  readonly where: string;
  /** The LP to which the field belongs. */
  readonly host: FieldHost;
  /** The first cell, from the start of the struct. */
  readonly at: number;
  get(k: number): number;
  set(k: number, value: number): void;
  /** Half a cell: an unsigned integer of 32 bits, two to a cell. */
  half(k: number): number;
  /** @throws FieldOverflowError for a value beyond 32 bits */
  setHalf(k: number, value: number): void;
  /** Adds 1 to half a cell. */
  countHalf(k: number): void;
  /** @throws unless `value` is a number, other than NaN */
  expectNumber(method: string, value: unknown): void;
}

/** Declares such a field. `V` is the view of handlers, `R` the read-only view. */
export interface CellsField<V = unknown, R = unknown> {
  readonly kind: 'cells';
  /** How many doubles it takes. */
  readonly cells: number;
  /** The cells are timers: events may belong to them. */
  readonly timers?: true;
  /** Creates the view that handlers see. */
  view(cells: Cells): V;
  /** For the type alone. */
  readonly reads?: R;
}

/** The greatest integer of 32 bits. */
const MOST = 0xffffffff;

/** Cells in the memory of a struct. */
export class StructCells implements Cells {
  readonly where: string;
  private readonly owner: CellOwner;
  readonly at: number;
  /** Why the struct may not be written, if it may not. */
  private readonly why: string | null;

  constructor(owner: CellOwner, at: number, where: string, why: string | null) {
    this.owner = owner;
    this.at = at;
    this.where = where;
    this.why = why;
  }

  get(k: number): number {
    const { owner } = this;
    return owner.$f64[owner.$b + this.at + k];
  }

  set(k: number, value: number): void {
    const { owner } = this;
    if (this.why !== null) this.refuse();
    const cell = owner.$b + this.at + k;
    if (owner.$log !== null) owner.$log.save(cell);
    owner.$f64[cell] = value;
  }

  half(k: number): number {
    const { owner } = this;
    return owner.$u32[((owner.$b + this.at) << 1) + k];
  }

  setHalf(k: number, value: number): void {
    const { owner } = this;
    if (this.why !== null) this.refuse();
    if (value > MOST)
      throw new FieldOverflowError(`${this.where}: counts beyond ${MOST}, which 32 bits hold`);
    const cell = owner.$b + this.at + (k >> 1);
    if (owner.$log !== null) owner.$log.save(cell);
    owner.$u32[((owner.$b + this.at) << 1) + k] = value;
  }

  countHalf(k: number): void {
    this.setHalf(k, this.half(k) + 1);
  }

  get host(): FieldHost {
    return this.owner.$host as FieldHost;
  }

  expectNumber(method: string, value: unknown): void {
    if (typeof value === 'number' && !Number.isNaN(value)) return;
    const given = typeof value === 'string' ? JSON.stringify(value) : String(value);
    throw new FieldUseError(`${this.where}.${method}(${given}): not a number`);
  }

  private refuse(): never {
    throw new ReadonlyFieldError(`${this.where}: read-only here; ${this.why}`);
  }
}
