/** The records of a file of any format, in the order of the file. */
import {
  type CellValue,
  type Damage,
  type FileSource,
  type Format,
  FormatError,
  type PassOptions,
  type RecordBlock,
  type RecordKind,
  type ScanOptions,
  type Visitor,
} from './format.ts';
import type { Part, RawRows } from './part.ts';

/** Ends a pass whose visitor wants no more. */
const ENOUGH = new Error('enough');

/** Whether damage is skipped, which a reader of records has to request. */
export const isSalvaged = ({
  records,
  salvage,
}: Pick<PassOptions, 'records' | 'salvage'>): boolean => records === undefined || salvage === true;

/**
 * The records in file order; for a format without records of its own, the rows of its tables.
 * @throws FormatError at damage, unless `salvage` is set
 * @example
 * ```ts
 * import { identifyOrFail, openFile, scanRecords } from 'triscope/formats';
 *
 * const source = openFile('stats-output/ross-stats-evtrace.bin');
 * const { format } = identifyOrFail(source);
 * let records = 0;
 * scanRecords(format, source, { records: (block) => ((records += block.length), true) });
 * source.close();
 * ```
 */
export function scanRecords(
  format: Format,
  source: FileSource,
  visitor: Visitor,
  options: ScanOptions = {},
): void {
  const records = (block: RecordBlock) => {
    if (visitor.records(block) === false) throw ENOUGH;
  };
  const damage = (damage: Damage) => visitor.damage?.(damage);
  const told: PassOptions = {
    take: (part, rows) => records(new PartRecords(part, rows)),
    damage: (one) => {
      if (!options.salvage) throw new FormatError(one);
      damage(one);
    },
  };
  try {
    format.open(source, { ...options, ...(format.records ? { records, damage } : told) });
  } catch (error) {
    if (error !== ENOUGH) throw error;
  }
}

/** All columns of some rows of a table, as records. */
class PartRecords implements RecordBlock {
  private readonly part: Part;
  private readonly rows: RawRows;
  private readonly own: RecordKind;

  constructor(part: Part, rows: RawRows) {
    const { name, metrics } = part.schema;
    this.part = part;
    this.rows = rows;
    this.own = { name, keys: metrics.map(({ key }) => key), payload: [] };
  }

  get length(): number {
    return this.rows.rows;
  }

  kind(): RecordKind {
    return this.own;
  }

  offset(): number {
    return -1;
  }

  cell(record: number, key: number): CellValue {
    const cell = this.rows.columns[key][record];
    const value = this.part.labels[key] === null ? cell : this.part.labels[key][Number(cell)];
    return value === undefined || value === '' || Number.isNaN(value) ? null : value;
  }

  payload(): null {
    return null;
  }
}
