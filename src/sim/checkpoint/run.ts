/** The checkpoints of a run: the one from which it continues, and those that it makes. */
import { closeSync, openSync, unlinkSync } from 'node:fs';
import { OptionError } from '../../model/option.ts';
import type { RunConfig } from '../config.ts';
import { type Model, ModelError } from '../model.ts';
import type { OutputLine } from '../pe.ts';
import type { Placement } from '../placement.ts';
import type { Settings } from '../settings.ts';
import { type Checkpoint, hookTimeOf, newOf, readCheckpoint } from './file.ts';
import { expectSameModel, identityOf, settingsAfter } from './identity.ts';
import { type CheckpointTimes, checkpointTimes } from './times.ts';
import { CheckpointWriter, type WrittenCheckpoint } from './writer.ts';

/** What checkpoints a run makes. */
export interface CheckpointRequest extends CheckpointTimes {
  /** Path of the file; each checkpoint replaces the one before. */
  readonly file: string;
  /** Called when one has been written. */
  readonly onWritten?: (written: WrittenCheckpoint) => void;
}

/** The checkpoint options of a run. */
export interface CheckpointOptions {
  /** Makes checkpoints; without given times, one after each tenth of the end time. */
  readonly checkpoint?: CheckpointRequest;
  /**
   * Continues from a checkpoint, given as a file or as the result of `readCheckpoint`, with the same model and settings. PEs and
   * synchroniser may differ.
   */
  readonly restart?: string | Checkpoint;
}

/** A model, or the result of `loadModel` for it. */
interface Loaded {
  readonly model: Model;
  readonly path?: string;
}

/** @throws OptionError if the file cannot be written there */
function expectWritable(file: string): void {
  try {
    closeSync(openSync(newOf(file), 'w'));
    unlinkSync(newOf(file));
  } catch (error) {
    throw new OptionError(`--checkpoint=${file}: cannot be written: ${(error as Error).message}`);
  }
}

export class RunCheckpoints {
  /** The checkpoint from which the run continues; null if it starts at time 0. */
  readonly from: Checkpoint | null;
  /** Its settings. */
  readonly settings: Settings;
  /** When it makes checkpoints; null for never. */
  times: CheckpointTimes | null = null;
  private readonly loaded: Loaded;
  private readonly request: CheckpointRequest | null;

  /** @throws CheckpointError, ModelError, OptionError if the run cannot continue from `restart` */
  constructor(loaded: Loaded, settings: Settings, { checkpoint, restart }: CheckpointOptions) {
    this.loaded = loaded;
    this.request = checkpoint ?? null;
    this.from = typeof restart === 'string' ? readCheckpoint(restart) : (restart ?? null);
    const { from } = this;
    this.settings = from === null ? settings : settingsAfter(from, settings);
    if (from !== null) expectSameModel(from, identityOf(loaded, from.head.settings.options));
  }

  /** The number of PEs for which the model is sized. */
  sizedFor(otherwise: number): number {
    return this.from?.head.sizedFor ?? otherwise;
  }

  /**
   * Takes the images and lines that PEs deliver.
   * @param print receives the lines, in order
   * @param writes false on ranks that leave writing to another
   * @throws OptionError for times outside of the run, or a file that cannot be written
   */
  writer(
    config: RunConfig,
    placement: Placement,
    sizedFor: number,
    print: (lines: readonly OutputLine[]) => void,
    writes = true,
  ): CheckpointWriter {
    const { from, request, loaded } = this;
    if (from !== null) {
      if (placement.lps !== from.head.lps) {
        throw new ModelError(
          `${from.file}: has ${from.head.lps} LPs, the model now ${placement.lps}; run it from its beginning`,
        );
      }
      hookTimeOf(from, config.pes, 0);
    }
    if (request !== null) {
      this.times = checkpointTimes(request, config.end);
      if (writes) expectWritable(request.file);
    }
    const { end, warmup, lookahead, seeds, coreSeeds, options } = config;
    const head = {
      model: identityOf(loaded, options),
      settings: { end, warmup, lookahead, seeds, coreSeeds, options },
      lps: placement.lps,
      sizedFor,
    };
    const file = request?.file ?? '';
    return new CheckpointWriter(file, head, config.pes, from, print, request?.onWritten);
  }
}
