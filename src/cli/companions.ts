/** What is recorded beside a run: what the node counts, and the regions that its PEs mark. */
import { hostname } from 'node:os';
import { join, relative } from 'node:path';
import { flag, int, text } from '../model/option.ts';
import type { RecordingSource } from '../model/recording.ts';
import type { NodeSampler, SamplerOptions } from '../node/index.ts';
import type { OwnController, OwnOptions } from '../region/controller/index.ts';
import type { Given } from './command.ts';
import { UsageError } from './errors.ts';
import { version } from './version.ts';

/** Milliseconds between samples of the node’s counters. */
const ALL_INTERVAL_MS = 1000;
/** Seconds between samples of the regions that PEs are in. */
const REGION_PERIOD_SECONDS = 0.02;
/** Seconds between interim reports of a run that is shown live. */
const SHOWN_EVERY_SECONDS = 2;
/** In the recording's folder. */
export const REPORT = 'geopm.report';

/** What is recorded of a run, and beside it. */
export const RECORD_OPTIONS = {
  record: text('', 'make NAME.tri, a recording: a folder with the run and its result', {
    placeholder: 'NAME',
    names: 'path',
  }),
  'node-stats': int(0, 'with --record: sample the node every N ms; 0 turns it off', { min: 0 }),
  regions: flag(false, 'with --record: report where PEs spend their time, as GEOPM does'),
};

/** What a command asks to be recorded beside its run. */
export interface Beside {
  /** Milliseconds between samples of the node's CPUs; null: the node is not sampled. */
  readonly nodeInterval: number | null;
  /** Whether there is to be a report of the regions that PEs mark. */
  readonly regions: boolean;
}

/** What `--node-stats` and `--regions` ask for; null for nothing. @throws UsageError where there is no recording */
export function besideOf(own: Given<typeof RECORD_OPTIONS>): Beside | null {
  const interval = own['node-stats'] ?? RECORD_OPTIONS['node-stats'].default;
  const regions = own.regions === true;
  if (interval === 0 && !regions) return null;
  if (own.record === undefined) {
    const name = interval === 0 ? '--regions' : '--node-stats';
    throw new UsageError(`${name} needs --record=NAME: its output is part of a recording`);
  }
  return { nodeInterval: interval === 0 ? null : interval, regions };
}

interface CompanionRequest extends Beside {
  /** The recording's folder, or another that files are taken from afterwards. */
  readonly folder: string;
  /** Name of the run. */
  readonly profile: string;
  /** Folder of the pages that processes mark on; one of its own where none is given. */
  readonly pages?: string;
  /** Gets the node's file as it is written. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/** Settings of the controller beside a recorded run. */
export function regionSettings(
  report: string,
  profile: string,
  saveEvery: number,
): OwnOptions['settings'] {
  return {
    host: hostname(),
    version: `triscope-${version()}`,
    profile,
    agent: 'monitor',
    period: REGION_PERIOD_SECONDS,
    timeout: Number.POSITIVE_INFINITY,
    report,
    reportSignals: [],
    traceSignals: [],
    initControls: [],
    synthetic: false,
    allowControl: false,
    compat: false,
    live: false,
    saveEvery,
    savedControls: '',
  };
}

// Most runs have no companions, so their modules are loaded only on demand.
const watchOwn = async (options: OwnOptions): Promise<OwnController> =>
  (await import('../region/controller/index.ts')).watchOwn(options);
const startSampler = async (options: SamplerOptions): Promise<NodeSampler> =>
  (await import('../node/index.ts')).NodeSampler.start(options);

export class Companions {
  /** File of the node's samples; null where there are none. */
  readonly nodeFile: string | null;
  /** File of the report; null where there is none. It is there after `stop`. */
  readonly report: string | null;
  private readonly folder: string;
  private readonly node: NodeSampler | null;
  private readonly controller: OwnController | null;

  private constructor(folder: string, node: NodeSampler | null, controller: OwnController | null) {
    this.folder = folder;
    this.node = node;
    this.controller = controller;
    this.nodeFile = node?.file ?? null;
    this.report = controller === null ? null : join(folder, REPORT);
  }

  /** @throws SamplerError, LaunchError */
  static async start(request: CompanionRequest): Promise<Companions> {
    const { folder, profile, nodeInterval, regions, pages, onBytes } = request;
    const controller = regions
      ? await watchOwn({
          settings: regionSettings(
            join(folder, REPORT),
            profile,
            onBytes ? SHOWN_EVERY_SECONDS : Infinity,
          ),
          auto: 'sim',
          say: () => {},
          ...(pages !== undefined && { pages }),
        })
      : null;
    try {
      const node =
        nodeInterval === null
          ? null
          : await startSampler({
              folder: join(folder, 'node'),
              interval: nodeInterval,
              types: ['cpu', 'cpu_steal'],
              allInterval: ALL_INTERVAL_MS,
              jobId: String(process.pid),
              ...(onBytes && { onBytes }),
            });
      return new Companions(folder, node, controller);
    } catch (error) {
      await controller?.finish();
      throw error;
    }
  }

  /** Address of the module that threads of PEs load first, so that what they do is marked. */
  get preload(): string | undefined {
    return this.controller?.preload;
  }

  /** Ends both; then their files are complete. */
  async stop(): Promise<void> {
    await this.node?.stop();
    await this.controller?.finish();
  }

  /** As parts of the recording. @param zero see RecordingSource */
  sources(zero: string): RecordingSource[] {
    const source = (name: string, format: string, file: string | null): RecordingSource[] => {
      if (file === null) return [];
      const path = relative(this.folder, file);
      return [{ name, files: [{ path, format }], zero, droppedBytes: 0 }];
    };
    return [...source('node', 'tacc', this.nodeFile), ...source('regions', 'geopm', this.report)];
  }
}
