/** Where a collector reads: this machine, or a recorded copy of another machine's `proc` and `sys`. */
import { closeSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { DeviceLists, list } from './device-lists.ts';
import { DIRECT, KeptFiles, KernelFile, openKernel, WAITING } from './kernel-file.ts';

export { KernelFile } from './kernel-file.ts';

/**
 * A type has nothing to read here. The message says what is missing.
 * @example
 * ```ts
 * import { NODE_TYPES, NodeTree, UnavailableError } from 'triscope/node';
 *
 * const tree = new NodeTree();
 * for (const type of NODE_TYPES) {
 *   try {
 *     type.open(tree).close();
 *   } catch (error) {
 *     if (error instanceof UnavailableError) console.log(type.name, error.message); // what is missing here
 *   }
 * }
 * tree.close();
 * ```
 */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** The reason if rights are missing: `needs to read /dev/cpu/0/msr (root)`. */
export const needsRights = (what: string): string => `needs to ${what} (root)`;
/** Whether a reason was made by `needsRights`. */
export const isOfRights = (reason: string): boolean => /^needs to .* \(root\)$/.test(reason);

function whyNot(path: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no ${path}`;
  if (code === 'EACCES' || code === 'EPERM') return needsRights(`read ${path}`);
  return message;
}

interface TreeOptions {
  /**
   * Whether opening a file may wait, as for a pipe without a writer. Without it, nothing in a recorded tree can block.
   * Only for a process that may be abandoned.
   */
  readonly waits?: boolean;
}

/**
 * The kernel's files below a root folder: `/`, or a copy for tests. Files that are read again and again stay open.
 * @example
 * ```ts
 * import { NodeTree } from 'triscope/node';
 *
 * const tree = new NodeTree('recorded'); // a folder with proc and sys; without it, this machine
 * console.log(tree.hostname(), tree.uptime(), tree.text('proc/loadavg')); // uptime in seconds
 * tree.close();
 * ```
 */
export class NodeTree {
  /** Absolute path; '/' on this machine. */
  readonly root: string;
  /** Whether reading may block: see `TreeOptions`. */
  readonly waits: boolean;
  /** The root folder as a prefix of paths. */
  private readonly before: string;
  private readonly kept = new KeptFiles();
  private readonly _shared = new Map<string, KernelFile>();
  private _devices: DeviceLists | null = null;

  /** `root`: the folder with `proc` and `sys`. */
  constructor(root = '/', { waits = false }: TreeOptions = {}) {
    this.root = root;
    this.before = root.endsWith('/') ? root : `${root}/`;
    this.waits = waits;
  }

  /** Whether its files are this machine's: registers and the kernel's calls are used only then. */
  get isThisMachine(): boolean {
    return this.root === '/';
  }

  /** The path of `path` (such as `proc/stat`) below the root folder. */
  at(path: string): string {
    return this.before + path;
  }

  /**
   * The file's text is in a buffer that the tree's files share: it is valid until the next of them is read.
   * @throws UnavailableError if it cannot be opened
   */
  open(path: string): KernelFile {
    try {
      return new KernelFile(this.at(path), this.kept, this.waits ? WAITING : DIRECT);
    } catch (error) {
      throw new UnavailableError(whyNot(this.at(path), error as NodeJS.ErrnoException));
    }
  }

  /**
   * A file that several types read: it is read once per collection, into a buffer of its own, and closed with the tree.
   * @throws UnavailableError if it cannot be opened
   */
  shared(path: string): KernelFile {
    let file = this._shared.get(path);
    if (file === undefined) {
      file = this.open(path);
      file.keepText();
      this._shared.set(path, file);
    }
    return file;
  }

  /** Begins a collection: shared files are read again. */
  begin(): void {
    for (const file of this._shared.values()) file.forgetText();
    this._devices?.begin();
  }

  /** Names in a folder; null if it is missing or cannot be listed. */
  list(path: string): string[] | null {
    return list(this.at(path));
  }

  /** Names in a folder of devices in /sys; the same array as before if none came or went. */
  devices(path: string): string[] | null {
    if (!this.isThisMachine) return this.list(path);
    this._devices ??= new DeviceLists(this.openIfThere('sys/kernel/uevent_seqnum'));
    return this._devices.names(this.at(path));
  }

  private openIfThere(path: string): KernelFile | null {
    try {
      return this.open(path);
    } catch {
      return null;
    }
  }

  /** The file's text without surrounding blanks; null if there is no file. */
  text(path: string): string | null {
    try {
      const file = openKernel(this.at(path), this.waits ? WAITING : DIRECT);
      try {
        return readFileSync(file, 'utf8').trim();
      } finally {
        closeSync(file);
      }
    } catch {
      return null;
    }
  }

  /** The name that its kernel has for the host. */
  hostname(): string {
    return this.text('proc/sys/kernel/hostname') || os.hostname();
  }

  /** System, machine, release, version, as in the header of a raw stats file. */
  uname(): string {
    const release = this.text('proc/sys/kernel/osrelease') ?? os.release();
    const version = this.text('proc/sys/kernel/version') ?? os.version();
    return `${os.type()} ${os.machine()} ${release} ${version}`;
  }

  /** Seconds since the machine was started; 0 if a recorded tree does not tell. */
  uptime(): number {
    const [seconds] = (this.text('proc/uptime') ?? '').split(' ');
    return Number(seconds) || (this.isThisMachine ? os.uptime() : 0);
  }

  /** Closes what is shared; types close their own files. */
  close(): void {
    for (const file of this._shared.values()) file.close();
    this._shared.clear();
    this._devices?.close();
    this._devices = null;
  }
}
