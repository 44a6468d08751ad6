/** Makes the recording of a simulation: a folder with `recording.json` and the run's result. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { arch, cpus, hostname, platform, totalmem } from 'node:os';
import { join } from 'node:path';
import {
  RECORDING_FILE,
  RECORDING_VERSION,
  type Recording,
  type RecordingState,
} from '../model/recording.ts';
import { ModelError } from './model.ts';
import type { RunResult } from './statistics.ts';

const RESULT_FILE = 'sim-result.json';

/** The folder cannot be made or written to. The message says what to do. */
export class RecordError extends ModelError {
  override readonly name = 'RecordError';
}

export interface RecordingRequest {
  /** Name or path of the folder, with or without `.tri`. */
  readonly name: string;
  /** What was run: the command's words. */
  readonly command: readonly string[];
  /** Version of triscope. */
  readonly version: string;
  readonly pes: number;
}

/** Wall-clock nanoseconds since 1970, now, as decimal digits. Good to a microsecond or so. */
function wallNanoseconds(): string {
  return BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)).toString();
}

/** One recording that is being made: create it just before the run, then `finish` or `fail`. */
export class SimRecording {
  /** Path of the folder. */
  readonly path: string;
  private content: Recording;

  /** Makes the folder and writes `recording.json`, state `running`. @throws RecordError */
  constructor(request: RecordingRequest) {
    const { name, command, version, pes } = request;
    this.path = name.endsWith('.tri') ? name : `${name}.tri`;
    const host = hostname();
    const processors = cpus();
    this.content = {
      version: RECORDING_VERSION,
      state: 'running',
      madeBy: { command, triscope: version, node: process.versions.node },
      started: new Date().toISOString(),
      hosts: [
        {
          name: host,
          platform: platform(),
          arch: arch(),
          cpus: processors.length,
          cpuModel: processors[0]?.model ?? '',
          memory: totalmem(),
        },
      ],
      sources: [{ name: 'sim', files: [], zero: wallNanoseconds(), droppedBytes: 0 }],
      pes: Array.from({ length: pes }, (_, pe) => ({
        pe,
        rank: 0,
        host,
        cpu: null,
        threadId: null,
      })),
    };
    this.makeFolder();
    this.write(RECORDING_FILE, this.content);
  }

  private makeFolder(): void {
    if (existsSync(this.path)) {
      throw new RecordError(
        `--record: ${this.path} exists already; remove it or give another name`,
      );
    }
    try {
      mkdirSync(this.path, { recursive: true });
    } catch (error) {
      throw new RecordError(`--record: cannot make ${this.path}: ${(error as Error).message}`);
    }
  }

  /** Replaces a file of the folder as a whole: a reader sees the old content or the new. */
  private write(file: string, value: unknown): void {
    const path = join(this.path, file);
    try {
      writeFileSync(`${path}.tmp`, `${JSON.stringify(value, null, 2)}\n`);
      renameSync(`${path}.tmp`, path);
    } catch (error) {
      throw new RecordError(`cannot write ${path}: ${(error as Error).message}`);
    }
  }

  private end(state: RecordingState, more: Partial<Recording>): void {
    this.content = { ...this.content, ...more, state, ended: new Date().toISOString() };
    this.write(RECORDING_FILE, this.content);
  }

  /** Writes the result, and where each PE ran; returns the result with the recording's path. */
  finish(result: RunResult): RunResult {
    const recorded = { ...result, recording: this.path };
    this.write(RESULT_FILE, recorded);
    const [source] = this.content.sources;
    this.end(result.finished ? 'finished' : 'interrupted', {
      sources: [{ ...source, files: [{ path: RESULT_FILE, format: 'triscope-sim-result' }] }],
      pes: this.content.pes.map((place) => {
        const { cpu = null, threadId = null } = result.perPe[place.pe] ?? {};
        return { ...place, cpu, threadId };
      }),
    });
    return recorded;
  }

  /** Notes that the run failed, and why. */
  fail(error: unknown): void {
    this.end('failed', { error: error instanceof Error ? error.message : String(error) });
  }
}
