/**
 * The region page of this process: created by the first thread that marks, joined by the others (and by the C library in
 * the same process, which does the same).
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { rankIn } from '../model/mpi-rank.ts';
import { regionHash } from '../model/region-hash.ts';
import {
  CPUS_BYTES,
  F,
  H,
  NAME_CAPACITY,
  NARROW_NODES,
  NODE_CAPACITY,
  narrowRingOf,
  OVERFLOW_NAME,
  PAGE_MAGIC,
  PAGE_SUFFIX,
  PAGE_VERSION,
  PROCESS_NAME_MOST,
  pageOffsets,
  R,
  REGION_CAPACITY,
  THREAD_CAPACITY,
  THREAD_CAPACITY_SMALL,
  WIDE_THREADS,
} from '../model/region-layout.ts';
import { allowedCpus, threadId } from '../os/affinity.ts';
import { mapFile } from '../os/mmap.ts';

/** The page in memory. */
export interface PageMemory {
  readonly path: string;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
  /** The same memory as counts of 64 bits. */
  readonly i64: BigInt64Array;
  readonly bytes: Uint8Array;
  /** CLOCK_MONOTONIC at the page's time zero, ns. */
  readonly startNs: bigint;
}

/** Events that a ring holds for the request `wish`: a power of two, at least 16, at most 2^16; 0: no rings. */
export function ringCapacityFrom(wish: string | undefined): number {
  const events = Number(wish ?? 0);
  if (!(events >= 1)) return 0;
  return 2 ** Math.ceil(Math.log2(Math.min(Math.max(events, 16), 1 << 16)));
}

/**
 * The page's file: process id, start time and where the stack begins (fields 22 and 28 of /proc/self/stat; 0 where
 * there is none). All threads of a process get the same name; a later process with the same id, or the same process after
 * exec, gets another.
 */
export function pageFileName(): string {
  let fields: string[] = [];
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    // Not Linux.
  }
  // The first of `fields` is field 3.
  return `${process.pid}-${fields[19] ?? 0}-${fields[25] ?? 0}${PAGE_SUFFIX}`;
}

const utf8 = new TextEncoder();

/** Fills the header and region 0 of a new page. */
function initialise(
  page: PageMemory,
  name: string,
  [ringCapacity, threadCapacity]: readonly [number, number],
): void {
  const { u32, f64, bytes } = page;
  const set = (at: number, value: number) => {
    u32[at >> 2] = value;
  };
  const offsets = pageOffsets(ringCapacity, threadCapacity);
  set(H.pid, process.pid);
  set(H.parentPid, process.ppid);
  set(H.bytes, offsets.bytes);
  set(H.threadCapacity, threadCapacity);
  set(H.regionCapacity, REGION_CAPACITY);
  set(H.nodeCapacity, NODE_CAPACITY);
  set(H.nameCapacity, NAME_CAPACITY);
  set(H.ringCapacity, ringCapacity);
  set(H.wideThreads, WIDE_THREADS);
  set(H.narrowNodes, NARROW_NODES);
  set(H.narrowRing, narrowRingOf(ringCapacity));
  set(H.threads, offsets.threads);
  set(H.regions, offsets.regions);
  set(H.names, offsets.names);
  set(H.nodes, offsets.nodes);
  set(H.rings, offsets.rings);
  set(H.rank, rankIn(process.env, 'SLURM_PROCID') ?? -1);
  const nameBytes = utf8.encodeInto(
    name,
    bytes.subarray(H.processName, H.processName + PROCESS_NAME_MOST),
  ).written;
  set(H.processNameBytes, nameBytes);
  const cpus = allowedCpus().filter((cpu) => cpu < 8 * CPUS_BYTES);
  for (const cpu of cpus) bytes[H.cpus + (cpu >> 3)] |= 1 << (cpu & 7);
  set(H.cpuCount, cpus.length === 0 ? 0 : cpus[cpus.length - 1] + 1);
  const overflow = utf8.encode(OVERFLOW_NAME);
  bytes.set(overflow, offsets.names);
  set(offsets.regions + R.hash, regionHash(overflow));
  set(offsets.regions + R.hint, 1);
  set(offsets.regions + R.nameBytes, overflow.length);
  set(offsets.regions + R.state, 1);
  set(H.regionsUsed, 1);
  set(H.namesUsed, overflow.length);
  const wide = new BigUint64Array(bytes.buffer, H.startNs, 2);
  wide[0] = process.hrtime.bigint();
  wide[1] = BigInt(Date.now()) * 1_000_000n;
  f64[H.started >> 3] = 0;
  set(H.flags, F.started);
  set(H.version, PAGE_VERSION);
  set(H.magic, PAGE_MAGIC);
}

function mapPage(path: string, flags: string, create: number): PageMemory | null {
  const fd = openSync(path, flags, 0o600);
  try {
    if (create > 0) ftruncateSync(fd, create);
    const mapping = mapFile(fd, fstatSync(fd).size, 'write');
    if (mapping === null) return null;
    const { memory } = mapping;
    const i64 = new BigInt64Array(memory);
    return {
      ...{ path, i64, u32: new Uint32Array(memory), f64: new Float64Array(memory) },
      ...{ bytes: new Uint8Array(memory), startNs: i64[H.startNs >> 3] },
    };
  } finally {
    closeSync(fd);
  }
}

function joinPage(path: string): PageMemory | null {
  const page = mapPage(path, 'r+', 0);
  const ours = page?.u32[0] === PAGE_MAGIC && page.u32[H.version >> 2] === PAGE_VERSION;
  return ours ? page : null;
}

/**
 * This process's page in `folder`, which is created if missing; null if memory cannot be mapped.
 * @param name of the process, to be shown
 * @throws Error if the folder cannot be written
 */
export function openOwnPage(folder: string, name: string, ringCapacity: number): PageMemory | null {
  const path = join(folder, pageFileName());
  try {
    return joinPage(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  // One level only: Node's recursive mkdir never returns below /proc.
  if (!existsSync(folder)) mkdirSync(folder);
  // Created under another name and linked into place, so that no reader sees it unfinished and the first of two creators wins.
  const aside = `${path}.${threadId() ?? process.pid}.tmp`;
  let threads = THREAD_CAPACITY;
  let page = mapPage(aside, 'wx+', pageOffsets(ringCapacity, threads).bytes);
  try {
    if (page === null) {
      // If address space is limited, the page has room for fewer threads.
      threads = THREAD_CAPACITY_SMALL;
      page = mapPage(aside, 'r+', pageOffsets(ringCapacity, threads).bytes);
    }
    if (page === null) return null;
    initialise(page, name, [ringCapacity, threads]);
    linkSync(aside, path);
    return { ...page, path, startNs: page.i64[H.startNs >> 3] };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return joinPage(path);
    throw error;
  } finally {
    unlinkSync(aside);
  }
}
