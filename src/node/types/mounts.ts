/** The mount table, /proc/mounts: mount points of one kind of file system, and whether looking at them can block. */
import type { KernelFile } from '../kernel-file.ts';
import type { NodeTree } from '../tree.ts';

export interface Mount {
  /** The kernel writes blanks as `\040`. */
  readonly written: string;
  readonly path: string;
  readonly type: string;
}

/** File systems that no server can stop. All others are assumed to be able to hang. */
const LOCAL = new Set(
  `autofs bpf btrfs cgroup cgroup2 configfs debugfs devpts devtmpfs efivarfs erofs ext2 ext3 ext4 f2fs hugetlbfs
iso9660 mqueue nsfs overlay proc pstore ramfs rootfs securityfs squashfs sysfs tmpfs tracefs vfat xfs zfs`.split(
    /\s/,
  ),
);

const unescaped = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));

export class MountTable {
  private readonly file: KernelFile;
  private known: Buffer = Buffer.alloc(0);
  private mounts: readonly Mount[] = [];

  /** @throws UnavailableError */
  constructor(tree: NodeTree) {
    this.file = tree.shared('proc/mounts');
  }

  /** The current mounts; if several are at one place, the last, which hides the others. */
  read(): readonly Mount[] {
    const end = this.file.read();
    const text = this.file.bytes.subarray(0, end);
    // It seldom changes.
    if (text.equals(this.known)) return this.mounts;
    this.known = Buffer.from(text);
    const mounts = new Map<string, Mount>();
    for (const line of text.toString('utf8').split('\n')) {
      const [, written, type] = line.split(' ');
      if (type === undefined) continue;
      mounts.delete(written);
      mounts.set(written, { written, path: unescaped(written), type });
    }
    this.mounts = [...mounts.values()];
    return this.mounts;
  }

  /**
   * Whether the path to a mount point leads through a file system that can hang. The root does not count: if it
   * hangs, so does this process.
   */
  isBehindServer({ path }: Mount): boolean {
    return this.mounts.some(
      (other) =>
        !LOCAL.has(other.type) &&
        other.path !== '/' &&
        other.path !== path &&
        path.startsWith(`${other.path}/`),
    );
  }
}
