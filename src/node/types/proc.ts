/**
 * `proc`: processes of users. Keys as in tacc_stats since 2.3.3, which moved the CPUs and NUMA nodes that a process may
 * use into the device: `NAME/PID/CPUS/NODES`.
 *
 * A process that is collected keeps its descriptor: it stays that of this process, though its number be used again.
 */
import { statSync } from 'node:fs';
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { hasVanished } from './devices.ts';
import { KeyValues } from './key-values.ts';
import { ownerFilter } from './owners.ts';
import { Scanner } from './scan.ts';
import { StatusLines } from './status-lines.ts';
import { type Collector, gauge, type NodeType } from './type.ts';

const [ZERO, NINE] = [0x30, 0x39];
const [FIRST_PRINTABLE, LAST_PRINTABLE] = [0x21, 0x7e];
const [PERCENT, SLASH] = [0x25, 0x2f];

const METRICS = [
  gauge('Uid', "number of the process's user"),
  gauge('VmPeak', 'largest size', 'kB'),
  gauge('VmSize', 'size', 'kB'),
  gauge('VmLck', 'locked in memory', 'kB'),
  gauge('VmHWM', 'largest part in memory', 'kB'),
  gauge('VmRSS', 'part in memory', 'kB'),
  gauge('VmData', 'data', 'kB'),
  gauge('VmStk', 'stack', 'kB'),
  gauge('VmExe', 'program', 'kB'),
  gauge('VmLib', 'libraries', 'kB'),
  gauge('VmPTE', 'page tables', 'kB'),
  gauge('VmSwap', 'swapped out', 'kB'),
  gauge('Threads', 'threads'),
];
/** Lines of the file: the keys, and what the device is made of. */
const LINES = ['Name', ...METRICS.map(({ key }) => key), 'Cpus_allowed_list', 'Mems_allowed_list'];
const [NAME, UID, CPUS, NODES] = [0, 1, METRICS.length + 1, METRICS.length + 2];

/** Shells and the like: as in tacc_stats. */
const LEFT_OUT = new Set(['bash', 'ssh', 'sshd', 'metacity']);

/**
 * Milliseconds for which a process of root is not looked at again: it may become a user's. Threads of the kernel, which
 * are the most, cannot; only their numbers can be used again.
 */
const [ROOTS_KNOWN, KERNELS_KNOWN] = [1000, 10_000];

/** A recorded tree may hold anything. */
const MOST_PROCESSES = 65_536;

/**
 * The name in `bytes[from, to)` as a part of a device: what is no printable ASCII, blanks, `%` and `/` are written
 * `%XX`, so that the device is one word and has three slashes. decodeURIComponent gives the name.
 */
function escapedName(bytes: Buffer, from: number, to: number): string {
  let k = from;
  const isPlain = (byte: number) =>
    byte >= FIRST_PRINTABLE && byte <= LAST_PRINTABLE && byte !== PERCENT && byte !== SLASH;
  while (k < to && isPlain(bytes[k])) k++;
  let name = bytes.toString('latin1', from, k);
  for (; k < to; k++) {
    name += isPlain(bytes[k])
      ? String.fromCharCode(bytes[k])
      : `%${bytes[k].toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return name || '-';
}

class Processes implements Collector {
  readonly #tree: NodeTree;
  readonly #isWanted: (user: number) => boolean;
  /** Processes of wanted users, by number. */
  #known = new Map<string, KernelFile>();
  /** Processes of root, by number: until when (ms) they need not be looked at, and whether they are the kernel's. */
  readonly #ofRoot = new Map<string, { until: number; readonly isKernels: boolean }>();
  readonly #lines = new StatusLines(LINES);
  readonly #values = new KeyValues(METRICS.length);
  readonly #scanner = new Scanner();
  #now = 0;
  #user = Number.NaN;

  constructor(tree: NodeTree) {
    if (tree.list('proc') === null) throw new UnavailableError('there is no /proc');
    this.#tree = tree;
    this.#isWanted = ownerFilter(tree);
  }

  collect(writer: RawWriter): void {
    const names = this.#tree.list('proc');
    if (names === null) throw new UnavailableError('/proc has vanished');
    const before = this.#known;
    this.#known = new Map();
    let trouble: unknown = null;
    let processes = 0;
    this.#now = process.uptime() * 1000;
    for (const name of names) {
      const first = name.charCodeAt(0);
      if (first < ZERO || first > NINE || processes++ >= MOST_PROCESSES) continue;
      let file = before.get(name);
      try {
        file ??= this.#open(name);
        if (file === undefined) continue;
        this.#known.set(name, file);
        before.delete(name);
        this.#record(writer, name, file);
      } catch (error) {
        writer.dropRecord();
        file?.close();
        before.delete(name);
        this.#known.delete(name);
        if (!hasVanished(error)) trouble ??= error;
      }
    }
    for (const file of before.values()) file.close();
    // Numbers of what has ended since: seldom many.
    if (this.#ofRoot.size > 2 * names.length) this.#ofRoot.clear();
    if (trouble !== null) throw trouble;
    if (processes > MOST_PROCESSES) {
      throw new Error(`/proc has ${processes} processes; collected are ${MOST_PROCESSES}`);
    }
  }

  #open(name: string): KernelFile | undefined {
    // Cheaper than reading; owners of files in a recorded tree say nothing.
    if (this.#tree.isThisMachine) {
      const roots = this.#ofRoot.get(name);
      if (roots !== undefined && this.#now < roots.until) return undefined;
      const facts = statSync(`/proc/${name}`, { throwIfNoEntry: false });
      if (facts === undefined || !this.#isWanted(facts.uid)) {
        if (facts?.uid === 0) this.#noteRoots(name);
        else this.#ofRoot.delete(name);
        return undefined;
      }
      this.#ofRoot.delete(name);
    }
    return this.#tree.open(`proc/${name}/status`);
  }

  /** Remembers a process of root. One of the kernel is a child of number 2, which starts them. */
  #noteRoots(name: string): void {
    let known = this.#ofRoot.get(name);
    if (known === undefined) {
      const stat = this.#tree.text(`proc/${name}/stat`) ?? '';
      const isKernels = /^\) \S 2 /.test(stat.slice(stat.lastIndexOf(')')));
      known = { until: 0, isKernels };
      this.#ofRoot.set(name, known);
    }
    known.until = this.#now + (known.isKernels ? KERNELS_KNOWN : ROOTS_KNOWN);
  }

  #record(writer: RawWriter, name: string, file: KernelFile): void {
    const bytes = this.#read(file);
    // Programs may change their user.
    if (!this.#isWanted(this.#user)) {
      if (!this.#tree.isThisMachine) return;
      file.close();
      this.#known.delete(name);
      return;
    }
    const process = escapedName(bytes, this.#lines.from[NAME], this.#lines.to[NAME]);
    if (LEFT_OUT.has(process)) return;
    writer.record(
      'proc',
      `${process}/${name}/${this.#list(bytes, CPUS)}/${this.#list(bytes, NODES)}`,
    );
    this.#values.write(writer, bytes);
    writer.endRecord(METRICS.length);
  }

  #list(bytes: Buffer, line: number): string {
    return bytes.toString('latin1', this.#lines.from[line], this.#lines.to[line]) || '-';
  }

  /** Reads a process's lines. */
  #read(file: KernelFile): Buffer {
    const end = file.readPiece();
    const bytes = file.bytes;
    const lines = this.#lines;
    lines.find(bytes, end);
    this.#values.clear();
    for (let k = 0; k < METRICS.length; k++) {
      this.#values.set(k, bytes, lines.from[k + UID], lines.to[k + UID]);
    }
    // Of the four users, the effective one, which is the second, is the owner.
    const scanner = this.#scanner.over(bytes, end, lines.to[UID]);
    this.#user = lines.to[UID] > 0 && scanner.word() ? scanner.number() : Number.NaN;
    if (Number.isNaN(this.#user)) throw new Error(`${file.path} does not say whose it is`);
    return bytes;
  }

  close(): void {
    for (const file of this.#known.values()) file.close();
    this.#known.clear();
  }
}

export const PROC: NodeType = {
  name: 'proc',
  help: 'memory and threads of processes, but for those of root, of services and of shells',
  device: 'NAME/PID/CPUS/NODES: a process, and where it may run; in names what is not plain is %XX',
  source: '/proc/PID/status',
  metrics: METRICS,
  open: (tree) => new Processes(tree),
};
