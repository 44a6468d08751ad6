/** Makes the recording of a simulation: a folder with `recording.json` and the run's result. */
import { appendFileSync, existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { extraFrames, FRAMES_FILE, RecordingFolder } from '../formats/recording-folder.ts';
import type {
  Recording,
  RecordingFile,
  RecordingHost,
  RecordingSource,
  RecordingState,
} from '../model/recording.ts';
import { runZero } from '../os/run-clock.ts';
import { type LpPlaces, placeFrames } from './drawing.ts';
import { payloadLayouts, type Recordable, type RecordablePayload } from './instrument/payload.ts';
import type { Model } from './model.ts';
import { appendFacts } from './run-facts.ts';
import type { RunResult } from './statistics.ts';

const RESULT_FILE = 'sim-result.json';

/** Scalar types that readers of payloads know. */
const READABLE = new Set(['u8', 'u16', 'u32', 'i32', 'u64', 'f32', 'f64']);

/** One of ROSS's files, with the layout of the model's bytes if it is the same in all of its records. */
function fileEntry(path: string, model: Model): RecordingFile {
  const format = path.endsWith('.bin') ? 'ross' : 'text';
  const whats: readonly Recordable[] = path.endsWith('-evtrace.bin')
    ? ['traceEvent', 'traceRollback']
    : ['sample'];
  const layouts = payloadLayouts(model).filter((l) => whats.includes(l.what));
  const [layout]: readonly (RecordablePayload | undefined)[] = layouts;
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

export interface RecordingRequest {
  /** Name or path of the folder, with or without `.tri`. */
  readonly name: string;
  /** The command that was run, in words. */
  readonly command: readonly string[];
  /** Version of triscope. */
  readonly version: string;
  readonly pes: number;
}

const distinct = (hosts: readonly RecordingHost[]) => [
  ...new Map(hosts.map((host) => [host.name, host])).values(),
];

/** A recording that is being made: create it just before the run, then call `finish` or `fail`. */
export class SimRecording {
  /** The zero for a run that is to share the recording's. */
  begun = runZero();
  private readonly folder: RecordingFolder;

  /** Makes the folder and writes `recording.json`, state `running`. @throws RecordError */
  constructor({ name, command, version, pes }: RecordingRequest) {
    this.folder = new RecordingFolder({
      ...{ name, option: '--record', command, version },
      sources: [{ name: 'sim', files: [], zero: String(this.begun.wall), droppedBytes: 0 }],
      pes: (host) =>
        Array.from({ length: pes }, (_, pe) => ({ pe, rank: 0, host, cpu: null, threadId: null })),
    });
  }

  /** Where an animation of the run draws its LPs. */
  places: LpPlaces | null = null;

  /** Path of the folder. */
  get path(): string {
    return this.folder.path;
  }

  /** When it was begun: nanoseconds since 1970, as decimal digits. */
  get zero(): string {
    return this.folder.content.sources[0].zero;
  }

  /** Sets its zero to now: the run begins. */
  begin(): void {
    this.begun = runZero();
    const [sim, ...others] = this.folder.content.sources;
    this.folder.change({ sources: [{ ...sim, zero: String(this.begun.wall) }, ...others] });
  }

  /** The present contents of `recording.json`. */
  get facts(): Pick<Recording, 'state' | 'hosts' | 'pes'> & {
    readonly command: string;
    readonly zero: string;
  } {
    const { state, hosts, pes, madeBy } = this.folder.content;
    return { state, hosts, pes, command: madeBy.command.join(' '), zero: this.zero };
  }

  /** The contents for its file if a signal ends a process in a call that does not return; without the time. */
  get ifInterrupted(): { readonly path: string; readonly text: string } {
    return this.folder.ifInterrupted;
  }

  /** Writes the result, where each PE ran, and what others put beside it; returns the result with the recording's path. */
  finish(result: RunResult, model: Model, others: readonly RecordingSource[] = []): RunResult {
    const recorded = { ...result, recording: this.path };
    const frames = extraFrames(this.path);
    if (result.instrumentation?.error === null && existsSync(frames))
      this.appendFacts(frames, result);
    this.folder.write(RESULT_FILE, recorded);
    const { content } = this.folder;
    const [source] = content.sources;
    const { instrumentation } = result;
    const dropped = result.streams.reduce((sum, s) => sum + s.droppedBytes, 0);
    // A run whose samples could not all be written has succeeded; its recording has not.
    const error = instrumentation?.error ?? null;
    const state = error === null ? 'finished' : 'failed';
    const sim = {
      ...source,
      files: [{ path: RESULT_FILE, format: 'triscope-sim-result' }, ...this.files(result, model)],
      zero: instrumentation?.zero ?? source.zero,
      ...(result.began !== null && { began: result.began }),
      droppedBytes: dropped,
    };
    this.folder.end(result.finished ? state : 'interrupted', {
      ...(error !== null && { error: `instrumentation is incomplete: ${error}` }),
      sources: this.folder.summed([sim, ...others], result.finished, result.clocks),
      pes: content.pes.map((place) => {
        const { cpu = null, threadId = null } = result.perPe[place.pe] ?? {};
        const host = result.rankHosts?.[place.pe]?.name;
        return { ...place, cpu, threadId, ...(host !== undefined && { host, rank: place.pe }) };
      }),
      hosts: distinct([...content.hosts, ...(result.rankHosts ?? [])]),
      ...(result.clocks !== undefined && { clocks: result.clocks }),
    });
    return recorded;
  }

  private appendFacts(frames: string, result: RunResult): void {
    appendFacts(frames, result);
    const { places } = this;
    if (places !== null) appendFileSync(frames, placeFrames(places, result.totalSeconds));
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
    const frames = existsSync(extraFrames(this.path)) ? [FRAMES_FILE] : [];
    return [...native, ...frames];
  }

  /** Notes how and why the run failed; if even that cannot be written, the state stays `running`. */
  fail(error: unknown, state: RecordingState = 'failed'): void {
    this.folder.fail(error, state);
  }
}
