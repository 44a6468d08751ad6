/** Files of GEOPM read to rows. */
import {
  bytesSource,
  type Damage,
  GEOPM,
  openFile,
  type ScanOptions,
  scanRecords,
} from 'triscope/formats';

export interface ReadRow {
  readonly kind: string;
  readonly values: Readonly<Record<string, unknown>>;
}

function rowsOf(
  source: ReturnType<typeof openFile>,
  options: ScanOptions,
  damages: Damage[],
): ReadRow[] {
  const rows: ReadRow[] = [];
  scanRecords(
    GEOPM,
    source,
    {
      records(block) {
        for (let k = 0; k < block.length; k++) {
          const { name, keys } = block.kind(k);
          rows.push({
            kind: name,
            values: Object.fromEntries(keys.map((key, c) => [key, block.cell(k, c)])),
          });
        }
        return true;
      },
      damage: (damage) => void damages.push(damage),
    },
    options,
  );
  return rows;
}

/** All rows of a file. */
export function rowsIn(path: string, options: ScanOptions = {}): ReadRow[] {
  const source = openFile(path);
  try {
    return rowsOf(source, options, []);
  } finally {
    source.close();
  }
}

export const textSource = (text: string, name = 'file') =>
  bytesSource(name, new TextEncoder().encode(text));

/** All rows of a text, and the damage that was passed over. */
export function rowsInText(text: string, options: ScanOptions = {}) {
  const damages: Damage[] = [];
  return { rows: rowsOf(textSource(text), options, damages), damages };
}
