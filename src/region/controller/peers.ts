/**
 * The agents of a job's hosts exchange numbers through files in a folder that all hosts see, the one in which their reports are joined:
 * each host replaces its `told-RANK-RANKS.json`, the first host `order.json`.
 */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readPlain } from '../../os/plain-file.ts';
import { replaceFile } from '../../os/whole-file.ts';
import type { Peers } from '../agents/index.ts';

export interface PeersSettings {
  /** On a file system that all hosts share. */
  readonly folder: string;
  /** First rank of this host, ranks of this host, ranks of the job. */
  readonly rank: number;
  readonly local: number;
  readonly size: number;
}

/** ms between checks for new messages. */
const LOOK_MS = 50;
const ORDER = 'order.json';

export class FilePeers implements Peers {
  readonly leads: boolean;
  private readonly settings: PeersSettings;
  private isOpen = false;
  private looked = Number.NEGATIVE_INFINITY;
  private _told: readonly (readonly number[])[] | null = null;
  private _ordered: readonly number[] | null = null;

  constructor(settings: PeersSettings) {
    this.settings = settings;
    this.leads = settings.rank === 0;
  }

  tell(message: readonly number[]): void {
    const { rank, local } = this.settings;
    this.write(`told-${rank}-${local}.json`, message);
  }

  told(): readonly (readonly number[])[] | null {
    if (!this.due()) return this._told;
    const names = this.names();
    const ranks = names.reduce((sum, name) => sum + Number(/-(\d+)\.json$/.exec(name)?.[1]), 0);
    const all = names.map((name) => this.read(name));
    const whole = all.filter((message) => message !== null);
    this._told = ranks >= this.settings.size && whole.length === all.length ? whole : null;
    return this._told;
  }

  order(message: readonly number[]): void {
    this._told = null;
    this.write(ORDER, message);
  }

  ordered(): readonly number[] | null {
    if (this.due()) this._ordered = this.read(ORDER) ?? this._ordered;
    return this._ordered;
  }

  private due(): boolean {
    const now = performance.now();
    if (now - this.looked < LOOK_MS) return false;
    this.looked = now;
    return true;
  }

  private names(): string[] {
    try {
      const names = readdirSync(this.settings.folder);
      return names.filter((name) => /^told-\d+-\d+\.json$/.test(name));
    } catch {
      return [];
    }
  }

  /** Null if there is no file or no message in it. */
  private read(name: string): readonly number[] | null {
    try {
      const message: unknown = JSON.parse(readPlain(join(this.settings.folder, name)));
      const isMessage = Array.isArray(message) && message.every((one) => typeof one === 'number');
      return isMessage ? message : null;
    } catch {
      return null;
    }
  }

  private write(name: string, message: readonly number[]): void {
    const { folder } = this.settings;
    try {
      if (!this.isOpen) mkdirSync(folder, { recursive: true });
      this.isOpen = true;
      replaceFile(join(folder, name), `${JSON.stringify(message)}\n`);
    } catch {
      // The first host has ended and removed the folder, or it cannot be written: each host keeps its limits.
    }
  }

  /** The first host removes the files at the end. */
  close(): void {
    if (this.leads) rmSync(this.settings.folder, { recursive: true, force: true });
  }
}
