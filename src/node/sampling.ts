/** Samples of one machine as bytes: a header, and record groups that go under it. */
import { Collection, type CollectionOptions } from './collect.ts';
import { totalsEpoch } from './hardware/wide-counter.ts';
import { type LogHead, TOTALS } from './log/head.ts';
import type { LogGroup, NodeLog } from './log/log.ts';
import { NodeTree } from './tree.ts';
import { NODE_TYPES } from './types/index.ts';
import type { Absent } from './types/open-types.ts';

/** Said in the header; readers pass over properties that they do not know. */
const PROPERTIES = { collector: 'triscope' };

/** Types with narrow counters, of which a daemon writes totals. */
const WIDENED: ReadonlySet<string> = new Set(
  NODE_TYPES.filter(({ openWide }) => openWide !== undefined).map(({ name }) => name),
);

function headerOf(options: CollectionOptions): Uint8Array {
  const sampling = new Sampling(options);
  sampling.close();
  return sampling.head.bytes;
}

/**
 * Types that the current file of a log has as totals of a daemon: a single sample cannot know how often their counters
 * rolled over, and leaves them to it.
 */
export function totalsOf(log: NodeLog): readonly string[] {
  return [...WIDENED].filter((name) => {
    const line = log.schema(name);
    return line !== null && !/,W=(3|4[0-7])/.test(line);
  });
}

/**
 * Takes groups of one machine, one after the other, as bytes of a raw stats file.
 * @example
 * ```ts
 * import { Sampling } from 'triscope/node';
 *
 * const sampling = new Sampling({ types: ['cpu'] });
 * process.stdout.write(sampling.head.bytes);
 * process.stdout.write(sampling.take(['4001'], 'begin 4001').bytes);
 * sampling.close();
 * ```
 */
export class Sampling {
  /** What is collected. */
  readonly collection: Collection;
  /** What a file of its groups begins with. */
  readonly head: LogHead;
  private last: Uint8Array = new Uint8Array(0);
  /** The epoch of totals in its header; null where there are none. */
  private readonly totals: string | null;

  /**
   * Opens the types. A file that a partial collection begins gets the schemas of all types, so that it can take whole
   * ones too.
   * @throws UnknownTypeError
   */
  constructor(options: CollectionOptions) {
    this.collection = new Collection((bytes) => {
      this.last = bytes;
    }, options);
    const wide = options.wide && this.collection.types.some((type) => WIDENED.has(type));
    this.totals = wide ? totalsEpoch() : null;
    this.collection.writer.header({
      ...PROPERTIES,
      ...(this.totals !== null && { [TOTALS]: this.totals }),
    });
    const { types = [], ...others } = options;
    const tree = new NodeTree(options.root);
    this.head = {
      bytes: new Uint8Array(this.last),
      // Recorded trees stand still.
      started: tree.isThisMachine ? Date.now() / 1000 - tree.uptime() : null,
      ...(types.length > 0 && { whole: () => headerOf(others) }),
    };
  }

  /** Whether totals have begun again since it was opened: its file ends, as no reader could tell from a rollover. */
  get isOver(): boolean {
    return this.totals !== null && this.totals !== totalsEpoch();
  }

  /** Name of the host, as it stands in each record. */
  get host(): string {
    return this.collection.host;
  }

  /** Collects a group; its bytes are valid until the next. */
  take(jobs: readonly string[], mark?: string, failed?: (absent: Absent) => void): LogGroup {
    const time = this.collection.collect(jobs, mark, failed);
    return { second: Math.floor(time / 1e6), bytes: this.last };
  }

  /** Types of which the last group has no record: this machine has no device of theirs now, or they could not be read. */
  withoutRecords(): readonly string[] {
    const text = Buffer.from(this.last).toString('latin1');
    return this.collection.types.filter((type) => !text.includes(`\n${type} `));
  }

  /** Closes the collectors' files. */
  close(): void {
    this.collection.close();
  }
}
