/** Devices that come and go: a folder is listed at each collection; what stays keeps its descriptors. */
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { UnavailableError } from '../tree.ts';
import type { Collector } from './type.ts';

export interface Device {
  /** Writes its record, if it has one now. @throws Error where it has vanished, or cannot be read */
  write(writer: RawWriter): void;
  close(): void;
}

/** A recorded tree may hold anything. */
const MOST_DEVICES = 65_536;

/** What the kernel says of a device that was there a moment ago. */
const VANISHED = new Set(['ENOENT', 'ENODEV', 'ESRCH', 'ENXIO', 'ENOTDIR', 'ESTALE']);

export function hasVanished(error: unknown): boolean {
  if (error instanceof UnavailableError) return true;
  return VANISHED.has((error as NodeJS.ErrnoException).code ?? '');
}

const same = (a: readonly string[], b: readonly string[]) =>
  a === b || (a.length === b.length && a.every((name, k) => name === b[k]));

export class Devices implements Collector {
  private readonly what: string;
  private readonly list: () => string[] | null;
  private readonly open: (name: string) => Device | null;
  private listed: string[] = [];
  private names: string[] = [];
  /** By name; null for what is no device of this type. A name without an entry is opened at the next collection. */
  private readonly devices = new Map<string, Device | null>();

  /**
   * `what`: the folder, for messages. `list` gives names; `open` gives null for what is no device of the type.
   * @throws UnavailableError where there is no such folder
   */
  constructor(what: string, list: () => string[] | null, open: (name: string) => Device | null) {
    this.what = what;
    this.list = list;
    this.open = open;
    if (list() === null) throw new UnavailableError(`there is no ${what}, or it cannot be listed`);
  }

  collect(writer: RawWriter): void {
    const listed = this.list();
    if (listed === null) throw new UnavailableError(`${this.what} has vanished`);
    if (!same(listed, this.listed)) this.renew(listed);
    let trouble: unknown = null;
    for (const name of this.names) {
      try {
        this.device(name)?.write(writer);
      } catch (error) {
        writer.dropRecord();
        this.drop(name);
        if (!hasVanished(error)) trouble ??= error;
      }
    }
    if (trouble !== null) throw trouble;
    if (listed.length > MOST_DEVICES) {
      throw new Error(
        `${this.what} has ${listed.length} names; only ${MOST_DEVICES} are collected`,
      );
    }
  }

  private renew(listed: string[]): void {
    this.listed = listed;
    this.names = listed.slice(0, MOST_DEVICES).sort();
    const present = new Set(this.names);
    for (const name of this.devices.keys()) if (!present.has(name)) this.drop(name);
  }

  private device(name: string): Device | null {
    let device = this.devices.get(name);
    if (device === undefined) {
      device = this.open(name);
      this.devices.set(name, device);
    }
    return device;
  }

  private drop(name: string): void {
    this.devices.get(name)?.close();
    this.devices.delete(name);
  }

  close(): void {
    for (const device of this.devices.values()) device?.close();
    this.devices.clear();
    this.listed = [];
  }
}
