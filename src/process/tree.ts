/**
 * The processes of a command: the first, its descendants, and processes that carry its mark in the environment, such as
 * a daemon whose parent has ended.
 */
import { existsSync, readdirSync } from 'node:fs';
import { ProcFile, textOf } from '../os/proc-file.ts';
import { countOf } from '../os/proc-lines.ts';
import { readStat, type Stat } from './texts.ts';

/** Variable of the environment that marks all processes of a recorded command. */
export const ENV_MARK = 'TRISCOPE_RECORDED';

export interface Found {
  readonly id: number;
  readonly stat: Stat;
}

/** Numbers that were given since the last look and are tried one by one; more of them are found sooner by a list of all. */
const FEW = 32;
/** Looks between two lists of all: whatever is missed is found by then. */
const LISTS = 10;

export class ProcessTree {
  private readonly proc: string;
  private readonly mark: string;
  /** All that were there when it was last looked: whether they are the command's. */
  private readonly known = new Map<number, boolean>();
  /** Numbers that the machine gave to a process or thread last: at the previous look, and now; NaN if not known. */
  private before = Number.NaN;
  private newest = Number.NaN;
  /** Looks until all are listed. */
  private left = 0;
  private readonly loads: ProcFile;

  /** @param mark value of ENV_MARK in the command's environment; '' for none */
  constructor(mark: string, proc = '/proc') {
    this.mark = mark;
    this.proc = proc;
    this.loads = new ProcFile(`${proc}/loadavg`);
  }

  /**
   * Whether a process or a thread of the machine has begun since the last look: /proc/loadavg ends with the number
   * that was given last, and reading it costs much less than listing the whole folder.
   */
  hasGrown(): boolean {
    this.newest = Number(/\d+\s*$/.exec(this.loads.read() ?? '')?.[0] ?? Number.NaN);
    return this.newest !== this.before;
  }

  close(): void {
    this.loads.close();
  }

  /**
   * Those of the command that are new; `gone` gets the numbers of those that have ended.
   * @param lists whether some have ended, so that all must be listed
   */
  look(root: number, lists: boolean, gone: (id: number) => void): Found[] {
    const { before, newest } = this;
    this.before = newest;
    // Numbers are given in turn, so that few of them can be new; they begin again after the largest.
    if (!lists && --this.left > 0 && newest > before && newest - before <= FEW) {
      return this.take(root, this.given(before, newest));
    }
    this.left = LISTS;
    const there = new Set<number>();
    for (const name of readdirSync(this.proc)) {
      const id = Number(name);
      if (Number.isInteger(id)) there.add(id);
    }
    for (const [id, own] of this.known) {
      if (there.has(id)) continue;
      this.known.delete(id);
      if (own) gone(id);
    }
    return this.take(root, there);
  }

  /** The processes among these numbers: threads have folders too, which are not listed. */
  private *given(after: number, last: number): Generator<number> {
    for (let id = after + 1; id <= last; id++) {
      const folder = `${this.proc}/${id}`;
      if (!existsSync(folder)) continue;
      if (countOf(textOf(`${folder}/status`) ?? '', 'Tgid') === BigInt(id)) yield id;
    }
  }

  /** Those of the command among the processes, as far as they are new. */
  private take(root: number, there: Iterable<number>): Found[] {
    const { known } = this;
    const unknown = new Map<number, Stat>();
    for (const id of there) {
      if (known.has(id)) continue;
      const stat = readStat(textOf(`${this.proc}/${id}/stat`) ?? '');
      if (stat !== null) unknown.set(id, stat);
    }
    const found: Found[] = [];
    // A child may have the smaller number.
    for (let more = true; more; ) {
      more = false;
      for (const [id, stat] of unknown) {
        if (id !== root && known.get(stat.parent) !== true && !this.isMarked(id)) continue;
        unknown.delete(id);
        known.set(id, true);
        found.push({ id, stat });
        more = true;
      }
    }
    for (const id of unknown.keys()) known.set(id, false);
    return found;
  }

  private isMarked(id: number): boolean {
    if (this.mark === '') return false;
    const environ = textOf(`${this.proc}/${id}/environ`) ?? '';
    return environ.split('\0').includes(`${ENV_MARK}=${this.mark}`);
  }
}
