/**
 * Registers with counters and with what they count: model-specific registers of a CPU, or the configuration space of a
 * PCI function. Both are files in which a register is an offset. Bits and widths come from the processors' manuals.
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { NO_LINK } from '../../os/trusted-file.ts';
import { needsRights, UnavailableError } from '../tree.ts';

/** Width of a register in bytes. */
export type Width = 4 | 8;

export interface RegisterSpace {
  /** `msr 0`: CPU 0; `pci 7f/10.0`: bus 7f, device 10, function 0; `mem …`: the same, in memory; `at 1f000`: a page of memory. */
  readonly name: string;
  /** Reads a register into `words`: low, high. @throws UnavailableError */
  read(at: number, width: Width, words: Uint32Array): void;
  /** @throws UnavailableError */
  write(at: number, width: Width, value: bigint): void;
  close(): void;
}

/** A register's value before it was written. */
export interface SavedRegister {
  /** Name of the register space, such as `msr 0`. */
  readonly space: string;
  /** Number of the register, or its byte offset in the space. */
  readonly at: number;
  /** Width of the register in bits. */
  readonly width: Width;
  /** Its old value, in decimal digits. */
  readonly value: string;
}

/** A lower half from this value on may roll over before the upper half is read. */
const NEAR_ROLLOVER = 0xfff00000;

const hex = (value: number) => `${value.toString(16).toUpperCase()}h`;

/** How messages name a register. */
export const registerName = (space: string, at: number) => `register ${hex(at)} of ${space}`;

export function join64(words: Uint32Array): bigint {
  return (BigInt(words[1]) << 32n) | BigInt(words[0]);
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code ?? String(error);

/** Registers of this machine, through the kernel's device files. Sources: msr(4), proc_bus_pci(5). */
export class RegisterFile implements RegisterSpace {
  readonly name: string;
  private readonly path: string;
  private readonly file: number;
  private readonly buffer = Buffer.alloc(8);

  /** @throws UnavailableError */
  constructor(name: string, path: string) {
    this.name = name;
    this.path = path;
    try {
      this.file = openSync(path, 'r');
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EACCES' || code === 'EPERM') {
        throw new UnavailableError(needsRights(`read ${path}`));
      }
      const mend = name.startsWith('msr') ? ' (modprobe msr)' : '';
      throw new UnavailableError(`${path} cannot be opened: ${code}${mend}`);
    }
  }

  read(at: number, width: Width, words: Uint32Array): void {
    let got: number;
    try {
      got = readSync(this.file, this.buffer, 0, width, at);
    } catch (error) {
      throw new UnavailableError(
        `${registerName(this.name, at)} cannot be read: ${codeOf(error)} (not on this processor, or hidden by a hypervisor)`,
      );
    }
    // Without privileges, the kernel shows only the first 64 bytes of a configuration space.
    if (got < width) throw new UnavailableError(needsRights(`read all of ${this.path}`));
    words[0] = this.buffer.readUInt32LE(0);
    words[1] = width === 8 ? this.buffer.readUInt32LE(4) : 0;
    // The kernel reads configuration space 32 bits at a time: the lower half may roll over before the upper half is read.
    if (width === 8 && words[0] >= NEAR_ROLLOVER && this.name.startsWith('pci')) {
      readSync(this.file, this.buffer, 0, 8, at);
      const low = this.buffer.readUInt32LE(0);
      if (low < NEAR_ROLLOVER) {
        words[0] = low;
        words[1] = this.buffer.readUInt32LE(4);
      }
    }
  }

  write(at: number, width: Width, value: bigint): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64LE(value);
    // Opened for this write only: while collecting, no descriptor permits writing.
    let file = -1;
    try {
      // By its own name; links are not followed.
      file = openSync(this.path, constants.O_RDWR | NO_LINK);
      writeSync(file, bytes, 0, width, at);
    } catch (error) {
      throw new UnavailableError(
        `${registerName(this.name, at)} cannot be written: ${codeOf(error)} (needs root)`,
      );
    } finally {
      if (file >= 0) closeSync(file);
    }
  }

  close(): void {
    closeSync(this.file);
  }
}
