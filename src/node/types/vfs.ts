/** `vfs`: caches of the virtual file system. Keys as in tacc_stats. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { Scanner } from './scan.ts';
import { type Collector, gauge, type NodeType } from './type.ts';

const FOLDER = 'proc/sys/fs';

const METRICS = [
  gauge('dentry_use', 'directory entries in use'),
  gauge('file_use', 'file handles allocated'),
  gauge('inode_use', 'inodes in use'),
];
/** Where they are. `unused`: whether to subtract the file's second number from its first. */
const SOURCES = [
  { file: 'dentry-state', unused: true },
  { file: 'file-nr', unused: false },
  { file: 'inode-state', unused: true },
];

function open(tree: NodeTree): Collector {
  const scanner = new Scanner();
  const files = SOURCES.map(({ file }): KernelFile | null => {
    try {
      return tree.open(`${FOLDER}/${file}`);
    } catch {
      return null;
    }
  });
  if (files.every((file) => file === null)) throw new UnavailableError(`/${FOLDER} has no caches`);
  const collect = (writer: RawWriter) => {
    writer.record('vfs', '-');
    for (const [k, file] of files.entries()) {
      if (file === null) {
        writer.number(0);
        continue;
      }
      scanner.over(file.bytes, file.readPiece());
      const all = scanner.word() ? scanner.number() : Number.NaN;
      const unused = !SOURCES[k].unused ? 0 : scanner.word() ? scanner.number() : Number.NaN;
      if (!(all >= 0 && unused >= 0)) throw new Error(`${file.path} has no such numbers`);
      // The kernel counts them one after the other.
      writer.number(Math.max(0, all - unused));
    }
    writer.endRecord(METRICS.length);
  };
  const close = () => {
    for (const file of files) file?.close();
  };
  return { collect, close };
}

export const VFS: NodeType = {
  name: 'vfs',
  help: 'usage of the dentry, file and inode caches',
  device: 'node (-)',
  source: '/proc/sys/fs/dentry-state, file-nr, inode-state',
  metrics: METRICS,
  open,
};
