/** A simulation with all three layers recorded beside each other, and shown live while it runs. */
import { hostname } from 'node:os';
import { basename, join, relative } from 'node:path';
import { RawBatches, RawParser } from '../formats/tacc/index.ts';
import { LiveBus, type LiveServer, startServer } from '../live/index.ts';
import type { RecordingSource } from '../model/recording.ts';
import { NodeSampler } from '../node/index.ts';
import { type OwnOptions, watchOwn } from '../region/controller/index.ts';
import type { InstrumentConfig } from '../sim/instrument/config.ts';
import { extraFrames } from '../sim/instrument/recorder.ts';
import type { LoadedModel } from '../sim/load-model.ts';
import { recordingFolder, SimRecording } from '../sim/record.ts';
import type { Settings } from '../sim/settings.ts';
import { type RunOptions, simulate } from '../sim/simulate.ts';
import type { RunResult } from '../sim/statistics.ts';
import { version } from './version.ts';

export interface RecordedRun {
  readonly result: RunResult;
  /** Folder of the recording. */
  readonly path: string;
  /** Shows it until it is closed; null where nobody asked. */
  readonly server: LiveServer | null;
}

export interface RecordedRunOptions extends Pick<RunOptions, 'signal' | 'onProgress'> {
  /** Name of the recording. */
  readonly name: string;
  /** The command's words. */
  readonly command: readonly string[];
  readonly pes: number;
  readonly instrument: Partial<InstrumentConfig>;
  /** Milliseconds between samples of the node. */
  readonly nodeInterval: number;
  /** Starts the page and gets its link before anything else; not given: no page. */
  readonly onPage?: (url: string) => void;
}

/** Milliseconds between samples of all that the node counts. */
const ALL_INTERVAL = 1000;
/** Seconds between samples of the regions that PEs are in. */
const REGION_PERIOD = 0.02;
/** In the recording's folder. */
const REPORT = 'geopm.report';

function regionSettings(report: string, profile: string): OwnOptions['settings'] {
  return {
    host: hostname(),
    version: `triscope-${version()}`,
    profile,
    agent: 'monitor',
    period: REGION_PERIOD,
    timeout: Number.POSITIVE_INFINITY,
    report,
    reportSignals: [],
    traceSignals: [],
    initControls: [],
    synthetic: false,
    allowControl: false,
    compat: false,
    live: false,
    saveEvery: Number.POSITIVE_INFINITY,
    savedControls: '',
  };
}

/** Feeds the node's raw text to the page as it is written. */
function nodeToBus(bus: LiveBus): (bytes: Uint8Array) => void {
  const batches = new RawBatches((batch) => bus.publish(batch));
  const parser = new RawParser(batches);
  return (bytes) => {
    parser.push(bytes);
    batches.flush();
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
 * `settings` are asked for when the page is there.
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
  const { name, command, pes } = options;
  const bus = page?.bus ?? null;
  const title = titleOf(name);
  const recording = new SimRecording({ name, command, version: version(), pes });
  const { path } = recording;
  bus?.update({ ...recording.facts, title });
  const node = await NodeSampler.start({
    folder: join(path, 'node'),
    interval: options.nodeInterval,
    types: ['cpu', 'cpu_steal'],
    allInterval: ALL_INTERVAL,
    jobId: String(process.pid),
    ...(bus !== null && { onBytes: nodeToBus(bus) }),
  });
  const controller = await watchOwn({
    settings: regionSettings(join(path, REPORT), name),
    auto: 'sim',
    say: () => {},
  });
  recording.begin();
  bus?.update({ ...recording.facts, title });
  const source: RecordingSource = {
    name: 'node',
    files: [{ path: relative(path, node.file), format: 'tacc' }],
    zero: recording.zero,
    droppedBytes: 0,
  };
  const regions: RecordingSource = {
    name: 'regions',
    files: [{ path: REPORT, format: 'geopm' }],
    zero: recording.zero,
    droppedBytes: 0,
  };
  try {
    const { signal, onProgress } = options;
    const result = await simulate(
      loaded,
      { ...settings, pes, instrument: { ...options.instrument, rollbacks: true, phases: true } },
      {
        ...(signal && { signal }),
        ...(onProgress && { onProgress }),
        preload: controller.preload,
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
    await node.stop();
    await controller.finish();
    const recorded = recording.finish(result, loaded.model, [source, regions]);
    bus?.update({ ...recording.facts, title });
    return { result: recorded, path, server: page?.server ?? null };
  } catch (error) {
    recording.fail(error);
    await node.stop().catch(() => {});
    await controller.finish();
    throw error;
  }
}
