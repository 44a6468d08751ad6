/** Samples of one machine as bytes: a header, and record groups that go under it. */
import { Collection, type CollectionOptions } from './collect.ts';
import type { LogHead } from './log/head.ts';
import type { LogGroup } from './log/log.ts';
import { NodeTree } from './tree.ts';
import type { Absent } from './types/open-types.ts';

/** Said in the header; readers pass over properties that they do not know. */
const PROPERTIES = { collector: 'triscope' };

function headerOf(options: CollectionOptions): Uint8Array {
  const sampling = new Sampling(options);
  sampling.close();
  return sampling.head.bytes;
}

export class Sampling {
  readonly collection: Collection;
  readonly head: LogHead;
  #last: Uint8Array = new Uint8Array(0);

  /**
   * Opens the types. A file that a partial collection begins gets the schemas of all types, so that it can take whole
   * ones too.
   * @throws UnknownTypeError
   */
  constructor(options: CollectionOptions) {
    this.collection = new Collection((bytes) => {
      this.#last = bytes;
    }, options);
    this.collection.writer.header(PROPERTIES);
    const { types = [], ...others } = options;
    const tree = new NodeTree(options.root);
    this.head = {
      bytes: new Uint8Array(this.#last),
      // Recorded trees stand still.
      started: tree.isThisMachine ? Date.now() / 1000 - tree.uptime() : null,
      ...(types.length > 0 && { whole: () => headerOf(others) }),
    };
  }

  get host(): string {
    return this.collection.host;
  }

  /** Collects a group; its bytes are valid until the next. */
  take(jobs: readonly string[], mark?: string, failed?: (absent: Absent) => void): LogGroup {
    const time = this.collection.collect(jobs, mark, failed);
    return { second: Math.floor(time / 1e6), bytes: this.#last };
  }

  close(): void {
    this.collection.close();
  }
}
