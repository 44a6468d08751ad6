/**
 * `tmpfs`: file systems in memory. Keys as in tacc_stats. Of a recorded tree only those count that are mounted in it:
 * other numbers would be of this machine.
 */
import { type BigIntStatsFs, statfsSync } from 'node:fs';
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { NodeTree } from '../tree.ts';
import { MountTable } from './mounts.ts';
import { type Collector, gauge, type NodeType } from './type.ts';

/** TMPFS_MAGIC of linux/magic.h. */
const MAGIC = 0x01021994n;

const METRICS = [gauge('bytes_used', 'memory in use', 'B'), gauge('files_used', 'inodes in use')];

function open(tree: NodeTree): Collector {
  const table = new MountTable(tree);
  const collect = (writer: RawWriter) => {
    for (const mount of table.read()) {
      if (mount.type !== 'tmpfs') continue;
      // Mounted after this process opened the type. With such a mount at the start, a child process would read them all.
      if (!tree.waits && table.isBehindServer(mount)) continue;
      let facts: BigIntStatsFs;
      try {
        facts = statfsSync(tree.at(mount.path.slice(1)), { bigint: true });
      } catch {
        // Unmounted, or in a folder that is not ours to enter.
        continue;
      }
      if (facts.type !== MAGIC) continue;
      writer.record('tmpfs', mount.written);
      writer.bigint(facts.bsize * (facts.blocks - facts.bfree));
      writer.bigint(facts.files - facts.ffree);
      writer.endRecord(METRICS.length);
    }
  };
  return { collect, close: () => {} };
}

/** Whether a tmpfs lies behind a file system that can hang. */
function mayBlock(tree: NodeTree): boolean {
  const table = new MountTable(tree);
  return table.read().some((mount) => mount.type === 'tmpfs' && table.isBehindServer(mount));
}

export const TMPFS: NodeType = {
  name: 'tmpfs',
  help: 'usage of file systems in memory',
  device: 'mount point',
  source: '/proc/mounts, statfs()',
  metrics: METRICS,
  open,
  mayBlock,
};
