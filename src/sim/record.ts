/** Makes the recording of a simulation: a folder with `recording.json` and the run's result. */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { arch, cpus, hostname, platform, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { fileSum } from '../formats/checksum.ts';
import {
  RECORDING_FILE,
  RECORDING_VERSION,
  type Recording,
  type RecordingFile,
  type RecordingHost,
  type RecordingSource,
  type RecordingState,
} from '../model/recording.ts';
import { type PayloadLayout, payloadLayouts, type Recordable } from './instrument/payload.ts';
import { extraFrames } from './instrument/recorder.ts';
import { runZero } from './instrument/run-clock.ts';
import { makeFolders } from './make-folders.ts';
import { type Model, ModelError } from './model.ts';
import type { RunResult } from './statistics.ts';

const RESULT_FILE = 'sim-result.json';

const FRAMES: RecordingFile = { path: 'extra.frames', format: 'frames' };

/** Scalars that readers of payloads know. */
const READABLE = new Set(['u8', 'u16', 'u32', 'i32', 'u64', 'f32', 'f64']);

/** One of ROSS's files, with the layout of the model's bytes where all its records have the same. */
function fileEntry(path: string, model: Model): RecordingFile {
  const format = path.endsWith('.bin') ? 'ross' : 'text';
  const whats: readonly Recordable[] = path.endsWith('-evtrace.bin')
    ? ['traceEvent', 'traceRollback']
    : ['sample'];
  const layouts = payloadLayouts(model).filter((l) => whats.includes(l.what));
  const [layout]: readonly (PayloadLayout | undefined)[] = layouts;
  const fields = layout?.fields.map((f) => ({
    name: f.name,
    type: f.type === 'bool' ? 'u8' : f.type,
    at: f.offset,
  }));
  const same = layouts.every((l) => JSON.stringify(l.fields) === JSON.stringify(layout?.fields));
  if (format !== 'ross' || fields === undefined || !same) return { path, format };
  return fields.every((f) => READABLE.has(f.type))
    ? { path, format, payload: fields }
    : { path, format };
}

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

/** Milliseconds that an interrupted run may take to sum up its files: whoever ended it waits. */
const MOST_SUMMING = 500;

const distinct = (hosts: readonly RecordingHost[]) => [
  ...new Map(hosts.map((host) => [host.name, host])).values(),
];

/** One recording that is being made: create it just before the run, then `finish` or `fail`. */
export class SimRecording {
  /** Path of the folder. */
  readonly path: string;
  /** The zero of a run that is to have the recording's. */
  begun = runZero();
  private content: Recording;

  /** Makes the folder and writes `recording.json`, state `running`. @throws RecordError */
  constructor(request: RecordingRequest) {
    const { name, command, version, pes } = request;
    this.path = recordingFolder(name);
    const host = thisHost();
    this.content = {
      version: RECORDING_VERSION,
      state: 'running',
      madeBy: { command, triscope: version, node: process.versions.node },
      started: new Date().toISOString(),
      hosts: [host],
      sources: [{ name: 'sim', files: [], zero: String(this.begun.wall), droppedBytes: 0 }],
      pes: Array.from({ length: pes }, (_, pe) => ({
        pe,
        rank: 0,
        host: host.name,
        cpu: null,
        threadId: null,
      })),
    };
    this.makeFolder();
    this.write(RECORDING_FILE, this.content);
  }

  /** Nanoseconds since 1970 at which it was begun, as decimal digits. */
  get zero(): string {
    return this.content.sources[0].zero;
  }

  /** Moves its zero to now: the run begins. */
  begin(): void {
    this.begun = runZero();
    const [sim, ...others] = this.content.sources;
    const sources = [{ ...sim, zero: String(this.begun.wall) }, ...others];
    this.content = { ...this.content, sources };
    this.write(RECORDING_FILE, this.content);
  }

  /** What `recording.json` says now. */
  get facts(): Pick<Recording, 'state' | 'hosts' | 'pes'> & {
    readonly command: string;
    readonly zero: string;
  } {
    const { state, hosts, pes, madeBy } = this.content;
    return { state, hosts, pes, command: madeBy.command.join(' '), zero: this.zero };
  }

  private makeFolder(): void {
    if (existsSync(this.path)) {
      throw new RecordError(
        `--record: ${this.path} exists already; remove it or give another name`,
      );
    }
    try {
      makeFolders(this.path);
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

  /** What its file is to hold where a signal ends a process of which no call returns; without the time. */
  get ifInterrupted(): { readonly path: string; readonly text: string } {
    const error = 'a signal ended the run: a call did not return';
    const content: Recording = { ...this.content, state: 'interrupted', error };
    return { path: join(this.path, RECORDING_FILE), text: `${JSON.stringify(content, null, 2)}\n` };
  }

  /** Writes the result, where each PE ran, and what others put beside it; returns the result with the recording's path. */
  finish(result: RunResult, model: Model, others: readonly RecordingSource[] = []): RunResult {
    const recorded = { ...result, recording: this.path };
    this.write(RESULT_FILE, recorded);
    const [source] = this.content.sources;
    const { instrumentation } = result;
    const dropped = result.streams.reduce((sum, s) => sum + s.droppedBytes, 0);
    // A run whose samples could not all be written ended well; its recording did not.
    const error = instrumentation?.error ?? null;
    const state = error === null ? 'finished' : 'failed';
    const sim = {
      ...source,
      files: [{ path: RESULT_FILE, format: 'triscope-sim-result' }, ...this.files(result, model)],
      zero: instrumentation?.zero ?? source.zero,
      droppedBytes: dropped,
    };
    this.end(result.finished ? state : 'interrupted', {
      ...(error !== null && { error: `instrumentation is incomplete: ${error}` }),
      sources: this.summed([sim, ...others], result.finished),
      pes: this.content.pes.map((place) => {
        const { cpu = null, threadId = null } = result.perPe[place.pe] ?? {};
        const host = result.rankHosts?.[place.pe]?.name;
        return { ...place, cpu, threadId, ...(host !== undefined && { host, rank: place.pe }) };
      }),
      hosts: distinct([...this.content.hosts, ...(result.rankHosts ?? [])]),
      ...(result.clocks !== undefined && { clocks: result.clocks }),
    });
    return recorded;
  }

  /** The sources with what each file holds; without where it cannot be read again, or there is no time for it. */
  private summed(sources: readonly RecordingSource[], hasTime: boolean): RecordingSource[] {
    const until = hasTime ? Number.POSITIVE_INFINITY : performance.now() + MOST_SUMMING;
    const withSum = (file: RecordingFile): RecordingFile => {
      try {
        return { ...file, ...fileSum(join(this.path, file.path), until) };
      } catch {
        return file;
      }
    };
    return sources.map((source) => ({ ...source, files: source.files.map(withSum) }));
  }

  /** What instrumentation wrote in the folder. */
  private files({ instrumentation }: RunResult, model: Model): RecordingFile[] {
    if (instrumentation === undefined) return [];
    const { folder, files } = instrumentation;
    const inside = folder === null ? null : relative(this.path, folder);
    const native =
      inside === null || inside.startsWith('..')
        ? []
        : files.map((name) => fileEntry(join(inside, name), model));
    const frames = existsSync(extraFrames(this.path)) ? [FRAMES] : [];
    return [...native, ...frames];
  }

  /** Notes how and why the run failed; where even that cannot be written, it stays `running`. */
  fail(error: unknown, state: RecordingState = 'failed'): void {
    try {
      this.end(state, { error: error instanceof Error ? error.message : String(error) });
    } catch (further) {
      if (!(further instanceof RecordError)) throw further;
    }
  }
}
