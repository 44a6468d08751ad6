/** Reads bytes as a file and says what came of it. */
import {
  bytesSource,
  type CellValue,
  type Damage,
  FormatError,
  ROSS,
  type ScanOptions,
  scanRecords,
} from 'triscope/formats';

export type Cells = Readonly<Record<string, CellValue>> & { readonly kind: string };

export interface Outcome {
  readonly rows: readonly Cells[];
  readonly fault: FormatError | null;
  readonly skipped: readonly Damage[];
}

/** All rows; FormatError becomes `fault`, any other error is thrown. */
export function readBytes(
  name: string,
  bytes: Uint8Array,
  options: ScanOptions = {},
  beside: Readonly<Record<string, string>> = {},
): Outcome {
  const rows: Cells[] = [];
  const skipped: Damage[] = [];
  let fault: FormatError | null = null;
  try {
    scanRecords(
      ROSS,
      bytesSource(name, bytes, beside),
      {
        records(block) {
          for (let k = 0; k < block.length; k++) {
            const { name: kind, keys } = block.kind(k);
            const cells = keys.map((key, n) => [key, block.cell(k, n)] as const);
            rows.push({ kind, ...Object.fromEntries(cells) } as Cells);
          }
          return undefined;
        },
        damage: (damage) => skipped.push(damage),
      },
      options,
    );
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    fault = error;
  }
  return { rows, fault, skipped };
}
