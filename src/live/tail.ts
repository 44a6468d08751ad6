/** A recording that another process writes: what is appended to its files goes to a bus, as from a run in this process. */
import { batchOf, timeColumnOf } from '../formats/part.ts';
import { type OpenedFile, openData } from '../formats/registry.ts';
import type { Batch } from '../model/metric.ts';
import type { Note } from '../model/note.ts';
import { type SourceFile, sourcesOf } from '../query/sources.ts';
import { WALL_TIME } from '../query/table.ts';
import { pageFactsOf } from '../view/facts/run.ts';
import type { LiveBus } from './bus.ts';
import { flagsOf } from './flags.ts';

/** Of the simulator's native files: its frames hold the same samples. */
const IN_FRAMES = 'ross';

interface Followed {
  readonly file: SourceFile;
  readonly opened: OpenedFile;
}

export class RecordingTail {
  private readonly path: string;
  private readonly title: string;
  private readonly bus: LiveBus;
  /** By path; null for a file that does not grow, or whose samples others hold. */
  private readonly followed = new Map<string, Followed | null>();
  /** What the recording said of itself when it was last seen. */
  private told = '';
  private noted = '[]';

  constructor(path: string, title: string, bus: LiveBus) {
    this.path = path;
    this.title = title;
    this.bus = bus;
  }

  /** Looks for new files, and at what the recording says of itself. @throws a file system's error, RecordingError */
  look(): void {
    const { recording, files, notes } = sourcesOf(this.path);
    this.note(notes.notes);
    const text = JSON.stringify(recording);
    if (recording !== null && text !== this.told) {
      // Its last samples first: who hears that it has ended does not wait for more.
      if (recording.state !== 'running') while (this.poll()) {}
      this.told = text;
      this.bus.update(pageFactsOf(recording, this.title, []));
    }
    for (const file of files) {
      if (!this.followed.has(file.path)) this.follow(file);
    }
  }

  /** Tells of notes that somebody wrote meanwhile. */
  private note(notes: readonly Note[]): void {
    const text = JSON.stringify(notes);
    if (text === this.noted) return;
    this.noted = text;
    this.bus.update({ flags: flagsOf(notes, []) });
  }

  /** Takes what was appended to each file. Returns whether there was any. */
  poll(): boolean {
    let rows = 0;
    for (const followed of this.followed.values()) {
      followed?.opened.grow?.((part, step) => {
        rows += step.rows;
        this.publish(followed, batchOf(part, step));
      });
    }
    return rows > 0;
  }

  close(): void {
    for (const followed of this.followed.values()) followed?.opened.close();
    this.followed.clear();
  }

  /** Publishes what a file has, and follows it from there. One that is still empty is looked at again. */
  private follow(file: SourceFile): void {
    if (file.format === IN_FRAMES) return void this.followed.set(file.path, null);
    const early: Batch[] = [];
    const opened = openData(file.path, file.format, {
      growing: true,
      take: (part, step) => void early.push(batchOf(part, step)),
    });
    if (opened === null) return;
    if (opened.grow === undefined || opened.format === IN_FRAMES) {
      opened.close();
      this.followed.set(file.path, null);
      return;
    }
    const followed = { file, opened };
    this.followed.set(file.path, followed);
    for (const batch of early) this.publish(followed, batch);
  }

  private publish({ file, opened }: Followed, batch: Batch): void {
    const zero = opened.zero ?? file.zero ?? BigInt(this.bus.facts.zero);
    const shift = Number(zero - BigInt(this.bus.facts.zero)) / 1e9;
    this.bus.publish(moved(batch, shift));
  }
}

/** With times that count from a zero `shift` seconds earlier; times of day stay. */
function moved(batch: Batch, shift: number): Batch {
  const time = timeColumnOf(batch.schema);
  if (shift === 0 || time === null || batch.schema.metrics[time].key === WALL_TIME) return batch;
  const columns = [...batch.columns];
  columns[time] = (columns[time] as Float64Array).map((at) => at + shift);
  return { ...batch, columns };
}
