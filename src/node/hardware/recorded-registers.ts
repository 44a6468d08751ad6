/**
 * Registers of a recorded tree. `msr/cpuN` has lines with a register in hexadecimal and its value in decimal; the last
 * line for a register counts. `proc/bus/pci/BB/DD.F` is the configuration space itself. Writes are kept in
 * memory.
 */
import { closeSync, openSync, readFileSync } from 'node:fs';
import { DIRECT } from '../kernel-file.ts';
import { UnavailableError } from '../tree.ts';
import { type RegisterSpace, registerName, type Width } from './registers.ts';

/** Called for each write, in order. */
export type RegisterRecorder = (space: string, at: number, value: bigint) => void;

/** A file of a tree. @throws UnavailableError */
export function contentOf(path: string): Buffer {
  let file = -1;
  try {
    file = openSync(path, DIRECT);
    return readFileSync(file);
  } catch (error) {
    throw new UnavailableError((error as Error).message);
  } finally {
    if (file >= 0) closeSync(file);
  }
}

export class RecordedMsr implements RegisterSpace {
  readonly name: string;
  private readonly values = new Map<number, bigint>();
  private readonly record: RegisterRecorder;

  /** @throws UnavailableError */
  constructor(name: string, path: string, record: RegisterRecorder) {
    this.name = name;
    this.record = record;
    const lines = contentOf(path).toString('latin1').split('\n');
    for (const [k, line] of lines.entries()) {
      if (line.trim() === '') continue;
      const match = /^\s*([0-9a-f]{1,8})\s+(\d{1,20})\s*$/i.exec(line);
      if (!match) {
        throw new UnavailableError(`${path}, line ${k + 1}: not a register (hex) and its value`);
      }
      this.values.set(Number.parseInt(match[1], 16), BigInt.asUintN(64, BigInt(match[2])));
    }
  }

  read(at: number, _width: Width, words: Uint32Array): void {
    const value = this.values.get(at);
    if (value === undefined) throw new UnavailableError(`no ${registerName(this.name, at)}`);
    words[0] = Number(value & 0xffffffffn);
    words[1] = Number(value >> 32n);
  }

  write(at: number, _width: Width, value: bigint): void {
    this.record(this.name, at, value);
    this.values.set(at, value);
  }

  close(): void {}
}

export class RecordedPci implements RegisterSpace {
  readonly name: string;
  private readonly bytes: Buffer;
  private readonly record: RegisterRecorder;

  constructor(name: string, bytes: Buffer, record: RegisterRecorder) {
    this.name = name;
    this.record = record;
    this.bytes = bytes;
  }

  private check(at: number, width: Width): void {
    if (at + width > this.bytes.length) {
      throw new UnavailableError(`no ${registerName(this.name, at)}: the file is too short`);
    }
  }

  read(at: number, width: Width, words: Uint32Array): void {
    this.check(at, width);
    words[0] = this.bytes.readUInt32LE(at);
    words[1] = width === 8 ? this.bytes.readUInt32LE(at + 4) : 0;
  }

  write(at: number, width: Width, value: bigint): void {
    this.check(at, width);
    this.record(this.name, at, value);
    for (let k = 0; k < width; k++) this.bytes[at + k] = Number((value >> BigInt(8 * k)) & 0xffn);
  }

  close(): void {}
}
