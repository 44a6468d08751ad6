/** The runs of a sweep in a file, one JSON object per line, appended as they end: a restart continues from it. */
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { ModelError } from '../model.ts';
import type { RunReply } from './sweep-worker.ts';
import type { Point } from './vary.ts';

/** One run, as a line of the file. */
export interface JournalRun extends RunReply {
  /** The names that are varied, and their values in this run. */
  readonly point: Point;
  /** Number of the replication of the point, from 0 on. */
  readonly replication: number;
}

/** The properties that all runs of a file have in common: its first line. */
export interface JournalHead {
  readonly sweep: 1;
  readonly model: string;
  /** SHA-256 of a user's model. */
  readonly source?: string;
  /** Settings that are not varied. */
  readonly settings: object;
}

/** The file of one share of an array: `sweep.3.jsonl` of `sweep.jsonl`. */
export function shareFile(file: string, index: number): string {
  const end = extname(file);
  return `${file.slice(0, file.length - end.length)}.${index}${end}`;
}

/** The shares' files that lie beside `file`. */
function sharesOf(file: string): string[] {
  const end = extname(file);
  const stem = basename(file, end);
  const isShare = (name: string) =>
    name.startsWith(`${stem}.`) &&
    name.endsWith(end) &&
    /^\.\d+$/.test(name.slice(stem.length, name.length - end.length));
  const folder = dirname(file);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter(isShare)
    .sort()
    .map((name) => join(folder, name));
}

/** Runs of one file; a last line that was cut off is removed. @throws ModelError */
function runsIn(file: string, head: JournalHead, mine: boolean): JournalRun[] {
  const text = readFileSync(file, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (mine && whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
  const [first, ...lines] = whole.split('\n').slice(0, -1);
  if (first === undefined) return [];
  const parsed = (line: string, k: number): unknown => {
    try {
      return JSON.parse(line);
    } catch {
      throw new ModelError(`${file}:${k}: is not a line of a sweep; choose another file`);
    }
  };
  if (JSON.stringify(parsed(first, 1)) !== JSON.stringify(head)) {
    throw new ModelError(
      `${file}: holds runs of another model or of other settings; choose another file, or remove it`,
    );
  }
  return lines.map((line, k) => parsed(line, k + 2) as JournalRun);
}

export class Journal {
  private readonly file: string;
  /** Runs that were there. */
  readonly runs: readonly JournalRun[];

  /**
   * @param file the file to append to
   * @param base the file beside which the files of all shares lie
   * @throws ModelError for a file of another sweep, or one that cannot be written
   */
  constructor(file: string, base: string, head: JournalHead) {
    this.file = file;
    try {
      const others = [base, ...sharesOf(base)].filter((one) => one !== file && existsSync(one));
      const own = existsSync(file) ? runsIn(file, head, true) : [];
      this.runs = [...own, ...others.flatMap((one) => runsIn(one, head, false))];
      if (!existsSync(file) || readFileSync(file).length === 0)
        writeFileSync(file, `${JSON.stringify(head)}\n`);
    } catch (error) {
      if (error instanceof ModelError) throw error;
      throw new ModelError(`${file}: ${(error as Error).message}`);
    }
  }

  add(run: JournalRun): void {
    appendFileSync(this.file, `${JSON.stringify(run)}\n`);
  }
}
