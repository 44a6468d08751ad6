/** The folder of a recording that is being made: `recording.json` is written first, and again when the run has ended. */
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { arch, cpus, hostname, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import { TriscopeError } from '../model/error.ts';
import {
  RECORDING_FILE,
  RECORDING_VERSION,
  type Recording,
  type RecordingClock,
  type RecordingFile,
  type RecordingHost,
  type RecordingPe,
  type RecordingSource,
  type RecordingState,
} from '../model/recording.ts';
import { makeFolder } from '../os/folder.ts';
import { type ClockPair, clockPair } from '../os/wall-clock.ts';
import { fileSum } from './checksum.ts';

/** Frames with samples that the native formats cannot hold. */
export const FRAMES_FILE: RecordingFile = { path: 'extra.frames', format: 'frames' };

/** Path of `extra.frames` in a recording's folder. */
export const extraFrames = (folder: string) => join(folder, FRAMES_FILE.path);

/** The folder cannot be made or written to. The message says what to do. */
export class RecordError extends TriscopeError {
  override readonly name = 'RecordError';
}

export interface FolderRequest {
  /** Name or path of the folder, with or without `.tri`. */
  readonly name: string;
  /** The option that named it, for errors. */
  readonly option: string;
  /** The command that was run, in words. */
  readonly command: readonly string[];
  /** Version of triscope. */
  readonly version: string;
  readonly sources: readonly RecordingSource[];
  readonly pes: (host: string) => readonly RecordingPe[];
  /** The job of which it is one host's part: the folder is then `name` itself. */
  readonly part?: string;
}

/** The machine that this process runs on. */
export function thisHost(): RecordingHost {
  const processors = cpus();
  return {
    name: hostname(),
    platform: platform(),
    arch: arch(),
    cpus: processors.length,
    cpuModel: processors[0]?.model ?? '',
    memory: totalmem(),
  };
}

/** Path of the folder of recording `name`. */
export function recordingFolder(name: string): string {
  return name.endsWith('.tri') ? name : `${name}.tri`;
}

/**
 * Milliseconds that an interrupted run may spend on checksums of its files, while the user waits.
 */
const MOST_SUMMING_MS = 500;

/** Error in nanoseconds of a clock reading that another process made for a source. */
const READING_NS = 20_000;

/**
 * Nanoseconds by which the sources' times of the same moment may differ. Some are of the monotonic clock, others of
 * the time of day: they differ by how far the time of day was set or slewed in between. Those of other hosts are off by as
 * much as their clocks were measured to be, plus drift.
 */
function boundOf(begun: ClockPair, ended: ClockPair, clocks: readonly RecordingClock[]): number {
  const slewed = Number(ended.wall - begun.wall - (ended.monotonic - begun.monotonic));
  const far = clocks.map(({ start, end }) => {
    const moved = (clock: 'monotonic' | 'wall') =>
      Math.abs(Number(BigInt(end[clock]) - BigInt(start[clock])));
    return start.uncertainty + end.uncertainty + Math.max(moved('monotonic'), moved('wall'));
  });
  const own = Math.abs(slewed) + begun.apart + ended.apart + READING_NS;
  return Math.ceil(own + Math.max(0, ...far));
}

export class RecordingFolder {
  /** Path of the folder. */
  readonly path: string;
  private _content: Recording;
  /** When it was made, by both clocks. */
  private readonly begun = clockPair();

  /** Makes the folder and writes `recording.json`, state `running`. @throws RecordError */
  constructor({ name, option, command, version, sources, pes, part }: FolderRequest) {
    this.path = part === undefined ? recordingFolder(name) : name;
    const host = thisHost();
    this._content = {
      version: RECORDING_VERSION,
      state: 'running',
      madeBy: { command, triscope: version, node: process.versions.node },
      started: new Date().toISOString(),
      hosts: [host],
      sources,
      pes: pes(host.name),
      ...(part !== undefined && { part }),
    };
    if (existsSync(this.path)) {
      throw new RecordError(
        `${option}: ${this.path} exists already; remove it or give another name`,
      );
    }
    try {
      makeFolder(this.path);
    } catch (error) {
      throw new RecordError(`${option}: cannot make ${this.path}: ${(error as Error).message}`);
    }
    try {
      this.change({});
    } catch (error) {
      rmSync(this.path, { recursive: true, force: true });
      throw error;
    }
  }

  /** The present contents of `recording.json`. */
  get content(): Recording {
    return this._content;
  }

  /** Replaces a file of the folder as a whole: a reader sees the old content or the new. @throws RecordError */
  write(file: string, value: unknown): void {
    const path = join(this.path, file);
    try {
      writeFileSync(`${path}.tmp`, `${JSON.stringify(value, null, 2)}\n`);
      renameSync(`${path}.tmp`, path);
    } catch (error) {
      throw new RecordError(`cannot write ${path}: ${(error as Error).message}`);
    }
  }

  /** @throws RecordError */
  change(more: Partial<Recording>): void {
    this._content = { ...this._content, ...more };
    this.write(RECORDING_FILE, this._content);
  }

  /** Called when the run has ended. @throws RecordError */
  end(state: RecordingState, more: Partial<Recording>): void {
    this.change({ ...more, state, ended: new Date().toISOString() });
  }

  /** Notes how and why the run failed; if even that cannot be written, the state stays `running`. */
  fail(error: unknown, state: RecordingState = 'failed'): void {
    try {
      this.end(state, { error: error instanceof Error ? error.message : String(error) });
    } catch (further) {
      if (!(further instanceof RecordError)) throw further;
    }
  }

  /** The contents for its file if a signal ends a process in a call that does not return; without the time. */
  get ifInterrupted(): { readonly path: string; readonly text: string } {
    const error = 'a signal ended the run: a call did not return';
    const content: Recording = { ...this._content, state: 'interrupted', error };
    return { path: join(this.path, RECORDING_FILE), text: `${JSON.stringify(content, null, 2)}\n` };
  }

  /**
   * The sources with the accuracy of their clocks and the checksum of each file; without it if a file cannot be read again, or there is
   * no time for it.
   * @param clocks of the other hosts
   */
  summed(
    sources: readonly RecordingSource[],
    hasTime: boolean,
    clocks: readonly RecordingClock[] = [],
  ): RecordingSource[] {
    const until = hasTime ? Number.POSITIVE_INFINITY : performance.now() + MOST_SUMMING_MS;
    const withSum = (file: RecordingFile): RecordingFile => {
      try {
        return { ...file, ...fileSum(join(this.path, file.path), until) };
      } catch {
        return file;
      }
    };
    const bound = boundOf(this.begun, clockPair(), clocks);
    return sources.map((source) => ({
      ...source,
      files: source.files.map(withSum),
      ...(source.clock === undefined && { bound }),
    }));
  }
}
