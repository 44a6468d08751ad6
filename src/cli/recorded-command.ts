/** A command recorded with all that its machine, its regions and its processes tell. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { startTimeNs } from '../formats/geopm/read/start-time.ts';
import {
  extraFrames,
  FRAMES_FILE,
  RecordError,
  RecordingFolder,
  recordingFolder,
} from '../formats/recording-folder.ts';
import type { RecordingFile, RecordingSource } from '../model/recording.ts';
import { NodeSampler } from '../node/index.ts';
import type { LaunchedRank } from '../os/mpi/launcher.ts';
import { runZero } from '../os/run-clock.ts';
import { ENV_MARK, type ProcessResult, ProcessSampler } from '../process/index.ts';
import {
  LaunchError,
  launch,
  launchAlone,
  launchMarked,
  markingEnvironment,
} from '../region/controller/index.ts';
import { shimFolder } from '../region/shims.ts';
import { unmarkedNotes } from '../region/unmarked.ts';
import { REPORT, regionSettings } from './companions.ts';
import { joinedEnd } from './joined-process.ts';
import { KeptOutput } from './kept-output.ts';
import { leaveRefused, pagesOfJob, tellDone, tellRefused, waitForLocal } from './launched-job.ts';
import { CLOCKS_FOLDER, ROSS_FOLDER, RossTimeline } from './recorded-ross.ts';
import { hostFolder } from './recorded-task.ts';
import { RossFiles } from './ross-files.ts';
import { tellRights } from './tell-rights.ts';
import { oneLine } from './terminal.ts';
import { version } from './version.ts';

/** Seconds between samples of the trace of regions, and between reports so far. */
const REGION_PERIOD_SECONDS = 0.1;
const SAVE_EVERY_SECONDS = 5;
/** Seconds that a command which handles a signal has to end. */
const KILL_AFTER_SECONDS = 30;
const TRACE = 'geopm.trace';
const VISITS = 'geopm.profile';
/** Traced in any case: it tells when ranks were in MPI. */
const TRACED = ['TIME_HINT_NETWORK'];
/** Libraries that are loaded into the command where they are built. */
const SHIMS = ['mpi', 'openmp', 'gomp'] as const;
/** Where the MPI shim notes cycle counter and wall clock. */
const ENV_CLOCKS = 'TRISCOPE_CLOCK_DIR';
/** Milliseconds between looks for files of ROSS. */
const LOOK_MS = 1000;
/** Signals that end it: the command gets them. */
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Milliseconds by which a file system's times may be early. */
const COARSE_MS = 20;

export interface RecordedCommandOptions {
  /** Name of the folder; after the command where it is not given. */
  readonly name?: string;
  readonly command: readonly string[];
  /** The words that called it. */
  readonly called: readonly string[];
  readonly node: boolean;
  readonly regions: boolean;
  readonly threads: boolean;
  /** Seconds between samples of the node. */
  readonly every: number;
  /** Names of signals, as `region launch` takes them, that region report and trace have too. */
  readonly signals: readonly string[];
  /** Whether each visit of a region is traced. */
  readonly visits: boolean;
  /** The task of a job that this is; tasks of one host are recorded by their first. */
  readonly task?: LaunchedRank;
  /** A process that runs already is recorded until it ends, instead of a command. */
  readonly pid?: number;
  /** Called with the folder, in which `recording.json` is, before anything runs. Where it throws, nothing does. */
  readonly onFolder?: (folder: string) => Promise<void>;
  readonly say: (line: string) => void;
}

export interface RecordedCommand {
  /** The command's exit code. */
  readonly code: number;
  /** The recording; null where nothing was run. */
  readonly path: string | null;
  /** Whether a signal that was sent here ended it. */
  readonly interrupted: boolean;
  /** See `LaunchResult`. */
  readonly stuck: boolean;
}

/** A name that is free, after the command's. */
function freeName(command: string): string {
  const stem = basename(command).replace(/^\.+/, '') || 'command';
  for (let k = 1; ; k++) {
    const name = k === 1 ? stem : `${stem}-${k}`;
    if (!existsSync(recordingFolder(name))) return name;
  }
}

const source = (name: string, zero: string, files: readonly RecordingFile[]): RecordingSource => ({
  name,
  files,
  zero,
  droppedBytes: 0,
});

/** When the regions' times begin, as their report says it; where there is none yet, the recording's zero. */
function regionsZero(report: string, zero: string): string {
  try {
    const [, start = ''] = /^Start Time: (.*)$/m.exec(readFileSync(report, 'utf8')) ?? [];
    return String(startTimeNs(start) ?? zero);
  } catch {
    return zero;
  }
}

/** The recording's, or in a job the host's part of it. @throws RecordError */
function folderName({ name, command, task }: RecordedCommandOptions): string {
  if (task === undefined) return name ?? freeName(command[0]);
  return hostFolder(name ?? `${basename(command[0])}-${task.job}`, hostname(), task);
}

/** File of a host's visits of regions. */
const visitsIn = (folder: string): string => join(folder, `${VISITS}-${hostname()}`);

/** Marks the processes of a job's tasks on a host, which all have the same. */
const jobMark = ({ job }: LaunchedRank): string => `job-${job}`;

/** Runs the command of a task whose host is recorded by the host's first task. Returns its exit code. @throws LaunchError */
async function runBeside(options: RecordedCommandOptions, task: LaunchedRank): Promise<number> {
  const { command, say, regions, visits } = options;
  const pages = pagesOfJob(task.job);
  const clocks = resolve(folderName(options), CLOCKS_FOLDER);
  const env = {
    ...{ [ENV_MARK]: jobMark(task), [ENV_CLOCKS]: clocks },
    ...(regions && markingEnvironment({ shims: SHIMS }, process.env)),
  };
  const common = { command, say, killAfter: KILL_AFTER_SECONDS, env };
  try {
    const code = regions
      ? await launchMarked({
          ...{ ...common, pages },
          settings: visits ? { profileTrace: visitsIn(folderName(options)) } : {},
        })
      : await launchAlone(common);
    tellDone(pages, task);
    return code;
  } catch (error) {
    if (error instanceof LaunchError) leaveRefused(pages, task);
    throw error;
  }
}

class CommandRecording {
  private readonly options: RecordedCommandOptions;
  private readonly folder: RecordingFolder;
  private readonly zero = runZero();
  private node: NodeSampler | null = null;
  private processes: ProcessSampler | null = null;
  private readonly ross: RossFiles;
  private readonly timeline: RossTimeline;
  private readonly printed: KeptOutput;
  /** Paths that `recording.json` names. */
  private listed = '';
  /** Why a part of it is not whole. */
  private readonly troubles: string[] = [];

  /** @throws RecordError */
  constructor(options: RecordedCommandOptions) {
    this.options = options;
    const { called, task } = options;
    const name = folderName(options);
    this.folder = new RecordingFolder({
      ...(task !== undefined && { part: task.job }),
      ...{ name, option: '-o', command: ['triscope', 'record', ...called], version: version() },
      sources: [source('processes', String(this.zero.wall), [])],
      pes: () => [],
    });
    const since = Number(this.zero.wall / 1_000_000n) - COARSE_MS;
    this.ross = new RossFiles(process.cwd(), resolve(this.path, ROSS_FOLDER), since);
    const { command } = options;
    const folder = resolve(this.path);
    this.timeline = new RossTimeline({ folder, command, zero: this.zero.wall, host: hostname() });
    this.printed = new KeptOutput(options.pid === undefined ? command : []);
  }

  get path(): string {
    return this.folder.path;
  }

  /** @throws SamplerError, ProcessSamplerError, LaunchError, RecordError */
  async run(): Promise<RecordedCommand> {
    const { node, threads } = this.options;
    if (node) await this.startNode();
    if (threads) await this.startProcesses();
    mkdirSync(join(this.path, CLOCKS_FOLDER));
    this.look();
    const looking = setInterval(() => this.look(), LOOK_MS);
    let began = false;
    const onStart = (pid: number) => {
      began = true;
      this.processes?.watch(pid);
    };
    let signalled = false;
    // A process that was joined runs on: a signal only ends its recording.
    const hear = () => {
      signalled = this.options.pid === undefined;
    };
    for (const name of ENDING) process.on(name, hear);
    try {
      const { code, stuck } = await this.launch(onStart);
      const result = await this._stop();
      if (!began) {
        this.remove();
        return { code, path: null, interrupted: signalled, stuck };
      }
      try {
        this.end(code, signalled, result);
      } catch (error) {
        // The command has ended: its exit code is passed on even if the recording cannot be completed.
        if (!(error instanceof RecordError)) throw error;
        this.options.say(error.message);
      }
      return { code, path: this.path, interrupted: signalled, stuck };
    } finally {
      clearInterval(looking);
      for (const name of ENDING) process.off(name, hear);
    }
  }

  /** Nothing was run. */
  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    await this._stop();
  }

  private async startNode(): Promise<void> {
    this.node = await NodeSampler.start({
      folder: join(this.path, 'node'),
      interval: 1000 * this.options.every,
      jobId: process.env.SLURM_JOB_ID ?? String(process.pid),
    });
    tellRights(this.node.absent, this.options.say);
  }

  private async startProcesses(): Promise<void> {
    const { command, pid } = this.options;
    this.processes = await ProcessSampler.start({
      file: extraFrames(this.path),
      host: hostname(),
      mark: this.mark,
      words: pid === undefined ? command.join(' ') : '',
      zero: this.zero,
    });
  }

  private get mark(): string {
    const { task } = this.options;
    if (task !== undefined) return jobMark(task);
    return `${process.pid}-${this.zero.wall}`;
  }

  private async launch(onStart: (pid: number) => void): Promise<{ code: number; stuck: boolean }> {
    const { command, regions, pid, say, signals, visits } = this.options;
    if (pid !== undefined) {
      onStart(pid);
      await joinedEnd(pid, ENDING);
      return { code: 0, stuck: false };
    }
    const clocks = resolve(this.path, CLOCKS_FOLDER);
    const env = { [ENV_MARK]: this.mark, [ENV_CLOCKS]: clocks };
    const { take } = this.printed;
    const common = {
      ...{ command, say, killAfter: KILL_AFTER_SECONDS, onStart },
      ...(take !== null && { onOutput: take }),
    };
    const { task } = this.options;
    const pages = task === undefined ? undefined : pagesOfJob(task.job);
    const others = async () => {
      if (task !== undefined && pages !== undefined) await waitForLocal(pages, task);
    };
    if (!regions) {
      const code = await launchAlone({ ...common, env });
      await others();
      if (pages !== undefined) rmSync(pages, { recursive: true, force: true });
      return { code, stuck: false };
    }
    this.tellUnmarked();
    const shims = markingEnvironment({ shims: SHIMS }, process.env);
    const base = regionSettings(join(this.path, REPORT), basename(command[0]), SAVE_EVERY_SECONDS);
    const trace = join(this.path, `${TRACE}-${hostname()}`);
    const wanted = { reportSignals: signals, traceSignals: [...new Set([...TRACED, ...signals])] };
    const settings = {
      ...{ ...base, ...wanted, period: REGION_PERIOD_SECONDS, trace },
      ...(visits && { profileTrace: visitsIn(this.path) }),
    };
    const job = pages === undefined ? {} : { pages, others };
    return launch({ ...common, ...job, env: { ...env, ...shims }, settings });
  }

  /** Says, once in a job, why nothing of the command can be marked. */
  private tellUnmarked(): void {
    const { command, say, task } = this.options;
    if ((task?.rank ?? 0) > 0) return;
    const notes = unmarkedNotes(command, SHIMS, shimFolder(), process.env.PATH ?? '');
    for (const note of notes) say(oneLine(note));
  }

  /**
   * Adds new files to `recording.json`, so that a live page follows them and a killed run keeps them; ROSS's files are listed with an
   * unknown clock until it is known.
   */
  private look(): void {
    this.ross.look();
    const sources = [...this.sources(null), ...this.timeline.follow(this.ross.paths)];
    const listed = sources.flatMap(({ files }) => files.map(({ path }) => path)).join('\n');
    if (listed === this.listed) return;
    try {
      this.folder.change({ sources });
      this.listed = listed;
    } catch {
      // A failure is reported at the end, when the file is written again.
    }
  }

  /** Ends the samplers. What went wrong with one is told at the end, and does not touch the others. */
  private async _stop(): Promise<ProcessResult | null> {
    const [node, processes] = [this.node, this.processes];
    this.node = null;
    this.processes = null;
    const told = (error: unknown) => {
      this.troubles.push(error instanceof Error ? error.message : String(error));
      return null;
    };
    await node?.stop().catch(told);
    const result = (await processes?.stop().catch(told)) ?? null;
    if (result?.error != null) this.troubles.push(result.error);
    return result;
  }

  /** The sources with the files that are there. */
  private sources(result: ProcessResult | null): RecordingSource[] {
    const zero = String(this.zero.wall);
    const files = readdirSync(this.path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.path, join(entry.parentPath, entry.name)))
      .sort();
    const of = (begin: string, format: string) =>
      files.filter((path) => path.startsWith(begin)).map((path) => ({ path, format }));
    const processes = source('processes', zero, of(FRAMES_FILE.path, FRAMES_FILE.format));
    const others = [
      source('node', zero, of('node/', 'tacc')),
      source('regions', regionsZero(join(this.path, REPORT), zero), of('geopm.', 'geopm')),
    ];
    const droppedBytes = result?.droppedBytes ?? 0;
    return [{ ...processes, droppedBytes }, ...others.filter(({ files }) => files.length > 0)];
  }

  private end(code: number, signalled: boolean, result: ProcessResult | null): void {
    const ross = this.rossSources();
    const troubles = this.troubles.map((one) => `the recording is incomplete: ${one}`);
    const errors = [...(code === 0 ? [] : [`the command ended with code ${code}`]), ...troubles];
    const all = [...this.sources(result), ...ross];
    const sources = this.folder.summed(all, !signalled);
    const state = signalled ? 'interrupted' : errors.length > 0 ? 'failed' : 'finished';
    this.folder.end(state, {
      sources,
      pes: ross.length === 0 ? [] : this.timeline.pes(),
      ...(errors.length > 0 && { error: errors.join('; ') }),
    });
    for (const trouble of troubles) this.options.say(trouble);
  }

  /** ROSS's files with their clock; none where the command wrote none. What cannot be read does not end the recording. */
  private rossSources(): RecordingSource[] {
    this.ross.finish();
    const { paths } = this.ross;
    if (paths.length > 0) {
      try {
        return this.timeline.finish(paths, this.printed.text);
      } catch (error) {
        this.troubles.push(`files of ROSS: ${(error as Error).message}`);
        return [];
      }
    }
    rmSync(join(this.path, CLOCKS_FOLDER), { recursive: true, force: true });
    return [];
  }

  fail(error: unknown): void {
    this.folder.fail(error);
  }
}

/** A recording that is there; tasks that wait for it are told where it cannot be made. @throws RecordError */
function begun(options: RecordedCommandOptions, refused: () => void): CommandRecording {
  try {
    return new CommandRecording(options);
  } catch (error) {
    refused();
    throw error;
  }
}

/**
 * Runs a command and records it. Where nothing could be run, nothing is left.
 * @throws RecordError where the folder is there already or cannot be made; SamplerError; LaunchError
 */
export async function recordCommand(options: RecordedCommandOptions): Promise<RecordedCommand> {
  const { task } = options;
  if (task !== undefined && task.localRank > 0) {
    const code = await runBeside(options, task);
    return { code, path: null, interrupted: false, stuck: false };
  }
  const refused = () => {
    if (task !== undefined) tellRefused(pagesOfJob(task.job), task);
  };
  const recording = begun(options, refused);
  try {
    await options.onFolder?.(recording.path);
  } catch (error) {
    recording.remove();
    refused();
    throw error;
  }
  try {
    return await recording.run();
  } catch (error) {
    await recording.stop();
    if (error instanceof LaunchError) recording.remove();
    else if (!(error instanceof RecordError)) recording.fail(error);
    throw error;
  }
}
