/** Record groups that could not be written yet: kept in memory, and written in order as soon as possible. */
import { LogError } from './error.ts';
import type { LogHead } from './head.ts';
import type { LogGroup, NodeLog } from './log.ts';

/** Most bytes that are kept, whatever the number of groups. */
const MOST_BYTES = 16 * 2 ** 20;

interface WaitingGroup extends LogGroup {
  readonly head: LogHead;
}

/**
 * Groups that could not be written yet, oldest first. Beyond a number of groups or bytes, the oldest are dropped and counted.
 * @example
 * ```ts
 * import { Backlog, NodeLog, Sampling } from 'triscope/node';
 *
 * const backlog = new Backlog(300); // groups
 * const log = new NodeLog('log');
 * const sampling = new Sampling({ types: ['cpu'] });
 * const group = sampling.take(['-']);
 * try {
 *   log.locked(() => backlog.append(log, sampling.head, group));
 * } catch {
 *   console.error(`${backlog.length} groups wait`); // a full disk: the next append writes them first
 * }
 * sampling.close();
 * ```
 */
export class Backlog {
  /** Number of groups that were dropped to make room for others, oldest first. */
  dropped = 0;
  private readonly most: number;
  private readonly kept: WaitingGroup[] = [];
  private bytes = 0;

  /** Keeps at most `most` groups, like `buffer` in tacc_stats' configuration. */
  constructor(most: number) {
    this.most = Math.max(1, most);
  }

  /** Number of groups that wait. */
  get length(): number {
    return this.kept.length;
  }

  /**
   * Writes the groups that wait, then `group`, whose bytes may be reused afterwards. The log must be locked.
   * @throws LogError if that is not possible now; the group is then kept
   */
  append(log: NodeLog, head: LogHead, group: LogGroup): void {
    try {
      for (let first = this.kept[0]; first !== undefined; first = this.kept[0]) {
        log.append(first.head, first);
        this.bytes -= first.bytes.length;
        this.kept.shift();
      }
      log.append(head, group);
    } catch (error) {
      if (error instanceof LogError) this.keep(head, group);
      throw error;
    }
  }

  /** Keeps a group until `append`. @param head what its file must begin with */
  keep(head: LogHead, { second, bytes }: LogGroup): void {
    this.kept.push({ head, second, bytes: new Uint8Array(bytes) });
    this.bytes += bytes.length;
    while (this.kept.length > this.most || this.bytes > MOST_BYTES) {
      this.bytes -= this.kept.shift()?.bytes.length ?? 0;
      this.dropped++;
    }
  }
}
