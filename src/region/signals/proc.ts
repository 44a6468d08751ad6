/**
 * Load, seconds of each CPU, and memory, which Linux shows to every user. Source: proc_loadavg(5), proc_stat(5), proc_meminfo(5).
 */
import { KIB } from '../../model/units.ts';
import type { PolledFile } from '../polled-file.ts';
import type { Tick } from '../tick.ts';
import { parseDecimal, skipBlanks, skipWord } from './digits.ts';
import type { Provider, Signal, SignalDeclaration } from './provider.ts';

const STAT = 'proc/stat';
const MEMINFO = 'proc/meminfo';
const LOADAVG = 'proc/loadavg';
/** USER_HZ: the kernel's interface has 100 on every known architecture. */
const TICKS_PER_SECOND = 100;

/** Index of the word in a line of loadavg. */
const LOADS = [
  ['LOAD_1M', 'one minute'],
  ['LOAD_5M', 'five minutes'],
  ['LOAD_15M', 'fifteen minutes'],
] as const;

/** Columns of a CPU's line, from 0; `user` already includes `guest`. */
const TIMES = [
  ['CPU_USER', [0, 1], 'in user mode, niced or not'],
  ['CPU_SYSTEM', [2, 5, 6], 'in the kernel, interrupts included'],
  ['CPU_IDLE', [3], 'idle'],
  ['CPU_IOWAIT', [4], 'idle while something waited for a disk'],
  ['CPU_STEAL', [7], 'ready to run while the hypervisor ran others'],
] as const;

const COLUMNS = 10;

const load = (word: number): SignalDeclaration => ({
  name: `PROC::${LOADS[word][0]}`,
  description: `Mean number of processes that run or wait, over ${LOADS[word][1]}`,
  unit: '',
  domain: 'board',
  behaviour: 'variable',
  aggregation: 'average',
  format: 'double',
});

const seconds = (name: string, what: string): SignalDeclaration => ({
  name: `PROC::${name}`,
  description: `Seconds ${what}, since the machine started`,
  unit: 's',
  domain: 'cpu',
  behaviour: 'monotone',
  aggregation: 'sum',
  format: 'double',
});

const memory = (
  name: string,
  description: string,
  behaviour: 'constant' | 'variable',
): SignalDeclaration => ({
  name: `PROC::${name}`,
  description,
  unit: 'B',
  domain: 'board',
  behaviour,
  aggregation: 'sum',
  format: 'double',
});

const TOTAL = memory('MEMORY_TOTAL', 'Memory that the kernel has', 'constant');
const AVAILABLE = memory(
  'MEMORY_AVAILABLE',
  'Memory that programs could still get without swapping',
  'variable',
);
const USED = memory('MEMORY_USED', 'Memory that is not available', 'variable');

/** The lines of CPUs, parsed once per tick. */
class StatTimes {
  private readonly file: PolledFile;
  private serial = -1;
  /** Ticks of column `c` of CPU `n` are at `n · COLUMNS + c`; NaN if there are none. */
  private ticks = new Float64Array(0);

  constructor(file: PolledFile, cpus: number) {
    this.file = file;
    this.ticks = new Float64Array(cpus * COLUMNS);
  }

  seconds(cpu: number, columns: readonly number[]): number {
    if (this.serial !== this.file.serial) this.parse();
    let total = 0;
    for (const column of columns) total += this.ticks[cpu * COLUMNS + column];
    return total / TICKS_PER_SECOND;
  }

  private parse(): void {
    const { bytes, length } = this.file;
    this.serial = this.file.serial;
    this.ticks.fill(Number.NaN);
    for (let at = 0; at < length; ) {
      // "cpuN": the line for all CPUs has no digit, and other lines come after.
      if (bytes[at] !== 99 || bytes[at + 1] !== 112 || bytes[at + 2] !== 117) return;
      const cpu = parseDecimal(bytes, at + 3, skipWord(bytes, at, length));
      let end = bytes.indexOf(10, at);
      if (end < 0 || end > length) end = length;
      if (cpu >= 0 && (cpu + 1) * COLUMNS <= this.ticks.length && bytes[at + 3] > 32) {
        let word = skipWord(bytes, at, end);
        for (let column = 0; column < COLUMNS; column++) {
          word = skipBlanks(bytes, word, end);
          this.ticks[cpu * COLUMNS + column] = parseDecimal(bytes, word, end);
          word = skipWord(bytes, word, end);
        }
      }
      at = end + 1;
    }
  }
}

/** Bytes in the line `Key:   123 kB` of a meminfo; NaN if there is none. */
function bytesOf(file: PolledFile, key: string): number {
  const text = file.bytes.subarray(0, file.length);
  const at = text.indexOf(key);
  if (at < 0) return Number.NaN;
  return parseDecimal(text, at + key.length, file.length) * KIB;
}

export const proc: Provider = {
  name: 'proc',
  source: '/proc/loadavg, /proc/stat, /proc/meminfo',
  declares: [
    ...LOADS.map((_, word) => load(word)),
    ...TIMES.map(([name, , what]) => seconds(name, what)),
    ...[TOTAL, AVAILABLE, USED],
  ],
  open({ machine }) {
    const signals: Signal[] = [];
    if (machine.canRead(LOADAVG)) {
      for (let word = 0; word < LOADS.length; word++) {
        const open = (_: number, tick: Tick) => {
          const file = tick.file(LOADAVG);
          return { read: () => wordOf(file, word) };
        };
        signals.push({ ...load(word), open });
      }
    }
    if (machine.canRead(STAT)) {
      for (const [name, columns, what] of TIMES) {
        const open = (cpu: number, tick: Tick) => {
          const cpus = machine.topology.count('cpu');
          const times = tick.shared(STAT, () => new StatTimes(tick.file(STAT), cpus));
          return { read: () => times.seconds(cpu, columns) };
        };
        signals.push({ ...seconds(name, what), open });
      }
    }
    if (machine.canRead(MEMINFO)) {
      const of = (declaration: SignalDeclaration, value: (file: PolledFile) => number): Signal => ({
        ...declaration,
        open: (_, tick) => {
          const file = tick.file(MEMINFO);
          return { read: () => value(file) };
        },
      });
      const available = (file: PolledFile) => bytesOf(file, 'MemAvailable:');
      const total = (file: PolledFile) => bytesOf(file, 'MemTotal:');
      const text = machine.text(MEMINFO) ?? '';
      if (text.includes('MemTotal:')) signals.push(of(TOTAL, total));
      // Kernels before 3.14 do not have it.
      if (text.includes('MemAvailable:')) {
        signals.push(of(AVAILABLE, available));
        signals.push(of(USED, (file) => total(file) - available(file)));
      }
    }
    return { signals };
  },
};

function wordOf({ bytes, length }: PolledFile, word: number): number {
  let at = skipBlanks(bytes, 0, length);
  for (let k = 0; k < word; k++) at = skipBlanks(bytes, skipWord(bytes, at, length), length);
  return parseDecimal(bytes, at, length);
}
