/**
 * `vm`: virtual memory. Keys as in tacc_stats 2.3.5, which added the huge pages. Kernels have renamed many since: those
 * are 0 there.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { NodeTree } from '../tree.ts';
import { KeyLines } from './key-lines.ts';
import { KeyValues } from './key-values.ts';
import { type Collector, counter, gauge, type NodeType } from './type.ts';

const METRICS = [
  gauge('nr_anon_transparent_hugepages', 'transparent huge pages that belong to no file'),
  counter('pgpgin', 'read from block devices', 'KB'),
  counter('pgpgout', 'written to block devices', 'KB'),
  counter('pswpin', 'pages swapped in'),
  counter('pswpout', 'pages swapped out'),
  counter('pgalloc_normal', 'pages allocated in zone Normal'),
  counter('pgfree', 'pages freed'),
  counter('pgactivate', 'pages made active'),
  counter('pgdeactivate', 'pages made inactive'),
  counter('pgfault', 'page faults'),
  counter('pgmajfault', 'page faults that needed a disk'),
  counter('pgrefill_normal', 'active pages of zone Normal examined'),
  counter('pgsteal_normal', 'pages of zone Normal reclaimed'),
  counter('pgscan_kswapd_normal', 'pages of zone Normal scanned by kswapd'),
  counter('pgscan_direct_normal', 'pages of zone Normal scanned by who needed memory'),
  counter('pginodesteal', 'pages reclaimed with their inodes'),
  counter('slabs_scanned', 'slab objects scanned'),
  counter('kswapd_steal', 'pages reclaimed by kswapd'),
  counter('kswapd_inodesteal', 'pages reclaimed with their inodes by kswapd'),
  counter('pageoutrun', 'runs of kswapd'),
  counter('allocstall', 'allocations that had to reclaim memory first'),
  counter('pgrotated', 'pages moved to the tail of the inactive list'),
  counter('thp_fault_alloc', 'huge pages allocated by page faults'),
  counter('thp_fault_fallback', 'page faults that got no huge page'),
  counter('thp_collapse_alloc', 'huge pages allocated to collapse small ones'),
  counter('thp_collapse_alloc_failed', 'of those, not to be had'),
  counter('thp_split', 'huge pages split'),
];

function open(tree: NodeTree): Collector {
  const file = tree.open('proc/vmstat');
  const lines = new KeyLines(
    METRICS.map(({ key }) => key),
    0,
  );
  const values = new KeyValues(METRICS.length);
  const collect = (writer: RawWriter) => {
    const end = file.read();
    if (lines.find(file.bytes, end, values) === 0) {
      throw new Error(`${file.path} has none of the keys`);
    }
    writer.record('vm', '-');
    values.write(writer, file.bytes);
    writer.endRecord(METRICS.length);
  };
  return { collect, close: () => file.close() };
}

export const VM: NodeType = {
  name: 'vm',
  help: 'virtual memory statistics',
  device: 'node (-)',
  source: '/proc/vmstat',
  metrics: METRICS,
  open,
};
