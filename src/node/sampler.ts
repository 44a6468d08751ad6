/** Samples this machine beside a run: a thread of its own writes `FOLDER/HOST/SECOND`, a raw stats file. */

import { SHARE_ENV, type WorkerOptions } from 'node:worker_threads';
import { TriscopeError } from '../model/error.ts';
import { startThread } from '../os/thread.ts';
import type { Absent } from './collect.ts';
import { fullHostname } from './fqdn.ts';
import type { SamplerResult, SamplerSaid, SamplerStarted, SamplerTask } from './sampler-worker.ts';
import { NodeTree } from './tree.ts';

/** Where raw stats go, how often they are taken (milliseconds), and of which job. */
export interface SamplerOptions {
  /** Folder for the hosts' folders, such as `NAME.tri/node`. */
  readonly folder: string;
  /** Milliseconds between collections, at least 1. */
  readonly interval: number;
  /** Written as job id, and into the marks `begin` and `end`. */
  readonly jobId: string;
  /** Names of types; all that this machine has where it is empty. */
  readonly types?: readonly string[];
  /** Milliseconds between samples of all other types too, as those of `types` alone are cheap. Not given: none of them. */
  readonly allInterval?: number;
  /** Folder of a recorded `proc` and `sys`. */
  readonly root?: string;
  /** Milliseconds that a source which can block, such as Lustre's, may take; 2000 by default. */
  readonly deadline?: number;
  /** Called with what is written as it is written, the header first. */
  readonly onBytes?: (bytes: Uint8Array) => void;
}

/**
 * The sampler could not start, or came to an early end.
 * @example
 * ```ts
 * import { NodeSampler, SamplerError } from 'triscope/node';
 *
 * const sampler = await NodeSampler.start({ folder: 'node', interval: 1000, jobId: 'mine' });
 * await sampler.stop().catch((error: unknown) => {
 *   if (!(error instanceof SamplerError)) throw error;
 *   console.error(error.message); // such as a full disk
 * });
 * ```
 */
export class SamplerError extends TriscopeError {
  override readonly name = 'SamplerError';
}

/**
 * Samples the machine in a thread of its own while something else runs.
 * @example
 * ```ts
 * import { NodeSampler } from 'triscope/node';
 *
 * const sampler = await NodeSampler.start({ folder: 'node', interval: 100, jobId: 'mine' }); // ms
 * // … what is to be sampled …
 * await sampler.stop();
 * console.log(sampler.file, sampler.types);
 * ```
 */
export class NodeSampler {
  /** Name of the host that is sampled. */
  readonly host: string;
  /** The file that it writes. */
  readonly file: string;
  /** Names of the types that are sampled. */
  readonly types: readonly string[];
  /** Types that it lacks, and why. */
  readonly absent: readonly Absent[];
  private readonly _stop: Int32Array;
  private readonly done: Promise<SamplerResult>;

  private constructor(started: SamplerStarted, stop: Int32Array, done: Promise<SamplerResult>) {
    this.host = started.host;
    this.file = started.file;
    this.types = started.types;
    this.absent = started.absent;
    this._stop = stop;
    this.done = done;
  }

  /**
   * Starts it; the first record group is written when this resolves.
   * @throws SamplerError
   */
  static async start(options: SamplerOptions): Promise<NodeSampler> {
    const hostname = await fullHostname(new NodeTree(options.root));
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const task: SamplerTask = {
      folder: options.folder,
      types: options.types ?? [],
      root: options.root,
      hostname,
      deadline: options.deadline,
      jobId: options.jobId,
      interval: Math.max(1, options.interval),
      allInterval: options.allInterval ?? null,
      tell: options.onBytes !== undefined,
      stop,
    };
    const script = new URL('sampler-worker.js', import.meta.url);
    // A copy of the environment costs start-up time.
    const how: WorkerOptions = { workerData: task, name: 'node sampler', env: SHARE_ENV };
    return await new Promise((resolve, reject) => {
      const thread = startThread<SamplerSaid, SamplerResult>(script, how, (said) => {
        if ('bytes' in said) options.onBytes?.(said.bytes);
        else resolve(new NodeSampler(said, stop, done));
      });
      const done = thread.done.catch(({ message }: Error) => {
        throw new SamplerError(`node sampler: ${message}`);
      });
      done.catch(reject);
    });
  }

  /**
   * Writes a last record group and ends.
   * @throws SamplerError where it came to an early end, such as by a full disk
   */
  stop(): Promise<SamplerResult> {
    Atomics.store(this._stop, 0, 1);
    Atomics.notify(this._stop, 0);
    return this.done;
  }
}
