/** ROSS's files that a recorded command writes: linked into the recording as they appear, so that they grow there too. */
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { identify } from '../formats/registry.ts';
import { openFile } from '../formats/source.ts';

/** Folders below the working directory that are looked through, and files at most. */
const DEPTH = 3;
const MOST_FILES = 5000;
/** The pause after a search, as a multiple of the time that the search took: searching takes at most half a percent of a core. */
const REST = 200;
/** Confidence from which a file counts as ROSS's. */
const SURE = 0.5;
/** Texts beside the binary files that say how these are to be read. */
const BESIDE = /(README|lp-mapping).*\.txt$|\.csv$/i;

export class RossFiles {
  private readonly from: string;
  private readonly to: string;
  private readonly since: number;
  /** By path, where it is in the recording. */
  private readonly kept = new Map<string, string>();
  /** Sizes at which a file was no ROSS file: it is looked at again when it has doubled. */
  private readonly others = new Map<string, number>();
  /** Milliseconds of `performance.now()`, before which it does not search again. */
  private next = 0;

  /**
   * @param from the command's working directory
   * @param to folder for the files, which is made when there is one
   * @param since files that were not written since are of other runs; milliseconds since 1970
   */
  constructor(from: string, to: string, since: number) {
    this.from = from;
    this.to = to;
    this.since = since;
  }

  /** Paths in the recording. */
  get paths(): string[] {
    return [...this.kept.values()];
  }

  /** Takes in what is new, unless the last search was too short a time ago for what it took. */
  look(): void {
    const begun = performance.now();
    if (begun < this.next) return;
    this.search();
    this.next = begun + REST * (performance.now() - begun);
  }

  private search(): void {
    let left = MOST_FILES;
    const visit = (folder: string, depth: number): void => {
      let entries: ReturnType<typeof entriesOf>;
      try {
        entries = entriesOf(folder);
      } catch {
        return;
      }
      for (const entry of entries) {
        if (entry.name.startsWith('.') || entry.name.endsWith('.tri') || left-- <= 0) continue;
        const path = join(folder, entry.name);
        if (entry.isDirectory() && depth > 0 && entry.name !== 'node_modules')
          visit(path, depth - 1);
        else if (entry.isFile() && !this.kept.has(path)) this.consider(path);
      }
    };
    visit(this.from, DEPTH);
  }

  private consider(path: string): void {
    try {
      const { size, mtimeMs } = statSync(path);
      if (size === 0 || mtimeMs < this.since || size < 2 * (this.others.get(path) ?? 0)) return;
      if (!isRoss(path)) {
        this.others.set(path, size);
        return;
      }
      this.keep(path);
      const folder = dirname(path);
      for (const { name } of entriesOf(folder)) {
        const beside = join(folder, name);
        if (BESIDE.test(name) && !this.kept.has(beside) && statSync(beside).mtimeMs >= this.since)
          this.keep(beside);
      }
    } catch {
      // It was removed, or may not be read.
    }
  }

  private keep(path: string): void {
    const to = join(this.to, relative(this.from, dirname(path)) || '.', basename(path));
    mkdirSync(dirname(to), { recursive: true });
    try {
      linkSync(path, to);
    } catch {
      // Another file system: a copy, made anew at the end.
      copyFileSync(path, to);
    }
    this.kept.set(path, to);
  }

  /** The last look. What was linked becomes a copy: another run may write into the original. */
  finish(): void {
    this.search();
    for (const [path, to] of this.kept) {
      try {
        copyFileSync(path, `${to}.tmp`);
        renameSync(`${to}.tmp`, to);
      } catch {
        // It was removed: the link holds it.
        rmSync(`${to}.tmp`, { force: true });
      }
    }
  }
}

const entriesOf = (folder: string) => readdirSync(folder, { withFileTypes: true });

/** By its content. */
function isRoss(path: string): boolean {
  const source = openFile(path);
  try {
    const found = identify(source);
    return found?.format.name === 'ross' && found.detection.confidence >= SURE;
  } catch {
    return false;
  } finally {
    source.close();
  }
}
