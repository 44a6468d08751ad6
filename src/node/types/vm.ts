/**
 * `vm`: virtual memory. Keys as in tacc_stats 2.3.5, which added the huge pages. Kernels have since renamed and
 * split some: the parts are summed. What a kernel does not count at all is not in its schema.
 */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
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

/**
 * What replaces a key that newer kernels lack: Linux 4.8 counts reclaim by memory node instead of by zone, 3.4
 * splits what kswapd reclaims by zone, 4.10 splits stalls by zone; 4.5 renames the last.
 */
const NOW: Readonly<Record<string, RegExp>> = {
  pgrefill_normal: /^pgrefill$/,
  pgsteal_normal: /^pgsteal_(kswapd|direct|khugepaged|proactive)(_normal)?$/,
  pgscan_kswapd_normal: /^pgscan_kswapd$/,
  pgscan_direct_normal: /^pgscan_direct$/,
  kswapd_steal: /^pgsteal_kswapd(_(dma|dma32|normal|movable))?$/,
  allocstall: /^allocstall_(dma|dma32|normal|movable|device)$/,
  thp_split: /^thp_split_page$/,
};

/** The kernel's keys whose sum each key is; empty if the kernel has nothing like it. */
function sourcesOf(text: string): readonly (readonly string[])[] {
  const there = text.split('\n').map((line) => line.split(' ', 1)[0]);
  return METRICS.map(({ key }) =>
    there.includes(key) ? [key] : there.filter((each) => NOW[key]?.test(each)),
  );
}

/** The same for this machine; each key by itself if the file cannot be read yet: `collect` reports that. */
function sourcesHere(file: KernelFile): readonly (readonly string[])[] {
  try {
    const sources = sourcesOf(file.bytes.toString('latin1', 0, file.read()));
    if (sources.some((names) => names.length > 0)) return sources;
  } catch {
    // `collect` fails too, and reports it.
  }
  return METRICS.map(({ key }) => [key]);
}

function open(tree: NodeTree): Collector {
  const file = tree.open('proc/vmstat');
  const sources = sourcesHere(file);
  const metrics = METRICS.filter((_, k) => sources[k].length > 0);
  const sums = sources.filter((names) => names.length > 0);
  const names = [...new Set(sums.flat())];
  const parts = sums.map((of) => of.map((name) => names.indexOf(name)));
  const lines = new KeyLines(names, 0);
  const found = new KeyValues(names.length);
  const values = new KeyValues(metrics.length);
  const collect = (writer: RawWriter) => {
    const end = file.read();
    if (lines.find(file.bytes, end, found) === 0) {
      throw new Error(`${file.path} has none of the keys`);
    }
    values.clear();
    for (let k = 0; k < parts.length; k++) {
      for (const part of parts[k]) values.addFrom(k, found, part, file.bytes);
    }
    writer.record('vm', '-');
    values.write(writer, file.bytes);
    writer.endRecord(metrics.length);
  };
  return { metrics, collect, close: () => file.close() };
}

export const VM: NodeType = {
  name: 'vm',
  help: 'virtual memory statistics',
  device: 'node (-)',
  source: '/proc/vmstat',
  metrics: METRICS,
  open,
};
