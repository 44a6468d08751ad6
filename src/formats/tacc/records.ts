/** Records of raw stats files one by one, in file order, as `triscope read` prints them. */
import type { CellValue, RecordBlock, RecordKind } from '../format.ts';
import { columnNames, type RawSchema } from './schema.ts';
import type { RawGroup, RawVisitor } from './visitor.ts';

/** What each record has before its values. */
const BEFORE = ['time', 'jobids', 'host', 'marks', 'type', 'device'] as const;
const FIRST_VALUE = BEFORE.length;

/** A group without records. */
const EMPTY: RecordKind = {
  name: 'group',
  keys: BEFORE,
  payload: [],
  bare: true,
  values: { name: 'values', from: FIRST_VALUE },
};

/**
 * A visitor that passes on each record, and each group without records.
 * @example
 * ```ts
 * import { RawParser, RawRecords } from 'triscope/formats/tacc';
 *
 * const records = new RawRecords((block) => console.log(block.kind(0).name, block.cell(0, 0)));
 * const parser = new RawParser(records);
 * parser.push(new TextEncoder().encode('$tacc_stats 2.3.5\n!cpu user,E,U=cs\n\n1795226194 4001\ncpu 0 42974\n'));
 * parser.end();
 * records.end();
 * ```
 */
export class RawRecords implements RawVisitor, RecordBlock {
  /** Records are given one at a time. */
  readonly length = 1;
  private readonly take: (block: RecordBlock) => void;
  private readonly kinds = new Map<RawSchema, RecordKind>();
  private readonly marks: string[] = [];
  private host: string | null = null;
  private _group: RawGroup | null = null;
  private hasRecords = false;
  private _kind = EMPTY;
  private type: string | null = null;
  private device: string | null = null;
  private values: BigUint64Array = new BigUint64Array(0);
  private line = 0;

  /** @param take is given each record */
  constructor(take: (block: RecordBlock) => void) {
    this.take = take;
  }

  property(name: string, value: string): void {
    if (name === 'hostname') this.host = value.trim();
  }

  /** Begins a group: its time applies to the records that follow. */
  group(group: RawGroup): void {
    this.end();
    this._group = group;
    this.hasRecords = false;
    this.marks.length = 0;
    this.line = group.line;
  }

  mark(text: string): void {
    this.marks.push(text);
  }

  /** @param line number of the line, from 1 on */
  record(schema: RawSchema, device: string, values: BigUint64Array, line: number): void {
    this.hasRecords = true;
    this._kind = this.kindOf(schema);
    this.type = schema.type;
    this.device = device;
    this.values = values;
    this.line = line;
    this.take(this);
  }

  /** Passes on the last group if it has no records. */
  end(): void {
    if (this._group === null || this.hasRecords) return;
    this._kind = EMPTY;
    this.type = null;
    this.device = null;
    this.take(this);
    this._group = null;
  }

  /** Which kind the record is. */
  kind(): RecordKind {
    return this._kind;
  }

  /** Number of the record's line, from 1 on: raw stats are text, so the line names the place. */
  offset(): number {
    return this.line;
  }

  /**
   * @param _record 0: there is one record at a time
   * @param key index into `kind().keys`
   */
  cell(_record: number, key: number): CellValue {
    if (key >= FIRST_VALUE) return this.values[key - FIRST_VALUE];
    switch (BEFORE[key]) {
      case 'time':
        return this._group?.time ?? null;
      case 'jobids':
        return this._group?.jobIds ?? [];
      case 'host':
        return this._group?.host ?? this.host;
      case 'marks':
        return this.marks;
      case 'type':
        return this.type;
      default:
        return this.device;
    }
  }

  payload(): null {
    return null;
  }

  private kindOf(schema: RawSchema): RecordKind {
    let kind = this.kinds.get(schema);
    if (kind === undefined) {
      kind = {
        name: schema.type,
        keys: [...BEFORE, ...columnNames(schema)],
        payload: [],
        bare: true,
        values: { name: 'values', from: FIRST_VALUE },
      };
      this.kinds.set(schema, kind);
    }
    return kind;
  }
}
