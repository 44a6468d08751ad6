/**
 * `proc`: users' processes. Keys as in tacc_stats since 2.3.3, which moved the CPUs and NUMA nodes that a process may
 * use into the device: `NAME/PID/CPUS/NODES`.
 *
 * The descriptor of a collected process stays open: it keeps meaning that process even if its number is used again.
 */
import { statSync } from 'node:fs';
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { hasVanished } from './devices.ts';
import { ownerFilter } from './owners.ts';
import { isNumber, Scanner } from './scan.ts';
import { StatusLines } from './status-lines.ts';
import { type Collector, gauge, type NodeType } from './type.ts';

const [ZERO, NINE] = [0x30, 0x39];
const isDigit = (code: number) => code >= ZERO && code <= NINE;
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
/** Lines of the file: the keys, and the parts of the device's name. */
const LINES = ['Name', ...METRICS.map(({ key }) => key), 'Cpus_allowed_list', 'Mems_allowed_list'];
const [NAME, UID, CPUS, NODES] = [0, 1, METRICS.length + 1, METRICS.length + 2];
const DEVICE_LINES = [NAME, CPUS, NODES];

/** Shells and the like, as in tacc_stats. */
const LEFT_OUT = new Set(['bash', 'ssh', 'sshd', 'metacity']);

/**
 * Milliseconds for which a process of root is not looked at again: it may become a user's. Kernel threads,
 * which are most of them, cannot; only their numbers can be used again.
 */
const [ROOTS_KNOWN_MS, KERNELS_KNOWN_MS] = [1000, 10_000];

/** Milliseconds for which /proc is not listed again if no process has been started. */
const LIST_KNOWN_MS = 10_000;
const FORKS = Buffer.from('\nprocesses ');

/** Most processes whose last texts are remembered: a sleeping process has the same text, and so the same record. */
const MOST_REMEMBERED = 2048;

/** A recorded tree may hold anything. */
const MOST_PROCESSES = 65_536;

/**
 * The name in `bytes[from, to)` as a part of a device's name: other than printable ASCII, and blanks, `%` and `/`, are written
 * `%XX`, so that the device is one word with three slashes. decodeURIComponent gives the name back.
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

const NOTHING = Buffer.alloc(0);

/** A number in /proc. */
class Entry {
  readonly name: string;
  /** The process's status file, if it belongs to a wanted user. */
  file: KernelFile | null = null;
  /** Otherwise: the time (ms) until which it need not be looked at. */
  until = 0;
  /** Whether it has been looked at before and is a kernel thread. */
  isKnown = false;
  isKernels = false;
  /** The device, and the texts that it was made from. */
  device = '';
  readonly parts: Buffer[] = DEVICE_LINES.map(() => Buffer.alloc(0));
  /** The text that the last record was made from, up to its last wanted line, and the record; empty if not remembered. */
  text = NOTHING;
  record: Uint8Array = NOTHING;

  constructor(name: string) {
    this.name = name;
  }

  close(): void {
    this.file?.close();
    this.file = null;
    this.text = NOTHING;
  }
}

class Processes implements Collector {
  private readonly tree: NodeTree;
  private readonly isWanted: (user: number) => boolean;
  private readonly lines = new StatusLines(LINES);
  private readonly scanner = new Scanner();
  /** /proc/stat of this machine. */
  private readonly stat: KernelFile | null;
  /** In the order of /proc. */
  private entries: readonly Entry[] = [];
  private processes = 0;
  /** When they were listed (ms), and how many processes had been started by then. */
  private listed = Number.NEGATIVE_INFINITY;
  private forksListed = Number.NaN;
  private now = 0;

  constructor(tree: NodeTree) {
    if (tree.list('proc') === null) throw new UnavailableError('there is no /proc');
    this.tree = tree;
    this.stat = tree.isThisMachine ? tree.shared('proc/stat') : null;
    this.isWanted = ownerFilter(tree);
  }

  collect(writer: RawWriter): void {
    // Not `performance`, which takes 2 ms to load.
    this.now = process.uptime() * 1000;
    this.list();
    let trouble: unknown = null;
    for (const entry of this.entries) {
      try {
        if (entry.file === null && !this.open(entry)) continue;
        this.record(writer, entry);
      } catch (error) {
        writer.dropRecord();
        entry.close();
        if (!hasVanished(error)) trouble ??= error;
      }
    }
    if (trouble !== null) throw trouble;
    if (this.processes > MOST_PROCESSES) {
      throw new Error(
        `/proc has ${this.processes} processes; only ${MOST_PROCESSES} are collected`,
      );
    }
  }

  /** Lists /proc, unless no process can have started since. */
  private list(): void {
    const forks = this.forks();
    if (forks === this.forksListed && this.now - this.listed < LIST_KNOWN_MS) return;
    const names = this.tree.list('proc');
    if (names === null) throw new UnavailableError('/proc has vanished');
    const before = new Map(this.entries.map((entry) => [entry.name, entry]));
    const numbers = names.filter((name) => isDigit(name.charCodeAt(0)));
    this.processes = numbers.length;
    this.entries = numbers.slice(0, MOST_PROCESSES).map((name) => {
      const entry = before.get(name) ?? new Entry(name);
      before.delete(name);
      return entry;
    });
    for (const entry of before.values()) entry.close();
    this.forksListed = forks;
    this.listed = this.now;
  }

  /** Processes and threads ever started on this machine; NaN if unknown. */
  private forks(): number {
    if (this.stat === null) return Number.NaN;
    const end = this.stat.read();
    const at = this.stat.bytes.indexOf(FORKS);
    if (at < 0 || at >= end) return Number.NaN;
    const scanner = this.scanner.over(this.stat.bytes, end, at + FORKS.length);
    // Some systems that imitate Linux always say 0.
    return (scanner.word() && scanner.number()) || Number.NaN;
  }

  /** Opens a process, if it belongs to a wanted user. */
  private open(entry: Entry): boolean {
    const { name } = entry;
    // Cheaper than reading; in a recorded tree, owners of files mean nothing.
    if (this.tree.isThisMachine) {
      if (this.now < entry.until) return false;
      const facts = statSync(`/proc/${name}`, { throwIfNoEntry: false });
      if (facts === undefined || !this.isWanted(facts.uid)) {
        if (facts?.uid === 0) this.noteRoots(entry);
        return false;
      }
    }
    entry.isKnown = false;
    entry.isKernels = false;
    entry.file = this.tree.open(`proc/${name}/status`);
    return true;
  }

  /** Remembers a process of root. Kernel threads are children of process 2. */
  private noteRoots(entry: Entry): void {
    // Not the first time: a command that takes one sample does without.
    if (entry.until > 0 && !entry.isKnown) {
      const stat = this.tree.text(`proc/${entry.name}/stat`) ?? '';
      entry.isKernels = /^\) \S 2 /.test(stat.slice(stat.lastIndexOf(')')));
      entry.isKnown = true;
    }
    entry.until = this.now + (entry.isKernels ? KERNELS_KNOWN_MS : ROOTS_KNOWN_MS);
  }

  private record(writer: RawWriter, entry: Entry): void {
    const file = entry.file as KernelFile;
    const end = file.readPiece();
    const bytes = file.bytes;
    const known = entry.text.length;
    if (known > 0 && end >= known && bytes.compare(entry.text, 0, known, 0, known) === 0) {
      writer.records(entry.record);
      return;
    }
    const lines = this.lines;
    lines.find(bytes, end);
    // The second of the four user ids, the effective one, is the owner.
    const scanner = this.scanner.over(bytes, end, lines.to[UID]);
    const user = lines.to[UID] > 0 && scanner.word() ? scanner.number() : Number.NaN;
    if (Number.isNaN(user)) throw new Error(`${file.path} does not name its owner`);
    // Programs may change their user.
    if (!this.isWanted(user)) {
      if (this.tree.isThisMachine) entry.close();
      return;
    }
    if (!this.hasDevice(entry, bytes)) this.nameDevice(entry, bytes);
    if (entry.device === '') return;
    writer.record('proc', entry.device);
    for (let k = UID; k < UID + METRICS.length; k++) {
      const from = lines.from[k];
      const to = lines.to[k];
      if (isNumber(bytes, from, to)) writer.digits(bytes, from, to);
      else writer.number(0);
    }
    writer.endRecord(METRICS.length);
    if (this.processes <= MOST_REMEMBERED)
      this.remember(entry, bytes.subarray(0, end), writer.lastRecord());
  }

  /** Keeps what the record was made from, without the lines after it, which count the process's switches. */
  private remember(entry: Entry, text: Buffer, record: Uint8Array): void {
    let last = 0;
    for (const to of this.lines.to) last = Math.max(last, to);
    // With its newline, because the value might go on.
    const end = Math.min(last + 1, text.length);
    if (entry.text.length !== end) entry.text = Buffer.allocUnsafeSlow(end);
    text.copy(entry.text, 0, 0, end);
    if (entry.record.length !== record.length) entry.record = new Uint8Array(record.length);
    entry.record.set(record);
  }

  /** Whether the process still has the name and the CPUs and nodes from which its device was named. */
  private hasDevice({ parts }: Entry, bytes: Buffer): boolean {
    const { from, to } = this.lines;
    for (let k = 0; k < parts.length; k++) {
      const part = parts[k];
      const start = from[DEVICE_LINES[k]];
      if (to[DEVICE_LINES[k]] - start !== part.length) return false;
      for (let i = 0; i < part.length; i++) if (bytes[start + i] !== part[i]) return false;
    }
    return parts[0].length > 0;
  }

  /** Names the device; '' if the process is left out. */
  private nameDevice(entry: Entry, bytes: Buffer): void {
    const { from, to } = this.lines;
    DEVICE_LINES.forEach((line, k) => {
      entry.parts[k] = Buffer.from(bytes.subarray(from[line], to[line]));
    });
    const name = escapedName(bytes, from[NAME], to[NAME]);
    const [, cpus, nodes] = entry.parts.map((part) => part.toString('latin1') || '-');
    entry.device = LEFT_OUT.has(name) ? '' : `${name}/${entry.name}/${cpus}/${nodes}`;
  }

  close(): void {
    for (const entry of this.entries) entry.close();
    this.entries = [];
    this.listed = Number.NEGATIVE_INFINITY;
  }
}

export const PROC: NodeType = {
  name: 'proc',
  help: 'memory and threads of processes, except those of root, of services and of shells',
  device:
    'NAME/PID/CPUS/NODES: a process, and where it may run; unusual characters of names are written %XX',
  source: '/proc/PID/status',
  metrics: METRICS,
  open: (tree) => new Processes(tree),
};
