/**
 * Stores a run that is not recorded in a temporary folder while it is shown, so that streamed samples have tables and
 * findings. It begins with the first query, with the frames that the bus still has.
 */
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RECORDING_FILE, RECORDING_VERSION, type Recording } from '../model/recording.ts';
import { scratchFolder } from '../os/scratch.ts';
import type { LiveBus } from './bus.ts';

/** Maximum bytes; later samples are left out of the tables. */
const MOST_BYTES = 512 * 1024 * 1024;

export class KeptRun {
  private readonly bus: LiveBus;
  private readonly scratch = scratchFolder('triscope-kept-');
  private readonly folder = join(this.scratch.path, 'run');
  /** A file for each stream: their numbers of schemas are their own. */
  private readonly files = new Map<number, { readonly path: string; readonly file: number }>();
  private readonly stop: () => void;
  private readonly exit = () => this.scratch.remove();
  private bytes = 0;

  constructor(bus: LiveBus) {
    this.bus = bus;
    mkdirSync(this.folder);
    process.on('exit', this.exit);
    this.stop = bus.follow({
      facts: () => {},
      frame: (stream, bytes) => this.take(stream, bytes),
    });
  }

  /** Its folder, as a recording that is being written. */
  get path(): string {
    const { title, command, hosts, pes, zero } = this.bus.facts;
    const files = [...this.files.values()].map(({ path }) => ({ path, format: 'frames' }));
    const recording: Recording = {
      version: RECORDING_VERSION,
      state: 'running',
      madeBy: { command: command === '' ? [title] : command.split(' '), triscope: '', node: '' },
      started: new Date(Number(BigInt(zero) / 1_000_000n)).toISOString(),
      hosts,
      pes,
      sources: [{ name: 'sim', files, zero, droppedBytes: 0 }],
    };
    writeFileSync(join(this.folder, RECORDING_FILE), JSON.stringify(recording));
    return this.folder;
  }

  close(): void {
    this.stop();
    for (const { file } of this.files.values()) closeSync(file);
    this.files.clear();
    process.off('exit', this.exit);
    this.exit();
  }

  private take(stream: number, bytes: Uint8Array): boolean {
    if (this.bytes + bytes.length > MOST_BYTES) return false;
    try {
      this.write(stream, bytes);
    } catch {
      // No room for temporary files: nothing more is stored, and the run goes on.
      this.bytes = MOST_BYTES;
      return false;
    }
    this.bytes += bytes.length;
    return true;
  }

  private write(stream: number, bytes: Uint8Array): void {
    let to = this.files.get(stream);
    if (to === undefined) {
      const path = `${stream}.frames`;
      to = { path, file: openSync(join(this.folder, path), 'w') };
      this.files.set(stream, to);
    }
    writeFileSync(to.file, bytes);
  }
}
