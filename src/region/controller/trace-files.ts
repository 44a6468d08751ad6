/** The trace and the profile trace, written while the application runs: whoever reads them sees it live. */
import { closeSync, openSync, writeSync } from 'node:fs';
import {
  PROFILE_COLUMNS,
  type ProfileEvent,
  profileRowText,
  type TraceColumn,
  type TraceHeader,
  traceHeaderText,
  traceRowText,
} from '../../formats/geopm/write.ts';

/** Bytes gathered before they are written, and the ms after which they are in any case. */
const PIECE = 1 << 16;
const DELAY = 200;

/** A file that grows by lines. */
export class GrowingFile {
  readonly path: string;
  readonly #file: number;
  #text = '';
  #written = performance.now();

  /** @throws where it cannot be made; the error's message names it */
  constructor(path: string, head: string) {
    this.path = path;
    this.#file = openSync(path, 'w');
    writeSync(this.#file, head);
  }

  write(text: string): void {
    this.#text += text;
    if (this.#text.length > PIECE || performance.now() - this.#written > DELAY) this.flush();
  }

  flush(): void {
    if (this.#text !== '') writeSync(this.#file, this.#text);
    this.#text = '';
    this.#written = performance.now();
  }

  close(): void {
    this.flush();
    closeSync(this.#file);
  }
}

/** A row per sample. */
export class TraceFile {
  readonly #file: GrowingFile;
  readonly #columns: readonly TraceColumn[];
  readonly values: Float64Array;

  constructor(path: string, header: TraceHeader, columns: readonly TraceColumn[]) {
    const names = columns.map(({ name }) => name);
    this.#file = new GrowingFile(path, traceHeaderText(header, names));
    this.#columns = columns;
    this.values = new Float64Array(columns.length);
  }

  /** Writes `values` as a row. */
  row(): void {
    this.#file.write(traceRowText(this.#columns, this.values));
  }

  close(): void {
    this.#file.close();
  }
}

/** A row per event of a process. */
export class ProfileTraceFile {
  readonly #file: GrowingFile;

  constructor(path: string, header: TraceHeader) {
    this.#file = new GrowingFile(path, traceHeaderText(header, PROFILE_COLUMNS));
  }

  /** @param time s since time zero */
  event(time: number, pid: number, event: ProfileEvent, signal: number): void {
    this.#file.write(profileRowText(Math.max(0, time), pid, event, signal));
  }

  flush(): void {
    this.#file.flush();
  }

  close(): void {
    this.#file.close();
  }
}
