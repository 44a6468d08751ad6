/** The machine that is measured: this one, or a recorded (or changing) tree of another machine's `proc` and `sys`. */
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
} from 'node:fs';
import { join } from 'node:path';
import { NON_BLOCKING } from './polled-file.ts';
import { MachineTopology } from './topology.ts';

/**
 * The machine to which signals belong: its files below a root, and its topology.
 * @example
 * ```ts
 * import { Machine } from 'triscope/signals';
 *
 * const machine = new Machine(); // or a folder with another machine's proc and sys
 * console.log(machine.topology.count('cpu'), machine.text('/proc/loadavg'));
 * ```
 */
export class Machine {
  /** Absolute path; '/' for this machine. */
  readonly root: string;
  /** Packages, cores, CPUs and the like. */
  readonly topology: MachineTopology;

  /** @param root the folder that contains `proc` and `sys` */
  constructor(root = '/') {
    this.root = root;
    this.topology = MachineTopology.of(this);
  }

  /** Whether these are this machine's files: only then are its devices used. */
  get isThisMachine(): boolean {
    return this.root === '/';
  }

  /** `path` below the root, as an absolute path of the system. */
  path(path: string): string {
    return join(this.root, path);
  }

  /** The file's text without surrounding blanks; null if it cannot be read. */
  text(path: string): string | null {
    let file = -1;
    try {
      file = openSync(this.path(path), NON_BLOCKING);
      return readFileSync(file, 'utf8').trim();
    } catch {
      return null;
    } finally {
      if (file >= 0) closeSync(file);
    }
  }

  /** The number that is the whole text of a file; NaN if there is none. */
  number(path: string): number {
    const text = this.text(path);
    return text === null || text === '' ? Number.NaN : Number(text);
  }

  /** Names in a folder that `pattern` matches, numbers in them in order of size. */
  list(folder: string, pattern = /./): string[] {
    try {
      const names = readdirSync(this.path(folder)).filter((name) => pattern.test(name));
      return names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    } catch {
      return [];
    }
  }

  /** The target of a chain of links, as an absolute path; null if there is none. */
  target(path: string): string | null {
    try {
      return realpathSync(this.path(path));
    } catch {
      return null;
    }
  }

  /** Whether a file below the root can be read. */
  canRead(path: string): boolean {
    return this.may(path, constants.R_OK);
  }

  /** Whether a file exists below the root. */
  exists(path: string): boolean {
    return this.may(path, constants.F_OK);
  }

  private may(path: string, mode: number): boolean {
    try {
      accessSync(this.path(path), mode);
      return true;
    } catch {
      return false;
    }
  }
}
