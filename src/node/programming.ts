/**
 * Counters of processors are programmed where the user asks for it, and their control registers get back what they held
 * when the last job, or the daemon, ends. Until then that is kept in a file of the log, `registers`, as JSON:
 *
 *     {"boot": "2116ba51-…", "saved": [{"space": "msr 0", "at": 390, "width": 8, "value": "4391376"}, …]}
 *
 * A file of before the machine was started again says nothing any more.
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
   * @throws LogError where the registers' contents cannot be kept; they have them again
   */
  begin(tree: NodeTree, types: readonly string[]): boolean {
    if (this.#kept() !== null) return true;
    const saved: SavedRegister[] = [];
    for (const type of NODE_TYPES) {
      if (type.program === undefined || !types.includes(type.name)) continue;
      try {
        saved.push(...type.program(tree));
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        this.#say(`${type.name} is not programmed: ${error.message}`);
      }
    }
    if (saved.length === 0) {
      this.#say('no counters are programmed: no type that this machine has can be');
      return false;
    }
    try {
      about(this.#path, () => {
        const draft = `${this.#path}.new`;
        writeFileSync(draft, `${JSON.stringify({ boot: bootId(), saved } satisfies Kept)}\n`);
        renameSync(draft, this.#path);
      });
    } catch (error) {
      restoreRegisters(tree, saved);
      throw error;
    }
    return true;
  }

  /** Gives the registers back what they held, if they were programmed. */
  end(tree: NodeTree): void {
    const saved = this.#kept();
    if (saved === null) return;
    try {
      restoreRegisters(tree, saved);
    } catch (error) {
      this.#say(`registers are not all as they were: ${reasonOf(error)}`);
    }
    rmSync(this.#path, { force: true });
  }

  #kept(): readonly SavedRegister[] | null {
    try {
      const { boot, saved } = JSON.parse(readFileSync(this.#path, 'utf8')) as Kept;
      return boot === bootId() && Array.isArray(saved) ? saved : null;
    } catch {
      return null;
    }
  }
}
