/** The checkpoints of a run: what it goes on from, and what it makes. */
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

/** What may be asked of a run. */
export interface CheckpointOptions {
  /** Makes checkpoints, at a tenth of the end time each where no times are given. */
  readonly checkpoint?: CheckpointRequest;
  /**
   * Goes on from a checkpoint, a file or what `readCheckpoint` gave, with the model and the settings that it was made with. PEs and
   * synchroniser may be others.
   */
  readonly restart?: string | Checkpoint;
}

/** A model, or what `loadModel` gave of it. */
interface Loaded {
  readonly model: Model;
  readonly path?: string;
}

/** @throws OptionError where nothing can be written there */
function expectWritable(file: string): void {
  try {
    closeSync(openSync(newOf(file), 'w'));
    unlinkSync(newOf(file));
  } catch (error) {
    throw new OptionError(`--checkpoint=${file}: cannot be written: ${(error as Error).message}`);
  }
}

export class RunCheckpoints {
  /** What the run goes on from; null where it begins. */
  readonly from: Checkpoint | null;
  /** Its settings. */
  readonly settings: Settings;
  /** When it makes checkpoints; null for never. */
  times: CheckpointTimes | null = null;
  private readonly loaded: Loaded;
  private readonly request: CheckpointRequest | null;

  /** @throws CheckpointError, ModelError, OptionError where the run cannot go on from `restart` */
  constructor(loaded: Loaded, settings: Settings, { checkpoint, restart }: CheckpointOptions) {
    this.loaded = loaded;
    this.request = checkpoint ?? null;
    this.from = typeof restart === 'string' ? readCheckpoint(restart) : (restart ?? null);
    const { from } = this;
    this.settings = from === null ? settings : settingsAfter(from, settings);
    if (from !== null) expectSameModel(from, identityOf(loaded, from.head.settings.options));
  }

  /** The number of PEs that the model is sized for. */
  sizedFor(otherwise: number): number {
    return this.from?.head.sizedFor ?? otherwise;
  }

  /**
   * Takes what PEs hand over.
   * @param print gets the lines, in order
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
