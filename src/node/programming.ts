/**
 * Programs the processors' counters if the user asks for it. Their control registers get back their old values
 * when the last job, or the daemon, ends. Until then these are kept in a file of the log, `registers`, as JSON:
 *
 *     {"boot": "2116ba51-…", "done": true, "saved": [{"space": "msr 0", "at": 390, "width": 8, "value": "4391376"}, …]}
 *
 * The file is written before the registers are, so that a process killed in between leaves what is to be restored; `done` is added
 * when all are written. A file from before the machine's last start is ignored. `owner` is the process of the
 * daemon that programmed them: as long as it runs, no other process restores them.
 */
import { rmSync } from 'node:fs';
import { isAlive } from '../os/alive.ts';
import { readTrusted, UntrustedError } from '../os/trusted-file.ts';
import { replaceFile } from '../os/whole-file.ts';
import { restoreRegisters } from './hardware/register-type.ts';
import type { SavedRegister } from './hardware/registers.ts';
import { bootId } from './jobs.ts';
import { about, reasonOf } from './log/error.ts';
import { type NodeTree, UnavailableError } from './tree.ts';
import { NODE_TYPES } from './types/index.ts';

/** Most bytes of the file: 100 for each register of a large machine. */
const MOST_BYTES = 1 << 24;

interface SavedRegisters {
  readonly boot: string;
  readonly done: boolean;
  readonly saved: readonly SavedRegister[];
  readonly owner?: number;
}

/**
 * What the hardware's counters were set to count. It is written down so that the end of a job can undo it.
 * @example
 * ```ts
 * import { NodeTree, Programming } from 'triscope/node';
 *
 * const tree = new NodeTree();
 * const programming = new Programming('log/registers', (line) => console.error(line));
 * programming.begin(tree, ['intel_skx']); // when a job begins
 * programming.end(tree); // the registers hold again what they held before
 * tree.close();
 * ```
 */
export class Programming {
  private readonly path: string;
  private readonly say: (line: string) => void;

  /** `path`: the file. `say` gets a line for anything that could not be done. */
  constructor(path: string, say: (line: string) => void) {
    this.path = path;
    this.say = say;
  }

  /**
   * Programs those of the types named that this machine has, unless that is done already. Returns whether counters are programmed now.
   * @param owner the only process that restores them, while it runs; null: whoever calls `end`
   * @throws LogError if the registers' old values cannot be saved: then no register is written
   */
  begin(tree: NodeTree, types: readonly string[], owner: number | null = null): boolean {
    const kept = this.kept();
    if (kept?.done) {
      if (owner !== null) this.keep(kept.saved, true, owner);
      this.arm(tree, types);
      return true;
    }
    // A process was killed while it programmed them.
    if (kept !== null) this.end(tree, kept.owner ?? null);
    const saved: SavedRegister[] = [];
    let programmed = 0;
    for (const type of NODE_TYPES) {
      if (type.program === undefined || !types.includes(type.name)) continue;
      try {
        type.program(tree, (held) => {
          saved.push(...held);
          this.keep(saved, false, owner);
        });
        programmed++;
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        this.say(`${type.name} is not programmed: ${error.message}`);
      }
    }
    if (programmed === 0) {
      rmSync(this.path, { force: true });
      this.say('no counters are programmed: no type that this machine has can be');
      return false;
    }
    this.keep(saved, true, owner);
    return true;
  }

  /**
   * If counters are programmed, sets their control registers again, as when a job begins, because the last job may have set
   * others. The counters continue from their values.
   */
  arm(tree: NodeTree, types: readonly string[]): void {
    if (this.kept()?.done !== true) return;
    for (const type of NODE_TYPES) {
      if (type.program === undefined || !types.includes(type.name)) continue;
      try {
        type.program(tree, () => {});
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
      }
    }
  }

  /** @throws LogError */
  private keep(saved: readonly SavedRegister[], done: boolean, owner: number | null): void {
    about(this.path, () => {
      const kept: SavedRegisters = {
        boot: bootId(),
        done,
        saved,
        ...(owner !== null && { owner }),
      };
      replaceFile(this.path, `${JSON.stringify(kept)}\n`, { mode: 0o600 });
    });
  }

  /**
   * Restores the registers' old values, if they were programmed; not those of a running daemon, which does so itself.
   * @param by process id of the daemon that calls; null: not a daemon
   */
  end(tree: NodeTree, by: number | null = null): void {
    const kept = this.kept();
    if (kept === null) return;
    if (kept.owner !== undefined && kept.owner !== by && isAlive(kept.owner)) return;
    try {
      restoreRegisters(tree, NODE_TYPES, kept.saved);
    } catch (error) {
      this.say(`not all registers were restored: ${reasonOf(error)}`);
    }
    rmSync(this.path, { force: true });
  }

  /** The file's contents; null if there is no file, or it is from another boot or not credible. */
  private kept(): SavedRegisters | null {
    try {
      const kept: unknown = JSON.parse(readTrusted(this.path, MOST_BYTES));
      return areSaved(kept) && kept.boot === bootId() ? kept : null;
    } catch (error) {
      if (error instanceof UntrustedError) this.say(`${error.message}: no register is restored`);
      return null;
    }
  }
}

function areSaved(value: unknown): value is SavedRegisters {
  const { boot, saved, owner = 1 } = (value ?? {}) as Partial<SavedRegisters>;
  const isWhole = typeof boot === 'string' && Number.isSafeInteger(owner) && owner > 0;
  return isWhole && Array.isArray(saved) && saved.every(isSaved);
}

function isSaved(value: unknown): value is SavedRegister {
  const { space, at, width, value: held } = (value ?? {}) as Partial<SavedRegister>;
  return (
    typeof space === 'string' &&
    Number.isInteger(at) &&
    (width === 4 || width === 8) &&
    typeof held === 'string' &&
    /^\d{1,20}$/.test(held) &&
    BigInt(held) >> BigInt(8 * width) === 0n
  );
}
