/** The files that paths on a command line stand for. */
import { readdirSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { readReason } from '../os/plain-file.ts';
import { FormatError } from './format.ts';
import { identify } from './registry.ts';
import { openFile } from './source.ts';

/** Files beside data that are read with it, or by queries, but not by themselves. */
const COMPANIONS =
  /(-README\.txt|^lp-mapping\.txt|^recording\.json|^notes\.json$|^sim-result\.json|^extra\.frames)$/;
const MOST_FILES = 100_000;

const fault = (path: string, what: string) =>
  new FormatError({ path, offset: -1, what, skipped: 0 });

/** Leaves out further names of files that are already listed (hard links). */
export function withoutLinks(files: readonly string[]): string[] {
  const seen = new Set<string>();
  return files.filter((path) => {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat === undefined || stat.nlink < 2n) return true;
    const file = `${stat.dev} ${stat.ino}`;
    const isNew = !seen.has(file);
    seen.add(file);
    return isNew;
  });
}

function* listed(folder: string): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* listed(path);
    else if (entry.isFile() && !COMPANIONS.test(entry.name)) yield path;
  }
}

/** Whether a format recognises the file, or it cannot be opened: then the reader reports that. */
function isKnown(path: string): boolean {
  try {
    const source = openFile(path);
    try {
      return identify(source) !== null;
    } finally {
      source.close();
    }
  } catch {
    return true;
  }
}

/** Undefined if there is nothing. @throws FormatError */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw fault(path, readReason(error));
  }
}

/**
 * The files named, and those in folders that some format recognises, in the order of their names.
 * @throws FormatError for a path that does not exist, or a folder without such files that is no recording
 */
export function filesOf(paths: readonly string[]): string[] {
  const files: string[] = [];
  for (const path of paths) {
    const stat = statOf(path);
    if (stat === undefined) throw fault(path, 'there is no such file or folder');
    if (!stat.isDirectory()) {
      files.push(path);
      continue;
    }
    let found = 0;
    for (const file of withoutLinks([...listed(path)])) {
      if (!isKnown(file)) continue;
      found++;
      files.push(file);
      if (files.length > MOST_FILES) throw fault(path, `more than ${MOST_FILES} files`);
    }
    // A recording may consist only of files that are not native.
    const isRecording = statOf(join(path, 'recording.json'))?.isFile();
    if (found === 0 && !isRecording) throw fault(path, 'no file in this folder has a known format');
  }
  return files;
}
