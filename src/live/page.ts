/** The built page's files, read once: only these can be asked for, so no path leads anywhere else. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same, gzip; made when it is first asked for. */
  packed(): Uint8Array<ArrayBuffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const FOLDER = fileURLToPath(new URL('../web/', import.meta.url));

/** Files by path, such as `/assets/index.js`; empty where the page was not built. */
export function pageFiles(folder = FOLDER): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  if (!existsSync(folder)) return files;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const name = `/${relative(folder, path).split(sep).join('/')}`;
    const bytes = new Uint8Array(readFileSync(path));
    let packed: Uint8Array<ArrayBuffer> | null = null;
    files.set(name, {
      type,
      bytes,
      packed: () => {
        packed ??= new Uint8Array(gzipSync(bytes));
        return packed;
      },
    });
  }
  return files;
}
