/** The lines `cpuN` of /proc/stat: fields of time in 1/100 s. Source: proc_stat(5). */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import type { KernelFile } from '../kernel-file.ts';
import { type NodeTree, UnavailableError } from '../tree.ts';
import { isNumber, numberAt } from './scan.ts';
import type { Collector } from './type.ts';

const NEWLINE = 0x0a;
const BLANK = 0x20;
const NINE = 0x39;
const ZERO = 0x30;
const [C, P, U] = [0x63, 0x70, 0x75];

/** Collects `count` fields of each CPU, from number `first` on. Digits are copied, not converted. */
class ProcStat implements Collector {
  private readonly file: KernelFile;
  private readonly type: string;
  private readonly first: number;
  private readonly count: number;
  /** Names of the CPUs, by line: they stay the same, except for CPUs that come and go. */
  private readonly names: string[] = [];

  constructor(file: KernelFile, type: string, first: number, count: number) {
    this.file = file;
    this.type = type;
    this.first = first;
    this.count = count;
  }

  collect(writer: RawWriter): void {
    const end = this.file.read();
    const bytes = this.file.bytes;
    let cpus = 0;
    for (let at = 0; at < end; ) {
      const isCpu = bytes[at] === C && bytes[at + 1] === P && bytes[at + 2] === U;
      // The CPUs' lines come first, after the line for all CPUs.
      if (!isCpu) break;
      let stop = bytes.indexOf(NEWLINE, at);
      if (stop < 0 || stop > end) stop = end;
      if (bytes[at + 3] >= ZERO && bytes[at + 3] <= NINE) this.line(writer, at + 3, stop, cpus++);
      at = stop + 1;
    }
    if (cpus === 0) throw new UnavailableError(`${this.file.path} has no lines of CPUs`);
  }

  private line(writer: RawWriter, from: number, end: number, cpu: number): void {
    const bytes = this.file.bytes;
    let at = from;
    while (at < end && bytes[at] !== BLANK) at++;
    const number = numberAt(bytes, from, at);
    if (Number.isNaN(number)) return;
    if (this.names[cpu] !== String(number)) this.names[cpu] = String(number);
    writer.record(this.type, this.names[cpu]);
    const last = this.first + this.count;
    let values = 0;
    for (let field = 0; field < last; field++) {
      while (at < end && bytes[at] === BLANK) at++;
      const start = at;
      while (at < end && bytes[at] !== BLANK) at++;
      if (field < this.first || start === at) continue;
      if (isNumber(bytes, start, at)) writer.digits(bytes, start, at);
      else writer.number(0);
      values++;
    }
    // 0 for fields that this kernel does not offer, as in tacc_stats: the format has no gaps.
    for (; values < this.count; values++) writer.number(0);
    writer.endRecord(this.count);
  }

  close(): void {
    // The file is shared: the tree closes it.
  }
}

export function procStat(tree: NodeTree, type: string, first: number, count: number): Collector {
  return new ProcStat(tree.shared('proc/stat'), type, first, count);
}
