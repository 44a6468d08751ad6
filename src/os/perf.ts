/** Counters of the processor and the kernel, through perf_event_open(2). */
import { readSync } from 'node:fs';
import { koffi } from './koffi.ts';

const SYSCALL: Readonly<Record<string, number>> = { x64: 298, arm64: 241 };
const ATTR_BYTES = 112;
/** read_format: the value, then the ns for which it was enabled, and the ns for which it was counting. */
const ENABLED_AND_RUNNING = 3n;
const CLOSE_ON_EXEC = 8n;

interface LibC {
  syscall(
    number: number,
    attr: Uint8Array,
    pid: number,
    cpu: number,
    group: number,
    flags: bigint,
  ): number;
  /** Node warns if it closes files that it did not open. */
  close(file: number): number;
}

let libc: LibC | null | undefined;

function load(): LibC | null {
  if (libc !== undefined) return libc;
  libc = null;
  if (process.platform !== 'linux' || SYSCALL[process.arch] === undefined) return libc;
  try {
    const lib = koffi().load(null);
    libc = {
      syscall: lib.func('int64_t syscall(int64_t, void *, int, int, int, uint64_t)'),
      close: lib.func('int close(int)'),
    };
  } catch {
    // No FFI on this platform.
  }
  return libc;
}

/** One event counted on one CPU, whichever program runs there. */
export class PerfCounter {
  private file: number;
  private readonly words = new BigUint64Array(3);

  private constructor(file: number) {
    this.file = file;
  }

  /** Null if there is no such event or CPU, or it is not permitted. @param type and `config`: see linux/perf_event.h */
  static open(type: number, config: number, cpu: number): PerfCounter | null {
    const c = load();
    if (c === null) return null;
    const attr = new DataView(new ArrayBuffer(ATTR_BYTES));
    attr.setUint32(0, type, true);
    attr.setUint32(4, ATTR_BYTES, true);
    attr.setBigUint64(8, BigInt(config), true);
    attr.setBigUint64(32, ENABLED_AND_RUNNING, true);
    const bytes = new Uint8Array(attr.buffer);
    const file = Number(c.syscall(SYSCALL[process.arch], bytes, -1, cpu, -1, CLOSE_ON_EXEC));
    return file < 0 ? null : new PerfCounter(file);
  }

  /**
   * The count so far. If the kernel took turns with other events, scaled to the whole time; null if it has not
   * counted at all.
   */
  read(): bigint | null {
    try {
      if (this.file < 0 || readSync(this.file, this.words) !== this.words.byteLength) return null;
    } catch {
      return null;
    }
    const [value, enabled, running] = this.words;
    if (running === 0n) return enabled === 0n ? value : null;
    return running === enabled ? value : (value * enabled) / running;
  }

  /** Closes it. */
  close(): void {
    if (this.file >= 0) load()?.close(this.file);
    this.file = -1;
  }
}
