/** Blocks as rows for printing: cells by key, decoded when asked for. */
import type { CellValue, RecordBlock, RecordKind } from '../../format.ts';
import { fits, type PayloadLayout, payloadLayout } from '../../payload.ts';
import { type Block, KIND_NAMES } from './chunk.ts';
import { hexAt, readCell } from './gather.ts';
import type { FieldAt, KindLayout, RossFileLayout } from './layouts.ts';
import type { ModelBytes } from './told.ts';

interface RossRecordKind extends RecordKind {
  readonly fields: readonly FieldAt[];
  /** Bytes before the model's; -1: there are never any. */
  readonly head: number;
  /** How the model's bytes are decoded, and their number; null if they stay bytes. */
  readonly model: PayloadLayout | null;
  readonly bytes: number;
}

/** The kind's records as users see them; with `types`, one kind for each type of LP. */
interface Kinds {
  readonly plain: RossRecordKind;
  readonly byType: readonly RossRecordKind[];
  /** Where a record tells to which LP's model it belongs. */
  readonly lp: FieldAt | null;
}

const LPS = ['lp_id', 'destination_lp'];

function kindsOf(kind: KindLayout, name: string, model: ModelBytes | null): Kinds {
  const { fields, head } = kind;
  const keys = fields.map(({ key }) => key);
  const one = (layout: PayloadLayout | null, bytes: number): RossRecordKind => ({
    name,
    keys: head === undefined ? keys : [...keys, 'model_data'],
    payload: layout?.fields.map((field) => field.name) ?? [],
    fields,
    head: head ?? -1,
    model: layout,
    bytes,
  });
  const types = head === undefined ? [] : (model?.types ?? []);
  return {
    plain: one(null, 0),
    byType: types.map(({ fields: of, bytes }) => one(of && payloadLayout(of), bytes)),
    lp: fields.find(({ key }) => LPS.includes(key)) ?? null,
  };
}

export class RossRecords implements RecordBlock {
  private readonly kinds: readonly (Kinds | null)[];
  private readonly model: ModelBytes | null;
  private block: Block | null = null;
  /** Place of each record among those of its kind. */
  private within = new Int32Array(0);

  constructor(layout: RossFileLayout, model: ModelBytes | null) {
    this.model = model;
    this.kinds = layout.kinds.map((kind, k) => kind && kindsOf(kind, KIND_NAMES[k], model));
  }

  /** Takes the next block. */
  load(block: Block): this {
    this.block = block;
    if (this.within.length < block.capacity) this.within = new Int32Array(block.capacity);
    const seen = new Int32Array(this.kinds.length);
    for (let k = 0; k < block.length; k++) this.within[k] = seen[block.kinds[k]]++;
    return this;
  }

  get length(): number {
    return this.block?.length ?? 0;
  }

  private loaded(): Block {
    if (this.block === null) throw new Error('no block is loaded');
    return this.block;
  }

  private kindOf(record: number): RossRecordKind {
    const block = this.loaded();
    const kind = block.kinds[record];
    const { plain, byType, lp } = this.kinds[kind] as Kinds;
    if (byType.length === 0 || lp === null || this.model === null) return plain;
    if (byType.length === 1 && this.model.uniform !== null) return byType[0];
    const { view, little } = block.chunk;
    const index = block.of[kind];
    const at = index.record[this.within[record]] + lp.at;
    return byType[this.model.typeOf(readCell(view, at, lp.cell, little))] ?? plain;
  }

  kind(record: number): RecordKind {
    return this.kindOf(record);
  }

  offset(record: number): number {
    const block = this.loaded();
    const index = block.of[block.kinds[record]];
    return block.chunk.position + index.part[this.within[record]];
  }

  cell(record: number, key: number): CellValue {
    const block = this.loaded();
    const { fields, head } = this.kindOf(record);
    const index = block.of[block.kinds[record]];
    const n = this.within[record];
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
      default:
        return index[field.from][n];
    }
  }

  payload(record: number): readonly CellValue[] | null {
    const block = this.loaded();
    const { head, model, bytes } = this.kindOf(record);
    const index = block.of[block.kinds[record]];
    const n = this.within[record];
    if (model === null || !fits(index.size[n], bytes)) return null;
    const { view, little } = block.chunk;
    const from = index.record[n] + head;
    return model.fields.map(({ type, count, at }) => {
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
