/** Reads bytes as Triscope's commands do, and says what came of it. */
import {
  bytesSource,
  type Damage,
  type FileInfo,
  type FileSource,
  FormatError,
  identifyOrFail,
  type RecordBlock,
  scanRecords,
} from 'triscope/formats';

export interface Outcome {
  /** One text for each record, in file order. */
  readonly records: readonly string[];
  /** By record: where its block says that it is. */
  readonly places: readonly number[];
  readonly fault: FormatError | null;
  readonly damages: readonly Damage[];
  readonly info: FileInfo | null;
}

const textOf = (block: RecordBlock, record: number): string => {
  const { name, keys } = block.kind(record);
  let text = name;
  for (let k = 0; k < keys.length; k++) text += `\t${keys[k]}=${String(block.cell(record, k))}`;
  return text;
};

export const sourceOf = (
  name: string,
  bytes: Uint8Array,
  beside: Readonly<Record<string, Uint8Array | string>>,
): FileSource => bytesSource(name, bytes, beside);

/** @throws what is no FormatError */
function orFault(work: () => void): FormatError | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof FormatError) return error;
    throw error;
  }
}

/** Reads all records. @throws what is no FormatError: a fault of the program */
export function readRecords(source: FileSource, salvage: boolean): Omit<Outcome, 'info'> {
  const records: string[] = [];
  const places: number[] = [];
  const damages: Damage[] = [];
  const fault = orFault(() => {
    scanRecords(
      identifyOrFail(source).format,
      source,
      {
        records(block) {
          for (let k = 0; k < block.length; k++) {
            records.push(textOf(block, k));
            places.push(block.offset(k));
          }
          return undefined;
        },
        damage: (damage) => damages.push(damage),
      },
      { salvage },
    );
  });
  return { records, places, fault, damages };
}

/** What `info` says; null where it refuses. */
export function readInfo(source: FileSource): FileInfo | null {
  let info: FileInfo | null = null;
  orFault(() => {
    info = identifyOrFail(source).format.open(source, { counters: true }).info();
  });
  return info;
}

/** The rows of all tables. */
export function countRows(source: FileSource): number {
  let rows = 0;
  orFault(() => {
    const { format } = identifyOrFail(source);
    for (const part of format.open(source).parts) {
      for (const step of part.read([])) rows += step.rows;
    }
  });
  return rows;
}
