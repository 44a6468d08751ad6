/** A simulation with all three layers recorded beside each other, and shown live while it runs. */
import { basename, join } from 'node:path';
import { batchOf } from '../formats/part.ts';
import { extraFrames, recordingFolder } from '../formats/recording-folder.ts';
import { ArrivingBytes } from '../formats/source.ts';
import { TACC } from '../formats/tacc/index.ts';
import { LiveBus, type LiveServer, startServer } from '../live/index.ts';
import { placesOf } from '../sim/drawing.ts';
import type { InstrumentConfig } from '../sim/instrument/config.ts';
import type { LoadedModel } from '../sim/load-model.ts';
import { SimRecording } from '../sim/record.ts';
import { configFor, type Settings } from '../sim/settings.ts';
import { type RunOptions, simulate } from '../sim/simulate.ts';
import type { RunResult } from '../sim/statistics.ts';
import { Companions } from './companions.ts';
import { version } from './version.ts';

export interface RecordedRun {
  readonly result: RunResult;
  /** Folder of the recording. */
  readonly path: string;
  /** Shows it until it is closed; null where nobody asked. */
  readonly server: LiveServer | null;
}

interface RecordedRunOptions extends Pick<RunOptions, 'signal' | 'onProgress'> {
  /** Name of the recording. */
  readonly name: string;
  /** The command's words. */
  readonly command: readonly string[];
  readonly pes: number;
  readonly instrument: Partial<InstrumentConfig>;
  /** Frames of the animation that the page's view of this name draws. */
  readonly frames: number;
  /** Milliseconds between samples of the node. */
  readonly nodeInterval: number;
  /** Starts the page and gets its link before anything else; not given: no page. */
  readonly onPage?: (url: string) => void;
}

/** Feeds the node's raw text to the page as it is written. */
function nodeToBus(bus: LiveBus): (bytes: Uint8Array) => void {
  const source = new ArrivingBytes('node');
  const opened = TACC.open(source, { growing: true });
  return (bytes) => {
    source.push(bytes);
    opened.grow?.((part, rows) => bus.publish(batchOf(part, rows)));
  };
}

const titleOf = (name: string): string => basename(name).replace(/\.tri$/, '');

/** The page of a run that begins soon, with a link to it. */
async function startPage({ name, command, onPage }: RecordedRunOptions) {
  if (onPage === undefined) return null;
  const bus = new LiveBus({ title: titleOf(name), command: command.join(' ') });
  const server = await startServer({ bus, recording: recordingFolder(name) });
  onPage(server.url);
  return { bus, server };
}

/**
 * `settings` is called once the page runs.
 * @throws RecordError, ModelError, SamplerError, ServeError
 */
export async function recordedRun(
  loaded: LoadedModel,
  settings: () => Promise<Settings>,
  options: RecordedRunOptions,
): Promise<RecordedRun> {
  const page = await startPage(options);
  try {
    return await record(loaded, await settings(), options, page);
  } catch (error) {
    await page?.server.close();
    throw error;
  }
}

async function record(
  loaded: LoadedModel,
  settings: Settings,
  options: RecordedRunOptions,
  page: { readonly bus: LiveBus; readonly server: LiveServer } | null,
): Promise<RecordedRun> {
  const { name, command, pes, frames } = options;
  const config = configFor(loaded.model, { ...settings, pes });
  const { end } = config;
  const bus = page?.bus ?? null;
  const title = titleOf(name);
  const recording = new SimRecording({ name, command, version: version(), pes });
  const { path } = recording;
  recording.places = placesOf(loaded.model, config);
  bus?.update({ ...recording.facts, title });
  const companions = await Companions.start({
    folder: path,
    profile: name,
    nodeInterval: options.nodeInterval,
    regions: true,
    ...(bus !== null && { onBytes: nodeToBus(bus) }),
  });
  const { preload } = companions;
  recording.begin();
  bus?.update({ ...recording.facts, title });
  try {
    const { signal, onProgress } = options;
    const result = await simulate(
      loaded,
      {
        ...settings,
        pes,
        instrument: {
          ...options.instrument,
          ...{ model: { gvt: false, rt: false, vt: true }, vtInterval: end / frames, vtEnd: end },
          ...{ rollbacks: true, phases: true },
        },
      },
      {
        ...(signal && { signal }),
        ...(onProgress && { onProgress }),
        ...(preload !== undefined && { preload }),
        instrument: {
          files: { path: join(path, 'stats-output'), prefix: 'ross-stats' },
          frames: extraFrames(path),
          ...(bus !== null && { onFrames: bus.stream() }),
          zero: recording.begun,
          version: `Triscope ${version()}`,
          settings: [],
        },
      },
    );
    await companions.stop();
    const others = companions.sources(recording.zero);
    const recorded = recording.finish(result, loaded.model, others);
    bus?.update({ ...recording.facts, title });
    return { result: recorded, path, server: page?.server ?? null };
  } catch (error) {
    recording.fail(error);
    await companions.stop().catch(() => {});
    throw error;
  }
}
