/** Genuine files to damage, where TRISCOPE_GOLDEN names a folder of them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const GOLDEN = process.env.TRISCOPE_GOLDEN;

export interface GoldenFile {
  /** Path below the folder. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Texts beside it. */
  readonly beside: Readonly<Record<string, string>>;
}

/** Says once that no genuine files are damaged. */
let told = false;

/** Files of a part of the folder whose path matches. */
export function goldenFiles(part: string, pattern: RegExp): GoldenFile[] {
  if (GOLDEN === undefined || !existsSync(join(GOLDEN, part))) {
    if (!told) {
      const why = GOLDEN === undefined ? 'TRISCOPE_GOLDEN names no folder' : `${GOLDEN} lacks some`;
      process.stderr.write(`only files of our own are damaged, no genuine ones: ${why}\n`);
    }
    told = true;
    return [];
  }
  const paths = readdirSync(join(GOLDEN, part), { recursive: true, encoding: 'utf8' });
  return paths
    .filter((path) => pattern.test(path))
    .sort()
    .map((path) => {
      const file = join(GOLDEN, part, path);
      const texts = readdirSync(dirname(file)).filter((name) => name.endsWith('-README.txt'));
      const beside = texts.map((name) => [name, readFileSync(join(dirname(file), name), 'utf8')]);
      return {
        name: relative(GOLDEN, file),
        bytes: readFileSync(file),
        beside: Object.fromEntries(beside),
      };
    });
}
