/**
 * Counters of processors are programmed where the user asks for it, and their control registers get back what they held
 * when the last job, or the daemon, ends. Until then that is kept in a file of the log, `registers`, as JSON:
 *
 *     {"boot": "2116ba51-…", "done": true, "saved": [{"space": "msr 0", "at": 390, "width": 8, "value": "4391376"}, …]}
 *
 * It is written before the registers are, so that whoever is killed between leaves what is to be restored; `done` follows
 * when all are written. A file of before the machine was started again says nothing any more.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { restoreRegisters } from './hardware/register-type.ts';
import type { SavedRegister } from './hardware/registers.ts';
import { bootId } from './jobs.ts';
import { about, reasonOf } from './log/error.ts';
import { type NodeTree, UnavailableError } from './tree.ts';
import { NODE_TYPES } from './types/index.ts';

interface Kept {
  readonly boot: string;
  readonly done: boolean;
  readonly saved: readonly SavedRegister[];
}

export class Programming {
  readonly #path: string;
  readonly #say: (line: string) => void;

  /** `path`: the file. `say` hears, in a line, of what could not be done. */
  constructor(path: string, say: (line: string) => void) {
    this.#path = path;
    this.#say = say;
  }

  /**
   * Programs the types named that can be programmed here, unless that is done. Whether counters are programmed now.
   * @throws LogError where the registers' contents cannot be kept: then no others are written
   */
  begin(tree: NodeTree, types: readonly string[]): boolean {
    const kept = this.#kept();
    if (kept?.done) return true;
    // Somebody was killed at it.
    if (kept !== null) this.end(tree);
    const saved: SavedRegister[] = [];
    let programmed = 0;
    for (const type of NODE_TYPES) {
      if (type.program === undefined || !types.includes(type.name)) continue;
      try {
        type.program(tree, (held) => {
          saved.push(...held);
          this.#keep(saved, false);
        });
        programmed++;
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        this.#say(`${type.name} is not programmed: ${error.message}`);
      }
    }
    if (programmed === 0) {
      rmSync(this.#path, { force: true });
      this.#say('no counters are programmed: no type that this machine has can be');
      return false;
    }
    this.#keep(saved, true);
    return true;
  }

  /** @throws LogError */
  #keep(saved: readonly SavedRegister[], done: boolean): void {
    about(this.#path, () => {
      const draft = `${this.#path}.new`;
      writeFileSync(draft, `${JSON.stringify({ boot: bootId(), done, saved } satisfies Kept)}\n`);
      renameSync(draft, this.#path);
    });
  }

  /** Gives the registers back what they held, if they were programmed. */
  end(tree: NodeTree): void {
    const kept = this.#kept();
    if (kept === null) return;
    try {
      restoreRegisters(tree, kept.saved);
    } catch (error) {
      this.#say(`registers are not all as they were: ${reasonOf(error)}`);
    }
    rmSync(this.#path, { force: true });
  }

  #kept(): Kept | null {
    try {
      const kept = JSON.parse(readFileSync(this.#path, 'utf8')) as Kept;
      return kept.boot === bootId() && Array.isArray(kept.saved) ? kept : null;
    } catch {
      return null;
    }
  }
}
