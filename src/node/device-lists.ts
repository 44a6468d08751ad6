/**
 * Folders of devices in /sys, listed again only if a device may have come or gone. Each such change is a message to udev, and
 * the kernel numbers these messages. Source: kobject_uevent_env() in lib/kobject_uevent.c.
 */
import { readdirSync } from 'node:fs';
import type { KernelFile } from './kernel-file.ts';

/**
 * Seconds after which a folder is listed again even without a message, in case a driver sends none.
 */
const BELIEVED_SECONDS = 10;
const ZERO = 0x30;
const NINE = 0x39;

interface Listed {
  readonly names: string[] | null;
  readonly message: number;
  readonly at: number;
}

export class DeviceLists {
  /** /sys/kernel/uevent_seqnum; null if it cannot be read. */
  private readonly messages: KernelFile | null;
  private readonly lists = new Map<string, Listed>();
  /** Number of the last message; NaN if unknown. */
  private message = Number.NaN;
  private isRead = false;

  constructor(messages: KernelFile | null) {
    this.messages = messages;
  }

  /** Reads the number of the last message again. */
  begin(): void {
    this.isRead = false;
  }

  /** Names in the folder: the same array if none came or went; null if the folder is missing or cannot be listed. */
  names(folder: string): string[] | null {
    // Read before the folder is listed: a device that comes in between is seen next time.
    const message = this.last();
    const known = this.lists.get(folder);
    // Not `performance`, which takes 2 ms to load.
    const now = process.uptime();
    if (known?.message === message && now - known.at < BELIEVED_SECONDS) return known.names;
    const names = list(folder);
    this.lists.set(folder, { names, message, at: now });
    return names;
  }

  private last(): number {
    if (this.isRead || this.messages === null) return this.message;
    this.isRead = true;
    this.message = Number.NaN;
    try {
      const length = this.messages.readPiece();
      const { bytes } = this.messages;
      let number = 0;
      let k = 0;
      for (; k < length && bytes[k] >= ZERO && bytes[k] <= NINE; k++) {
        number = 10 * number + (bytes[k] - ZERO);
      }
      if (number > 0) this.message = number;
    } catch {
      // Then folders are listed each time.
    }
    return this.message;
  }

  close(): void {
    this.messages?.close();
  }
}

/** Names in a folder; null if it is missing or cannot be listed. */
export function list(folder: string): string[] | null {
  try {
    return readdirSync(folder);
  } catch {
    return null;
  }
}
