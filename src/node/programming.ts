/**
 * Counters of processors are programmed where the user asks for it, and their control registers get back what they held
 * when the last job, or the daemon, ends. Until then that is kept in a file of the log, `registers`, as JSON:
 *
 *     {"boot": "2116ba51-…", "done": true, "saved": [{"space": "msr 0", "at": 390, "width": 8, "value": "4391376"}, …]}
 *
 * It is written before the registers are, so that whoever is killed between leaves what is to be restored; `done` follows
 * when all are written. A file of before the machine was started again says nothing any more. `owner` is the process of a
 * daemon that programmed them: as long as it runs, nobody else gives them back.
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

/** Bytes of the file: 100 for each register of a large machine. */
const MOST = 1 << 24;

interface SavedRegisters {
  readonly boot: string;
  readonly done: boolean;
  readonly saved: readonly SavedRegister[];
  readonly owner?: number;
}

/**
 * What counters of the hardware were set to count, written down so that the end of a job can set it back.
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

  /** `path`: the file. `say` hears, in a line, of what could not be done. */
  constructor(path: string, say: (line: string) => void) {
    this.path = path;
    this.say = say;
  }

  /**
   * Programs the types named that can be programmed here, unless that is done. Whether counters are programmed now.
   * @param owner process that alone gives them back, while it runs; null: whoever calls `end`
   * @throws LogError where the registers' contents cannot be kept: then no others are written
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
   * Where counters are programmed, sets their control registers again, as when a job begins: the last one may have set
   * others. Counters go on from where they are.
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
   * Gives the registers back what they held, if they were programmed; not those of a daemon that runs, which does that.
   * @param by the daemon's process; null: nobody's
   */
  end(tree: NodeTree, by: number | null = null): void {
    const kept = this.kept();
    if (kept === null) return;
    if (kept.owner !== undefined && kept.owner !== by && isAlive(kept.owner)) return;
    try {
      restoreRegisters(tree, NODE_TYPES, kept.saved);
    } catch (error) {
      this.say(`registers are not all as they were: ${reasonOf(error)}`);
    }
    rmSync(this.path, { force: true });
  }

  /** What the file says; null where there is none, or none of this boot, or none to be believed. */
  private kept(): SavedRegisters | null {
    try {
      const kept: unknown = JSON.parse(readTrusted(this.path, MOST));
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
