/**
 * Model-specific registers of one CPU: 8 bytes at the register's number of `/dev/cpu/N/msr` (needs root), or lines
 * `HEXNUMBER VALUE` of `msr/cpuN` in a recorded tree; the last line of a register counts. Source: msr(4).
 */
import { closeSync, openSync } from 'node:fs';
import { readAt } from '../os/raw-calls.ts';
import type { Machine } from './machine.ts';
import { PolledFile } from './polled-file.ts';

const RAW = new DataView(new ArrayBuffer(8));

/** One register's bits at this tick. */
export class MsrRegister {
  readonly number: number;
  /** Bits 0–31 and 32–63, unsigned. */
  low = 0;
  high = 0;
  present = false;

  constructor(number: number) {
    this.number = number;
  }

  /** Bits `from`–`to` of one half, `to` ≤ 31 or `from` ≥ 32; NaN if the register is absent. */
  bits(from: number, to: number): number {
    if (!this.present) return Number.NaN;
    const half = from >= 32 ? this.high : this.low;
    return Math.floor((half >>> 0) / 2 ** (from & 31)) % 2 ** (to - from + 1);
  }

  /**
   * All 64 bits, as a double with this bit pattern; NaN if the register is absent. Patterns that are a NaN, such as 64
   * ones, cannot be distinguished from this.
   */
  raw(): number {
    RAW.setUint32(0, this.high);
    RAW.setUint32(4, this.low);
    return this.present ? RAW.getFloat64(0) : Number.NaN;
  }

  /** Bits 0–47, exactly; NaN where the register is absent. */
  bits48(): number {
    return this.present ? this.low + (this.high % 65536) * 2 ** 32 : Number.NaN;
  }
}

export class MsrFile {
  private readonly registers = new Map<number, MsrRegister>();
  private readonly path: string;
  private readonly recorded: PolledFile | null;
  private readonly word = Buffer.alloc(8);
  private file = -1;

  constructor(machine: Machine, cpu: number) {
    this.path = machine.path(`dev/cpu/${cpu}/msr`);
    const recorded = machine.path(`msr/cpu${cpu}`);
    this.recorded = machine.isThisMachine ? null : new PolledFile(recorded, true);
  }

  register(number: number): MsrRegister {
    const known = this.registers.get(number);
    if (known !== undefined) return known;
    const register = new MsrRegister(number);
    this.registers.set(number, register);
    return register;
  }

  poll(): void {
    if (this.recorded !== null) {
      this.recorded.poll();
      this.parse(this.recorded);
      return;
    }
    for (const register of this.registers.values()) {
      register.present = false;
      try {
        if (this.file < 0) this.file = openSync(this.path, 'r');
        register.present = readAt(this.file, this.word, 8, register.number) === 8;
        register.low = this.word.readUInt32LE(0);
        register.high = this.word.readUInt32LE(4);
      } catch (error) {
        // EIO: this CPU has no such register. Other errors: the CPU is gone, or we have no permission.
        if ((error as NodeJS.ErrnoException).code !== 'EIO') {
          this.close();
          return;
        }
      }
    }
  }

  private parse(file: PolledFile): void {
    for (const register of this.registers.values()) register.present = false;
    for (const line of file.bytes.toString('latin1', 0, file.length).split('\n')) {
      const [, number, text] = /^(?:0x)?([0-9a-f]+)\s+((?:0x[0-9a-f]+)|\d+)\s*$/i.exec(line) ?? [];
      if (text === undefined) continue;
      const register = this.registers.get(Number.parseInt(number, 16));
      if (register === undefined) continue;
      const value = BigInt.asUintN(64, BigInt(text));
      register.low = Number(value & 0xffffffffn);
      register.high = Number(value >> 32n);
      register.present = true;
    }
  }

  close(): void {
    this.recorded?.close();
    if (this.file >= 0) closeSync(this.file);
    this.file = -1;
    for (const register of this.registers.values()) register.present = false;
  }
}
