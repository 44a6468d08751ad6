/**
 * Reads a process's region page while the process runs or after its end: one PageReader per page file. The file is mapped, because
 * only mapped memory gives consistent slots; without FFI its parts are read into a copy. Slots that are being written are read again (`seq`). Each
 * poll first checks the file's length, because an access to memory whose file was truncated is killed by the kernel.
 */
import { closeSync, fstatSync, readSync } from 'node:fs';
import { ENGINE_COUNTS } from '../model/engine-marks.ts';
import {
  CPUS_BYTES,
  F,
  H,
  HEADER_BYTES,
  HINTS,
  KIND_ASYNC,
  N,
  NODE_BYTES,
  PAGE_MAGIC,
  PAGE_VERSION,
  PROCESS_NAME_MOST,
  R,
  REGION_BYTES,
  slotRooms,
  T,
  THREAD_BYTES,
  THREAD_FREE,
  THREAD_LIVE,
} from '../model/region-layout.ts';
import { SECOND_NS } from '../model/units.ts';
import { type Mapping, mapFile } from '../os/mmap.ts';
import { openPlain } from '../os/plain-file.ts';
import { sizeOf } from '../os/raw-calls.ts';
import { PageError } from './page-error.ts';
import type { PageNode, PageRegion, PageSnapshot, PageThread } from './page-snapshot.ts';
import { NOTHING_SEEN } from './page-snapshot.ts';
import { type PageEvent, RingReader } from './ring-reader.ts';

/** Number of readings of a slot that is being written before it is taken as it is (its thread died while writing). */
const MOST_TRIES = 100;
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true }); // the mark is part of a name

const wideAt = (u: Uint32Array, at: number) => (BigInt(u[at + 1]) << 32n) | BigInt(u[at]);

/**
 * Reads a process's region page while it is written. It never returns a half-written value, whatever the process does.
 * @example
 * ```ts
 * import { PageReader } from 'triscope/region';
 * const page = new PageReader(`${process.env.TRISCOPE_REGION_DIR}/some.page`);
 * console.log(page.snapshot().threads, page.epochs);
 * page.close();
 * ```
 */
export class PageReader {
  /** Path of the page's file. */
  readonly path: string;
  /** Id of the process. */
  readonly pid: number;
  /** Id of the process that started it. */
  readonly parentPid: number;
  /** MPI rank; -1 where there is none. */
  readonly rank: number;
  /** Name of the process, as the kernel gives it. */
  readonly processName: string;
  /** CLOCK_MONOTONIC at the page's time zero, ns. */
  readonly startNs: bigint;
  /** Wall clock at that moment, ns since 1970. */
  readonly startWallNs: bigint;
  /** CPUs on which the process may run, ascending; empty if not known. */
  readonly cpus: readonly number[];
  /** Events per thread that the page holds; older ones are overwritten. */
  readonly ringCapacity: number;

  /** Number of thread slots in use: only so many elements of the arrays below are valid. Updated by poll(). */
  threads = 0;
  /** Hash of the outermost region of each thread; 0 outside. */
  readonly hash: Uint32Array;
  /** Number of the hint (HINTS) of the innermost region; 0 outside. */
  readonly hint: Uint32Array;
  /** Thread id by slot; 0: not used. */
  readonly tid: Uint32Array;
  /** THREAD_LIVE or THREAD_ENDED. */
  readonly state: Uint32Array;
  /** Number of nested regions in which a thread is, by slot. */
  readonly depth: Uint32Array;
  /** The only CPU on which it may run; -1 if there are several. */
  readonly cpu: Int32Array;
  /** Units of work that a thread announced, by slot. */
  readonly workTotal: Uint32Array;
  /** Units of work that it has done, by slot. */
  readonly workDone: Uint32Array;
  /** Whether the announced work belongs to the regions in which the process is now. */
  readonly works: Uint8Array;
  /** When the outermost region was entered, seconds since startNs. */
  readonly entered: Float64Array;
  /** Number of epochs that began, over all threads. */
  epochs = 0;
  /** When the first epoch began, seconds since startNs; undefined without epochs. */
  firstEpoch = 0;
  /** When the last epoch began, seconds since startNs. */
  lastEpoch = 0;
  /** When the application's time began, seconds since startNs; null if it has not. */
  started: number | null = null;
  /** When the application's time ended, seconds since startNs; null if it has not. */
  stopped: number | null = null;
  /** When the process announced an exec, seconds since startNs; it counts once the process has ended. */
  leaving: number | null = null;
  /** Least GVT of the engines that run in the process's threads; NaN where none does. */
  gvt = Number.NaN;
  /** ENGINE_COUNTS, summed over all engines that ran there. */
  readonly counts = new Float64Array(ENGINE_COUNTS);
  /** Seconds that the process reported through geopm_prof_overhead. */
  overhead = 0;

  private readonly fd: number;
  private readonly mapping: Mapping | null;
  private readonly bytes: Uint8Array;
  private readonly u32: Uint32Array;
  private readonly f64: Float64Array;
  private readonly rings: RingReader;
  private readonly regions: PageRegion[] = [];
  private closed = false;
  /** The counts with which `started` and `stopped` were read. */
  private flags = 0;
  private readonly length: number;
  /** The file has been truncated: nothing more will be read. */
  cut = false;
  private whole = true;
  /** The last snapshot. */
  private seen: PageSnapshot = NOTHING_SEEN;

  /** @throws PageError */
  constructor(path: string) {
    this.path = path;
    try {
      this.fd = openPlain(path).descriptor;
    } catch (error) {
      throw new PageError(`${path}: ${(error as Error).message}`);
    }
    try {
      this.length = this.checkHead();
      this.mapping = mapFile(this.fd, this.length, 'read');
      const memory = this.mapping?.memory ?? new ArrayBuffer(this.length);
      this.bytes = new Uint8Array(memory);
      this.u32 = new Uint32Array(memory);
      this.f64 = new Float64Array(memory);
    } catch (error) {
      closeSync(this.fd);
      throw error;
    }
    this.fetch(0, HEADER_BYTES);
    const { u32 } = this;
    this.pid = u32[H.pid >> 2];
    this.parentPid = u32[H.parentPid >> 2];
    this.rank = u32[H.rank >> 2] | 0;
    this.ringCapacity = u32[H.ringCapacity >> 2];
    const nameBytes = Math.min(u32[H.processNameBytes >> 2], PROCESS_NAME_MOST);
    this.processName = utf8.decode(this.bytes.slice(H.processName, H.processName + nameBytes));
    const wide = new BigUint64Array(this.bytes.buffer, H.startNs, 2);
    this.startNs = wide[0];
    this.startWallNs = wide[1];
    this.cpus = this.readCpus();
    const capacity = u32[H.threadCapacity >> 2];
    this.hash = new Uint32Array(capacity);
    this.hint = new Uint32Array(capacity);
    this.tid = new Uint32Array(capacity);
    this.state = new Uint32Array(capacity);
    this.depth = new Uint32Array(capacity);
    this.cpu = new Int32Array(capacity);
    this.workTotal = new Uint32Array(capacity);
    this.workDone = new Uint32Array(capacity);
    this.works = new Uint8Array(capacity);
    this.entered = new Float64Array(capacity);
    const { mapping, u32: words, f64 } = this;
    this.rings = new RingReader({ u32: words, f64, copied: mapping === null }, (at, length) =>
      this.fetch(at, length),
    );
    this.poll();
  }

  /** Size of the page in bytes. Checks every number that later reads rely on. @throws PageError */
  private checkHead(): number {
    const head = new Uint32Array(HEADER_BYTES >> 2);
    const read = readSync(this.fd, new Uint8Array(head.buffer), 0, HEADER_BYTES, 0);
    const wrong = (at: number, what: string) =>
      new PageError(`${this.path}: byte ${at}: ${what}; is it a region page?`);
    if (read < HEADER_BYTES) throw wrong(read, `it ends within the header`);
    const cell = (at: number) => head[at >> 2];
    if (cell(H.magic) !== PAGE_MAGIC) throw wrong(H.magic, `no 'TRGN' mark`);
    const version = cell(H.version);
    if (version !== PAGE_VERSION) {
      throw wrong(H.version, `page version ${version}; this triscope reads ${PAGE_VERSION}`);
    }
    const bytes = cell(H.bytes);
    const { size } = fstatSync(this.fd);
    if (size < bytes) throw wrong(H.bytes, `${bytes} bytes announced, but only ${size} present`);
    const end = slotRooms(head, cell(H.threadCapacity));
    const parts = [
      [H.threads, cell(H.threadCapacity) * THREAD_BYTES],
      [H.regions, cell(H.regionCapacity) * REGION_BYTES],
      [H.names, cell(H.nameCapacity)],
      [H.nodes, end.nodes - cell(H.nodes)],
      [H.rings, end.ring - cell(H.rings)],
    ] as const;
    for (const [at, length] of parts) {
      const begin = cell(at);
      if (begin % 8 !== 0 || begin + length > bytes) throw wrong(at, 'a part outside the file');
    }
    return bytes;
  }

  private readCpus(): number[] {
    const count = Math.min(this.u32[H.cpuCount >> 2], 8 * CPUS_BYTES);
    const cpus: number[] = [];
    for (let cpu = 0; cpu < count; cpu++) {
      if ((this.bytes[H.cpus + (cpu >> 3)] >> (cpu & 7)) & 1) cpus.push(cpu);
    }
    return cpus;
  }

  /** Updates a part of the copy; a mapping is always up to date. */
  private fetch(at: number, length: number): void {
    if (this.mapping === null) readSync(this.fd, this.bytes, at, length, at);
  }

  /**
   * The present seq of a thread's slot. If it is the same even number again after the data was read, the data is
   * consistent: loads keep their order on x86, and a system call or Atomics.load keeps it elsewhere.
   */
  private seqOf(slot: number): number {
    this.fetch(slot, 4);
    return Atomics.load(this.u32, (slot + T.seq) >> 2);
  }

  /** Refreshes the fields: where each thread is, epochs, beginning and end. */
  poll(): void {
    if (this.isCut()) return;
    this.fetch(0, 256);
    const { u32, f64 } = this;
    const flags = Atomics.load(u32, H.flags >> 2);
    if (flags !== this.flags) {
      this.flags = flags;
      this.started = flags & F.started ? f64[H.started >> 3] / SECOND_NS : null;
      this.stopped = flags & F.stopped ? f64[H.stopped >> 3] / SECOND_NS : null;
      this.leaving = flags & F.leaving ? f64[H.stopped >> 3] / SECOND_NS : null;
    }
    this.epochs = Atomics.load(u32, H.epochs >> 2);
    this.firstEpoch = f64[H.firstEpoch >> 3] / SECOND_NS;
    this.lastEpoch = f64[H.lastEpoch >> 3] / SECOND_NS;
    this.overhead = f64[H.overhead >> 3];
    const used = Atomics.load(u32, H.threadsUsed >> 2);
    this.threads = Math.min(used, u32[H.threadCapacity >> 2]);
    this.gvt = Number.NaN;
    // Not fill(): that is a call, for a few cells.
    for (let k = 0; k < ENGINE_COUNTS; k++) this.counts[k] = 0;
    for (let t = 0; t < this.threads; t++) {
      this.pollThread(t);
      this.pollEngine(t);
    }
  }

  private isCut(): boolean {
    this.cut ||= sizeOf(this.fd) < this.length;
    return this.cut;
  }

  private pollEngine(t: number): void {
    const { u32, f64, counts } = this;
    const slot = u32[H.threads >> 2] + t * THREAD_BYTES;
    if (u32[(slot + T.simulates) >> 2] === 0) return;
    const first = (slot + T.gvt) >> 3;
    if (this.state[t] === THREAD_LIVE && !(this.gvt <= f64[first])) this.gvt = f64[first];
    for (let k = 0; k < ENGINE_COUNTS; k++) counts[k] += f64[first + 1 + k];
  }

  /**
   * If the slot is never found consistent (its thread was suspended, or died, while writing), the last consistent
   * values stay. Before any, the thread counts as outside all regions.
   */
  private pollThread(t: number): void {
    const { u32, f64 } = this;
    const slot = u32[H.threads >> 2] + t * THREAD_BYTES;
    const at = slot >> 2;
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const before = this.seqOf(slot);
      this.fetch(slot, THREAD_BYTES);
      const hash = u32[at + (T.hash >> 2)];
      const hint = u32[at + (T.hint >> 2)];
      const depth = u32[at + (T.depth >> 2)];
      const entered = f64[(slot + T.entered) >> 3];
      if ((before & 1) === 0 && this.seqOf(slot) === before) {
        this.hash[t] = hash;
        this.hint[t] = hint;
        this.depth[t] = depth;
        this.entered[t] = entered / SECOND_NS;
        break;
      }
    }
    this.tid[t] = u32[at + (T.tid >> 2)];
    this.state[t] = u32[at + (T.state >> 2)];
    this.cpu[t] = u32[at + (T.cpu >> 2)];
    this.workTotal[t] = u32[at + (T.workTotal >> 2)];
    this.workDone[t] = u32[at + (T.workDone >> 2)];
    this.works[t] = u32[at + (T.workRound >> 2)] === u32[H.round >> 2] ? 1 : 0;
  }

  private wide(at: number): bigint {
    return wideAt(this.u32, at >> 2);
  }

  /** Whether a thread is in that region as its outermost one. */
  private isOpen(region: number): boolean {
    const at = this.u32[H.regions >> 2] + region * REGION_BYTES + R.inside;
    this.fetch(at, 4);
    return this.u32[at >> 2] > 0;
  }

  /** Everything that was counted so far. Polls. */
  snapshot(): PageSnapshot {
    this.poll();
    if (this.cut) return this.seen;
    this.readRegions();
    this.whole = true;
    const { u32 } = this;
    const threads: PageThread[] = [];
    const nodes: PageNode[] = [];
    const united = this.regions.map(() => 0n);
    let unitedAny = 0n;
    for (let t = 0; t < this.threads; t++) {
      if (this.state[t] === THREAD_FREE) continue;
      this.readNodes(t, threads.length, nodes, united);
      unitedAny += this.wide(u32[H.threads >> 2] + t * THREAD_BYTES + T.united);
      threads.push({
        tid: this.tid[t],
        alive: this.state[t] === THREAD_LIVE,
        depth: this.depth[t],
      });
    }
    this.seen = {
      regions: this.regions.slice(),
      threads,
      nodes,
      united: united.map((ns, k) => ({ ns, open: this.isOpen(k) })),
      unitedAny: { ns: unitedAny, open: u32[H.inside >> 2] > 0 },
      whole: this.whole,
      regionsRefused: u32[H.regionsRefused >> 2],
      threadsRefused: u32[H.threadsRefused >> 2],
      misordered: u32[H.misordered >> 2],
      unplaced: u32[H.unplaced >> 2],
    };
    return this.seen;
  }

  /** Regions registered so far, by slot. Names never change, so only new ones are read. */
  private readRegions(): void {
    const { u32, bytes, regions } = this;
    const used = Math.min(Atomics.load(u32, H.regionsUsed >> 2), u32[H.regionCapacity >> 2]);
    const first = u32[H.regions >> 2] + regions.length * REGION_BYTES;
    this.fetch(first, (used - regions.length) * REGION_BYTES);
    while (regions.length < used) {
      const at = u32[H.regions >> 2] + regions.length * REGION_BYTES;
      // This slot is being written, or its thread died before finishing: the slots after it wait, too.
      if (Atomics.load(u32, (at + R.state) >> 2) === 0) return;
      const length = Math.min(u32[(at + R.nameBytes) >> 2], u32[H.nameCapacity >> 2]);
      const from = u32[H.names >> 2] + Math.min(u32[(at + R.name) >> 2], u32[H.nameCapacity >> 2]);
      this.fetch(from, length);
      regions.push({
        name: utf8.decode(bytes.slice(from, from + length)),
        hash: u32[(at + R.hash) >> 2],
        hint: HINTS[u32[(at + R.hint) >> 2]] ?? 'unknown',
      });
    }
  }

  /**
   * Copies the nodes of thread slot `t`: their words, root first. If a thread enters and leaves without pause, there may
   * never be time for a consistent copy.
   */
  private copyNodes(t: number): Uint32Array<ArrayBuffer> {
    const { u32 } = this;
    const slot = u32[H.threads >> 2] + t * THREAD_BYTES;
    const { nodes: base, nodeCapacity: capacity } = slotRooms(u32, t);
    const spare = 16;
    this.fetch(slot, THREAD_BYTES);
    const usedBytes = () => Math.min(u32[(slot + T.nodesUsed) >> 2], capacity) * NODE_BYTES;
    let room = usedBytes() + spare * NODE_BYTES;
    let copy = new Uint32Array(room >> 2);
    for (let tries = 1; ; tries++) {
      const before = this.seqOf(slot);
      this.fetch(slot, THREAD_BYTES);
      const used = usedBytes();
      if (used > room) {
        room = used + spare * NODE_BYTES;
        copy = new Uint32Array(room >> 2);
      }
      this.fetch(base, used);
      copy.set(u32.subarray(base >> 2, (base + used) >> 2));
      const whole = (before & 1) === 0 && this.seqOf(slot) === before;
      if (!whole && tries < MOST_TRIES) continue;
      this.whole &&= whole;
      return copy.slice(0, used >> 2);
    }
  }

  /** Appends the nodes of thread slot `t`, which is `thread` in the snapshot. */
  private readNodes(t: number, thread: number, to: PageNode[], united: bigint[]): void {
    const words = this.copyNodes(t);
    const doubles = new Float64Array(words.buffer);
    const offset = to.length - 1;
    for (let at = NODE_BYTES; at < words.byteLength; at += NODE_BYTES) {
      const parent = words[(at + N.parent) >> 2];
      const inside = words[(at + N.inside) >> 2];
      const async = words[(at + N.kind) >> 2] === KIND_ASYNC;
      const region = words[(at + N.region) >> 2];
      if (parent === 0 && !async && region < united.length) {
        united[region] += wideAt(words, (at + N.united) >> 2);
      }
      to.push({
        thread,
        region,
        parent: parent === 0 ? -1 : parent + offset,
        async,
        count: doubles[(at + N.count) >> 3],
        seconds: doubles[(at + N.total) >> 3] / SECOND_NS,
        inside,
        entered: inside > 0 && !async ? doubles[(at + N.entered) >> 3] / SECOND_NS : null,
      });
    }
  }

  /** Passes on the events since the last call, thread by thread, each in order of time; none if the page has no rings. */
  events(visit: (event: PageEvent) => void): void {
    if (this.ringCapacity === 0) return;
    this.poll();
    if (this.cut) return;
    for (let t = 0; t < this.threads; t++) this.rings.read(t, visit);
  }

  /** Events that were overwritten before events() saw them. */
  get eventsLost(): number {
    return this.rings.lost;
  }

  /** Closes the page; values that were read stay available. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.mapping?.unmap();
    closeSync(this.fd);
  }
}
