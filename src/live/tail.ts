/** A recording that another process writes: what is appended to its files goes to a bus, as from a run in this process. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { FrameSplitter } from '../formats/frames/split.ts';
import { RawBatches, RawParser } from '../formats/tacc/index.ts';
import { checkRecording, RECORDING_FILE, type Recording } from '../model/recording.ts';
import { sourcesOf } from '../query/sources.ts';
import type { LiveBus } from './bus.ts';
import { factsOf } from './facts.ts';

/** Bytes taken at once. */
const CHUNK = 4 * 1024 * 1024;
/** A collector's files are named for their first second. */
const RAW_FILE = /[\\/]\d+$/;

interface Tail {
  readonly file: number;
  at: number;
  push(bytes: Uint8Array): void;
}

export class RecordingTail {
  readonly #path: string;
  readonly #title: string;
  readonly #bus: LiveBus;
  readonly #tails = new Map<string, Tail>();
  readonly #chunk = new Uint8Array(CHUNK);
  /** Text of `recording.json` as last seen. */
  #told = '';

  constructor(path: string, title: string, bus: LiveBus) {
    this.#path = path;
    this.#title = title;
    this.#bus = bus;
  }

  /** Looks for new files, and at what the recording says of itself. @throws a file system's error, RecordingError */
  look(): void {
    const text = readFileSync(join(this.#path, RECORDING_FILE), 'utf8');
    if (text !== this.#told) {
      const recording: Recording = checkRecording(JSON.parse(text));
      // Its last samples first: who hears that it has ended does not wait for more.
      if (recording.state !== 'running') while (this.poll()) {}
      this.#told = text;
      this.#bus.update(factsOf(recording, this.#title, []));
    }
    for (const { path } of sourcesOf(this.#path).files) {
      if (this.#tails.has(path)) continue;
      const push = path.endsWith('.frames')
        ? this.#frames(path)
        : RAW_FILE.test(path)
          ? this.#raw()
          : null;
      if (push !== null) this.#tails.set(path, { file: openSync(path, 'r'), at: 0, push });
    }
  }

  /** Takes a chunk of what was appended to each file. Returns whether there was any. */
  poll(): boolean {
    let any = false;
    for (const tail of this.#tails.values()) {
      const bytes = readSync(tail.file, this.#chunk, 0, CHUNK, tail.at);
      if (bytes === 0) continue;
      any = true;
      tail.at += bytes;
      tail.push(this.#chunk.subarray(0, bytes));
    }
    return any;
  }

  close(): void {
    for (const { file } of this.#tails.values()) closeSync(file);
    this.#tails.clear();
  }

  /** Whole frames go on as they are; damaged ones are told when the recording is read. */
  #frames(path: string): (bytes: Uint8Array) => void {
    const send = this.#bus.stream();
    const splitter = new FrameSplitter(
      (frame) => send([frame]),
      () => {},
      path,
    );
    return (bytes) => splitter.push(bytes);
  }

  #raw(): (bytes: Uint8Array) => void {
    const batches = new RawBatches((batch) => this.#bus.publish(batch));
    const parser = new RawParser(batches);
    return (bytes) => {
      parser.push(bytes);
      batches.flush();
    };
  }
}
