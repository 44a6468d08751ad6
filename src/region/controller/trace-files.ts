/** The trace and the profile trace. They are written while the application runs, so that readers can follow them. */
import { closeSync, openSync, writeSync } from 'node:fs';
import {
  COMPATIBLE_PROFILE_COLUMNS,
  PROFILE_COLUMNS,
  type ProfileRow,
  profileRowText,
  type TraceColumn,
  type TraceHeader,
  traceHeaderText,
  traceRowText,
} from '../../formats/geopm/write.ts';
import { OutputError } from './settings.ts';

/** Bytes that are buffered before they are written, and ms after which they are written in any case. */
const PIECE_BYTES = 1 << 16;
const DELAY_MS = 200;

/** Writes all bytes, even if a single write takes only a part. */
function writeAll(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at);
}

/** A file that grows line by line. */
class GrowingFile {
  readonly path: string;
  private readonly what: string;
  private readonly file: number;
  private readonly fail: (error: Error) => void;
  private failed = false;
  private text = '';
  private written = performance.now();

  /**
   * @param fail is called once if the file can no longer be written, as on a full disk; later rows are dropped
   * @throws OutputError if it cannot be created
   */
  constructor(what: string, path: string, fail: (error: Error) => void) {
    this.what = what;
    this.path = path;
    this.fail = fail;
    this.file = this.orOutputError(() => openSync(path, 'w'));
  }

  private orOutputError<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw new OutputError(this.what, this.path, error);
    }
  }

  /** Writes the head of the file. @throws OutputError */
  begin(head: string): void {
    this.orOutputError(() => writeAll(this.file, head));
  }

  write(text: string): void {
    if (this.failed) return;
    this.text += text;
    if (this.text.length > PIECE_BYTES || performance.now() - this.written > DELAY_MS) this.flush();
  }

  flush(): void {
    try {
      writeAll(this.file, this.text);
    } catch (error) {
      this.failed = true;
      this.fail(new OutputError('trace', this.path, error));
    }
    this.text = '';
    this.written = performance.now();
  }

  close(): void {
    this.flush();
    closeSync(this.file);
  }
}

/** A row per sample. */
export class TraceFile {
  private readonly file: GrowingFile;
  private readonly columns: readonly TraceColumn[];
  readonly values: Float64Array;

  /** @throws OutputError if it cannot be created */
  constructor(path: string, columns: readonly TraceColumn[], fail: (error: Error) => void) {
    this.file = new GrowingFile('trace', path, fail);
    this.columns = columns;
    this.values = new Float64Array(columns.length);
  }

  /** Sets time zero to now. @throws OutputError */
  begin(header: TraceHeader): void {
    const names = this.columns.map(({ name }) => name);
    this.file.begin(traceHeaderText(header, names));
  }

  /** Writes `values` as a row. */
  row(): void {
    this.file.write(traceRowText(this.columns, this.values));
  }

  flush(): void {
    this.file.flush();
  }

  close(): void {
    this.file.close();
  }
}

/** A row per event of a process. */
export class ProfileTraceFile {
  private readonly file: GrowingFile;
  private readonly compat: boolean;

  /**
   * @param compat omits the column that distinguishes threads
   * @throws OutputError if it cannot be created
   */
  constructor(path: string, compat: boolean, fail: (error: Error) => void) {
    this.file = new GrowingFile('profile trace', path, fail);
    this.compat = compat;
  }

  /** Sets time zero to now. @throws OutputError */
  begin(header: TraceHeader): void {
    const columns = this.compat ? COMPATIBLE_PROFILE_COLUMNS : PROFILE_COLUMNS;
    this.file.begin(traceHeaderText(header, columns));
  }

  event(row: ProfileRow): void {
    this.file.write(profileRowText(this.compat ? { ...row, thread: null } : row));
  }

  close(): void {
    this.file.close();
  }
}
