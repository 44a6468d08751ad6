/**
 * The processes of a command: the first, what it and its own start, and what carries its mark in the environment, such as
 * a daemon whose parent has ended.
 */
import { readdirSync } from 'node:fs';
import { ProcFile, textOf } from '../os/proc-file.ts';
import { readStat, type Stat } from './texts.ts';

/** Variable of the environment that marks all processes of a recorded command. */
export const ENV_MARK = 'TRISCOPE_RECORDED';

export interface Found {
  readonly id: number;
  readonly stat: Stat;
}

export class ProcessTree {
  private readonly proc: string;
  private readonly mark: string;
  /** All that were there when it was last looked: whether they are the command's. */
  private known = new Map<number, boolean>();
  /**
   * The number that the machine gave to a process or thread last, at the previous look; '' if that is not known.
   */
  private newest = '';
  private readonly loads: ProcFile;

  /** @param mark value of ENV_MARK in the command's environment; '' for none */
  constructor(mark: string, proc = '/proc') {
    this.mark = mark;
    this.proc = proc;
    this.loads = new ProcFile(`${proc}/loadavg`);
  }

  /**
   * Whether a process or a thread of the machine has begun since the last call: /proc/loadavg ends with the number
   * that was given last, and reading it costs much less than listing the whole folder.
   */
  hasGrown(): boolean {
    const newest = /\d+\s*$/.exec(this.loads.read() ?? '')?.[0] ?? '';
    const grown = newest === '' || newest !== this.newest;
    this.newest = newest;
    return grown;
  }

  close(): void {
    this.loads.close();
  }

  /** Those of the command that are new; `gone` gets the numbers of those that have ended. */
  look(root: number, gone: (id: number) => void): Found[] {
    const there = readdirSync(this.proc)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
    const before = this.known;
    const now = new Map<number, boolean>();
    const unknown = new Map<number, Stat>();
    for (const id of there) {
      const known = before.get(id);
      if (known !== undefined) now.set(id, known);
      else {
        const stat = readStat(textOf(`${this.proc}/${id}/stat`) ?? '');
        if (stat !== null) unknown.set(id, stat);
      }
    }
    for (const [id, own] of before) if (own && !now.has(id)) gone(id);
    const found: Found[] = [];
    // A child may have the smaller number.
    for (let more = true; more; ) {
      more = false;
      for (const [id, stat] of unknown) {
        if (id !== root && now.get(stat.parent) !== true && !this.isMarked(id)) continue;
        unknown.delete(id);
        now.set(id, true);
        found.push({ id, stat });
        more = true;
      }
    }
    for (const id of unknown.keys()) now.set(id, false);
    this.known = now;
    return found;
  }

  private isMarked(id: number): boolean {
    if (this.mark === '') return false;
    const environ = textOf(`${this.proc}/${id}/environ`) ?? '';
    return environ.split('\0').includes(`${ENV_MARK}=${this.mark}`);
  }
}
