/** Writes the images that PEs deliver at a checkpoint into a file. Lines that were printed before it are passed on only when it is written. */
import { C, COUNTERS, type EngineCounter, JOINT } from '../counters.ts';
import { Digest } from '../digest.ts';
import type { OutputLine } from '../pe.ts';
import type { PeOutput } from '../pe-run.ts';
import { type Checkpoint, type CheckpointHead, type Done, writeCheckpoint } from './file.ts';
import type { PeImage } from './image.ts';

/** The result of a run's checkpoints. */
export interface WrittenCheckpoint {
  readonly file: string;
  /** Virtual time of the last one that was written; null for none. */
  readonly time: number | null;
  /** Size of the file; 0 where there is none. */
  readonly bytes: number;
  /** Why the last one could not be written; null if it could. The run continues in any case. */
  readonly error: string | null;
}

/** What a run is, for all its checkpoints. */
export type RunHead = Pick<CheckpointHead, 'model' | 'settings' | 'lps' | 'sizedFor'>;

const NOTHING: Done = {
  counts: COUNTERS.map(() => 0),
  eventDigest: [0, 0],
  leastOffset: null,
  leastDelay: null,
  lines: 0,
};

const finite = (time: number) => (time < Infinity ? time : null);

export class CheckpointWriter {
  /** The result so far. */
  written: WrittenCheckpoint;
  private readonly head: RunHead;
  private readonly pes: number;
  private readonly before: Done;
  private readonly print: (lines: readonly OutputLine[]) => void;
  private readonly onWritten: (written: WrittenCheckpoint) => void;
  /** Images of checkpoints that not all PEs have made, by time. */
  private readonly images = new Map<number, PeImage[]>();
  /** By PE: lines to be passed on, and those after a checkpoint that is not written yet. */
  private readonly printed: number[];
  private readonly held: OutputLine[][];

  /** @param from the checkpoint from which the run continues */
  constructor(
    file: string,
    head: RunHead,
    pes: number,
    from: Checkpoint | null,
    print: (lines: readonly OutputLine[]) => void,
    onWritten: (written: WrittenCheckpoint) => void = () => {},
  ) {
    this.written = { file, time: null, bytes: 0, error: null };
    this.head = head;
    this.pes = pes;
    this.before = from?.head.done ?? NOTHING;
    this.print = print;
    this.onWritten = onWritten;
    this.printed = Array.from({ length: pes }, () => 0);
    this.held = Array.from({ length: pes }, () => []);
  }

  /** Takes what `pe` delivers, and passes on the lines before all checkpoints that are not written yet. */
  take(pe: number, { lines, images }: PeOutput): void {
    this.held[pe].push(...lines);
    for (const image of images) {
      const all = this.images.get(image.time) ?? [];
      this.images.set(image.time, [...all, image]);
    }
    this.pass(pe);
    for (const [time, all] of this.images) {
      if (all.length < this.pes) return;
      this.write(all);
      this.images.delete(time);
      for (let one = 0; one < this.pes; one++) this.pass(one);
    }
  }

  /** The run has ended: passes on the remaining lines. */
  end(): void {
    this.images.clear();
    for (let pe = 0; pe < this.pes; pe++) this.pass(pe);
  }

  private pass(pe: number): void {
    const held = this.held[pe];
    const next =
      this.images.size === 0
        ? undefined
        : [...this.images.values()].flat().find((image) => image.pe === pe);
    const count = next === undefined ? held.length : next.lines - this.printed[pe];
    if (count === 0) return;
    this.printed[pe] += count;
    this.print(held.splice(0, count));
  }

  private write(images: readonly PeImage[]): void {
    const inOrder = [...images].sort((a, b) => a.pe - b.pe);
    const { file } = this.written;
    const time = inOrder[0].time;
    try {
      const bytes = writeCheckpoint(file, this.headOf(inOrder), inOrder);
      this.written = { file, time, bytes, error: null };
      this.onWritten(this.written);
    } catch (error) {
      const { message } = error as Error;
      this.written = { ...this.written, error: `${file}: at virtual time ${time}: ${message}` };
    }
  }

  private headOf(images: readonly PeImage[]): Omit<CheckpointHead, 'images'> {
    const { before } = this;
    const digest = new Digest();
    digest.merge(...before.eventDigest);
    for (const image of images) digest.merge(...image.eventDigest);
    const sum = (of: (image: PeImage) => number) => images.reduce((n, one) => n + of(one), 0);
    const least = (now: (image: PeImage) => number, then: number | null) =>
      finite(Math.min(then ?? Infinity, ...images.map(now)));
    const counted = (name: EngineCounter) =>
      JOINT.has(name) ? images[0].counts[C[name]] : sum(({ counts }) => counts[C[name]]);
    return {
      ...this.head,
      time: images[0].time,
      pending: sum(({ count }) => count),
      done: {
        counts: COUNTERS.map((name, k) => before.counts[k] + counted(name)),
        eventDigest: [digest.lo, digest.hi],
        leastOffset: least((image) => image.leastOffset, before.leastOffset),
        leastDelay: least((image) => image.leastDelay, before.leastDelay),
        lines: before.lines + sum(({ lines }) => lines),
      },
      stopTime: finite(Math.min(...images.map((image) => image.stopTime))),
      hookTimes: images.map((image) => finite(image.hookTime)),
      asksHook: images.some((image) => image.asksHook),
    };
  }
}
