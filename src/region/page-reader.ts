/**
 * What a process says of its regions, read while it runs or after it died: one PageReader per page file.
 *
 * The file is mapped, so that a poll costs no system call; without FFI its parts are read into a copy. Slots being
 * written are read again (their `seq`), so that what is returned belongs together.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  CPUS_BYTES,
  E,
  EVENT_BYTES,
  F,
  H,
  HEADER_BYTES,
  HINTS,
  type Hint,
  KIND_ASYNC,
  N,
  NODE_BYTES,
  PAGE_MAGIC,
  PAGE_VERSION,
  PROCESS_NAME_MOST,
  R,
  REGION_BYTES,
  T,
  THREAD_BYTES,
} from '../model/region-layout.ts';
import { type Mapping, mapFile } from '../os/mmap.ts';

/** A file that is no region page, or one that cannot be read: says which, and why. */
export class PageError extends Error {}

export interface PageRegion {
  /** UTF-8; bytes that are not are replaced by U+FFFD. */
  readonly name: string;
  /** CRC-32 of the name's bytes. */
  readonly hash: number;
  /** As when the name was first registered. */
  readonly hint: Hint;
}

/** A region inside the regions above it, in one thread. */
export interface PageNode {
  /** Of `PageSnapshot.threads`. */
  readonly thread: number;
  /** Of `PageSnapshot.regions`. */
  readonly region: number;
  /** Of `PageSnapshot.nodes`; -1 = outermost. */
  readonly parent: number;
  /** Spans that overlap: never part of attribution. */
  readonly async: boolean;
  /** Visits completed. */
  readonly count: number;
  /** Their seconds. */
  readonly seconds: number;
  /** Visits that are open. */
  readonly inside: number;
  /** When the open visit began, seconds since `PageReader.startNs`; null where none is. */
  readonly entered: number | null;
}

export interface PageThread {
  /** Kernel id. */
  readonly tid: number;
  readonly alive: boolean;
  readonly depth: number;
}

export interface PageSnapshot {
  readonly regions: readonly PageRegion[];
  readonly threads: readonly PageThread[];
  readonly nodes: readonly PageNode[];
  /** Names that found no place; their time is that of the region called (overflow). */
  readonly regionsRefused: number;
  readonly threadsRefused: number;
  /** Exits of a region that was not the innermost one. */
  readonly misordered: number;
  /** Entries too deep, or into a full tree. */
  readonly unplaced: number;
}

/** One event of a ring; the object is reused from call to call. */
export interface PageEvent {
  /** Index of the thread's slot. */
  thread: number;
  /** Seconds since `PageReader.startNs`. */
  time: number;
  /** EVENT_* of model/region-layout.ts. */
  code: number;
  /** Hash of the region, or number of the epoch. */
  value: number;
  /** 1 for the outermost region. */
  depth: number;
}

const NS = 1e9;
/** Reads of a slot that is being written, before it is taken as it is (its thread died while writing). */
const MOST_TRIES = 100;
/** Reads `data` while a writer may be at it, until it was not. */
const utf8 = new TextDecoder();

export class PageReader {
  readonly path: string;
  readonly pid: number;
  readonly parentPid: number;
  /** MPI rank; -1 where there is none. */
  readonly rank: number;
  readonly processName: string;
  /** CLOCK_MONOTONIC at the page's time zero, ns. */
  readonly startNs: bigint;
  /** Wall clock at that moment, ns since 1970. */
  readonly startWallNs: bigint;
  /** CPUs that the process may run on, ascending; empty where not known. */
  readonly cpus: readonly number[];
  readonly ringCapacity: number;

  /** Thread slots in use; the arrays below have as many meaningful cells. Refreshed by poll(). */
  threads = 0;
  /** Hash of the outermost region of each thread; 0 outside. */
  readonly hash: Uint32Array;
  /** Number of the hint (HINTS) of the innermost region; 0 outside. */
  readonly hint: Uint32Array;
  readonly tid: Uint32Array;
  /** THREAD_LIVE or THREAD_ENDED. */
  readonly state: Uint32Array;
  readonly depth: Uint32Array;
  /** The only CPU it may run on; -1 where there are several. */
  readonly cpu: Int32Array;
  readonly workTotal: Uint32Array;
  readonly workDone: Uint32Array;
  /** When the outermost region was entered, seconds since startNs. */
  readonly entered: Float64Array;
  epochs = 0;
  /** Seconds since startNs; meaningless without epochs. */
  firstEpoch = 0;
  lastEpoch = 0;
  /** Seconds since startNs when the application began and ended its marking; null where it did not. */
  started: number | null = null;
  stopped: number | null = null;
  /** Seconds that the process reported through geopm_prof_overhead. */
  overhead = 0;
  /** Events that were overwritten before events() saw them. */
  eventsLost = 0;

  private readonly fd: number;
  private readonly mapping: Mapping | null;
  private readonly bytes: Uint8Array;
  private readonly u32: Uint32Array;
  private readonly f64: Float64Array;
  private readonly ringTails: Uint32Array;
  private readonly event: PageEvent = { thread: 0, time: 0, code: 0, value: 0, depth: 0 };
  private readonly regions: PageRegion[] = [];
  private closed = false;

  /** @throws PageError */
  constructor(path: string) {
    this.path = path;
    try {
      this.fd = openSync(path, 'r');
    } catch (error) {
      throw new PageError(`${path}: ${(error as Error).message}`);
    }
    try {
      const bytes = this.checkHead();
      this.mapping = mapFile(this.fd, bytes, 'read');
      const memory = this.mapping?.memory ?? new ArrayBuffer(bytes);
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
    this.entered = new Float64Array(capacity);
    this.ringTails = new Uint32Array(capacity);
    this.poll();
  }

  /** Bytes of the page. Looks at every number that later reads trust. @throws PageError */
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
      throw wrong(H.version, `page version ${version}, this triscope reads ${PAGE_VERSION}`);
    }
    const bytes = cell(H.bytes);
    const { size } = fstatSync(this.fd);
    if (size < bytes) throw wrong(H.bytes, `${bytes} bytes announced, ${size} there`);
    const parts = [
      [H.threads, cell(H.threadCapacity) * THREAD_BYTES],
      [H.regions, cell(H.regionCapacity) * REGION_BYTES],
      [H.names, cell(H.nameCapacity)],
      [H.nodes, cell(H.threadCapacity) * cell(H.nodeCapacity) * NODE_BYTES],
      [H.rings, cell(H.threadCapacity) * cell(H.ringCapacity) * EVENT_BYTES],
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

  /** Brings a part of the copy up to date; a mapping always is. */
  private fetch(at: number, length: number): void {
    if (this.mapping === null) readSync(this.fd, this.bytes, at, length, at);
  }

  /**
   * The seq of a thread's slot as it is now. Read again after the data, an equal, even one says that the data is
   * whole: loads keep their order on x86, and a system call or Atomics.load keeps it elsewhere.
   */
  private seqOf(slot: number): number {
    this.fetch(slot, 4);
    return Atomics.load(this.u32, (slot + T.seq) >> 2);
  }

  /** Refreshes the fields: where each thread is, epochs, beginning and end. Allocates nothing. */
  poll(): void {
    this.fetch(0, 256);
    const { u32, f64 } = this;
    const flags = Atomics.load(u32, H.flags >> 2);
    this.started = flags & F.started ? f64[H.started >> 3] / NS : null;
    this.stopped = flags & F.stopped ? f64[H.stopped >> 3] / NS : null;
    this.epochs = Atomics.load(u32, H.epochs >> 2);
    this.firstEpoch = f64[H.firstEpoch >> 3] / NS;
    this.lastEpoch = f64[H.lastEpoch >> 3] / NS;
    this.overhead = f64[H.overhead >> 3];
    const used = Atomics.load(u32, H.threadsUsed >> 2);
    this.threads = Math.min(used, u32[H.threadCapacity >> 2]);
    this.fetch(u32[H.threads >> 2], this.threads * THREAD_BYTES);
    for (let t = 0; t < this.threads; t++) this.pollThread(t);
  }

  private pollThread(t: number): void {
    const { u32 } = this;
    const slot = u32[H.threads >> 2] + t * THREAD_BYTES;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const before = this.seqOf(slot);
      const at = slot >> 2;
      this.hash[t] = u32[at + (T.hash >> 2)];
      this.hint[t] = u32[at + (T.hint >> 2)];
      this.tid[t] = u32[at + (T.tid >> 2)];
      this.state[t] = u32[at + (T.state >> 2)];
      this.depth[t] = u32[at + (T.depth >> 2)];
      this.cpu[t] = u32[at + (T.cpu >> 2)];
      this.workTotal[t] = u32[at + (T.workTotal >> 2)];
      this.workDone[t] = u32[at + (T.workDone >> 2)];
      this.entered[t] = this.f64[(slot + T.entered) >> 3] / NS;
      if ((before & 1) === 0 && this.seqOf(slot) === before) return;
      if (this.mapping === null) this.fetch(slot, THREAD_BYTES);
    }
  }

  /** All that was counted so far. Polls. */
  snapshot(): PageSnapshot {
    this.poll();
    this.readRegions();
    const { u32 } = this;
    const threads: PageThread[] = [];
    const nodes: PageNode[] = [];
    for (let t = 0; t < this.threads; t++) {
      if (this.state[t] === 0) continue;
      this.readNodes(t, threads.length, nodes);
      threads.push({ tid: this.tid[t], alive: this.state[t] === 1, depth: this.depth[t] });
    }
    return {
      regions: this.regions.slice(),
      threads,
      nodes,
      regionsRefused: u32[H.regionsRefused >> 2],
      threadsRefused: u32[H.threadsRefused >> 2],
      misordered: u32[H.misordered >> 2],
      unplaced: u32[H.unplaced >> 2],
    };
  }

  /** Regions registered so far, by slot. Names never change, so that only new ones are read. */
  private readRegions(): void {
    const { u32, bytes, regions } = this;
    const used = Math.min(Atomics.load(u32, H.regionsUsed >> 2), u32[H.regionCapacity >> 2]);
    const first = u32[H.regions >> 2] + regions.length * REGION_BYTES;
    this.fetch(first, (used - regions.length) * REGION_BYTES);
    while (regions.length < used) {
      const at = u32[H.regions >> 2] + regions.length * REGION_BYTES;
      // Being written, or never finished by a thread that died: the slots behind it wait too.
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

  /** Appends the nodes of thread slot `t`, which is `thread` in the snapshot. */
  private readNodes(t: number, thread: number, to: PageNode[]): void {
    const { u32, f64 } = this;
    const slot = u32[H.threads >> 2] + t * THREAD_BYTES;
    const capacity = u32[H.nodeCapacity >> 2];
    const base = u32[H.nodes >> 2] + t * capacity * NODE_BYTES;
    const offset = to.length - 1;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      to.length = offset + 1;
      const before = this.seqOf(slot);
      this.fetch(slot, THREAD_BYTES);
      const used = Math.min(u32[(slot + T.nodesUsed) >> 2], capacity);
      this.fetch(base, used * NODE_BYTES);
      for (let n = 1; n < used; n++) {
        const at = base + n * NODE_BYTES;
        const parent = u32[(at + N.parent) >> 2];
        const inside = u32[(at + N.inside) >> 2];
        const async = u32[(at + N.kind) >> 2] === KIND_ASYNC;
        to.push({
          thread,
          region: u32[(at + N.region) >> 2],
          parent: parent === 0 ? -1 : parent + offset,
          async,
          count: f64[(at + N.count) >> 3],
          seconds: f64[(at + N.total) >> 3] / NS,
          inside,
          entered: inside > 0 && !async ? f64[(at + N.entered) >> 3] / NS : null,
        });
      }
      if ((before & 1) === 0 && this.seqOf(slot) === before) return;
    }
  }

  /**
   * Hands over the events since the last call, thread by thread, in order of time within each; counts those that
   * were overwritten meanwhile in `eventsLost`. Nothing where the page has no rings.
   */
  events(visit: (event: PageEvent) => void): void {
    if (this.ringCapacity === 0) return;
    this.poll();
    for (let t = 0; t < this.threads; t++) this.threadEvents(t, visit);
  }

  private threadEvents(t: number, visit: (event: PageEvent) => void): void {
    const { u32, f64, event, ringTails, ringCapacity } = this;
    const headAt = u32[H.threads >> 2] + t * THREAD_BYTES + T.ringHead;
    const ring = u32[H.rings >> 2] + t * ringCapacity * EVENT_BYTES;
    this.fetch(headAt, 4);
    let head = Atomics.load(u32, headAt >> 2);
    this.fetch(ring, ringCapacity * EVENT_BYTES);
    while (ringTails[t] !== head) {
      const behind = (head - ringTails[t]) >>> 0;
      // The oldest place may be under the writer's pen.
      const lost = behind - (ringCapacity - 1);
      if (lost > 0) {
        this.eventsLost += lost;
        ringTails[t] += lost;
      }
      const at = ring + (ringTails[t] & (ringCapacity - 1)) * EVENT_BYTES;
      event.thread = t;
      event.time = f64[(at + E.time) >> 3] / NS;
      event.code = u32[(at + E.code) >> 2];
      event.value = u32[(at + E.value) >> 2];
      event.depth = u32[(at + E.depth) >> 2];
      if (this.mapping !== null) {
        // Overtaken while it was read: what was read may be half old, half new.
        const now = Atomics.load(u32, headAt >> 2);
        const overtaken = (now - ringTails[t]) >>> 0 >= ringCapacity;
        if (overtaken) head = now;
        if (overtaken) continue;
      }
      ringTails[t]++;
      visit(event);
    }
  }

  /** The page is not to be looked at any more; what was read from it stays. */
  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.mapping?.unmap();
    closeSync(this.fd);
  }
}
