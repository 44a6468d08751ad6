/** Blocks as rows, for who prints them: cells by key, decoded when asked for. */
import type { CellValue, RecordBlock, RecordKind } from '../../format.ts';
import type { PayloadLayout } from '../../payload.ts';
import { type Block, KIND_NAMES } from './chunk.ts';
import { hexAt, readCell } from './gather.ts';
import type { FieldAt, RossFileLayout } from './layouts.ts';

interface RossRecordKind extends RecordKind {
  readonly fields: readonly FieldAt[];
  /** Bytes before the model's; -1: none ever. */
  readonly head: number;
}

export class RossRecords implements RecordBlock {
  readonly #kinds: readonly (RossRecordKind | null)[];
  readonly #payload: PayloadLayout | null;
  #block: Block | null = null;
  /** Place of each record among those of its kind. */
  #within = new Int32Array(0);

  constructor(layout: RossFileLayout, payload: PayloadLayout | null) {
    this.#payload = payload;
    this.#kinds = layout.kinds.map((kind, k) => {
      if (kind === null) return null;
      const keys = kind.fields.map(({ key }) => key);
      const model = kind.head !== undefined;
      return {
        name: KIND_NAMES[k],
        keys: model ? [...keys, 'model_data'] : keys,
        payload: model && payload !== null ? payload.fields.map(({ name }) => name) : [],
        fields: kind.fields,
        head: kind.head ?? -1,
      };
    });
  }

  /** Takes the next block. */
  load(block: Block): this {
    this.#block = block;
    if (this.#within.length < block.capacity) this.#within = new Int32Array(block.capacity);
    const seen = new Int32Array(this.#kinds.length);
    for (let k = 0; k < block.length; k++) this.#within[k] = seen[block.kinds[k]]++;
    return this;
  }

  get length(): number {
    return this.#block?.length ?? 0;
  }

  #loaded(): Block {
    if (this.#block === null) throw new Error('no block is loaded');
    return this.#block;
  }

  #kindOf(record: number): RossRecordKind {
    return this.#kinds[this.#loaded().kinds[record]] as RossRecordKind;
  }

  kind(record: number): RecordKind {
    return this.#kindOf(record);
  }

  offset(record: number): number {
    const block = this.#loaded();
    const index = block.of[block.kinds[record]];
    return block.chunk.position + index.part[this.#within[record]];
  }

  cell(record: number, key: number): CellValue {
    const block = this.#loaded();
    const { fields, head } = this.#kindOf(record);
    const index = block.of[block.kinds[record]];
    const n = this.#within[record];
    const { view, bytes, little } = block.chunk;
    const field = fields[key];
    if (field === undefined) return hexAt(bytes, index.record[n] + head, index.size[n]);
    switch (field.from) {
      case 'record':
        return readCell(view, index.record[n] + field.at, field.cell, little);
      case 'part':
        return readCell(view, index.part[n] + field.at, field.cell, little);
      case 'per-kp':
        return readCell(view, index.record[n] + field.at + 4 * index.kp[n], field.cell, little);
      case 'kp':
        return index.kp[n];
      default:
        return index.lp[n];
    }
  }

  payload(record: number): readonly CellValue[] | null {
    const block = this.#loaded();
    const { head } = this.#kindOf(record);
    const index = block.of[block.kinds[record]];
    const n = this.#within[record];
    if (this.#payload === null || head < 0 || index.size[n] !== this.#payload.size) return null;
    const { view, little } = block.chunk;
    const from = index.record[n] + head;
    return this.#payload.fields.map(({ type, count, at }) => {
      const width =
        type === 'u64' || type === 'f64' ? 8 : type === 'u8' ? 1 : type === 'u16' ? 2 : 4;
      const one = (k: number): number | bigint => {
        const place = from + at + k * width;
        return type === 'u64'
          ? view.getBigUint64(place, little)
          : readCell(view, place, type, little);
      };
      return count === 1 ? one(0) : Array.from({ length: count }, (_, k) => one(k));
    });
  }
}
