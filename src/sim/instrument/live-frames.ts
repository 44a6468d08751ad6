/**
 * Frames on their way from the recorder to the thread that started it. That thread may be busy with a PE for longer than
 * memory allows, and the recorder cannot wait for it, since the PE may be waiting for the recorder. So data beyond a limit are
 * left out and counted; definitions, which later data need, never are.
 */
import { AT, FLAG_DICTIONARY, FLAG_SCHEMA } from '../../formats/frames/layout.ts';
import type { FramesMessage } from './recorder-messages.ts';
import { TAKEN } from './slab.ts';

/** Most bytes of frames that the other thread has not taken yet; bytes that are collected for one message. */
export const MOST_UNTAKEN_BYTES = 32 * 2 ** 20;
const MESSAGE_BYTES = 2 ** 20;

function isData(frame: Uint8Array): boolean {
  const flags = new DataView(frame.buffer, frame.byteOffset).getUint32(AT.flags, true);
  return (flags & (FLAG_SCHEMA | FLAG_DICTIONARY)) === 0;
}

export class LiveFrames {
  private readonly bell: Int32Array;
  private readonly tell: (message: FramesMessage) => void;
  private frames: Uint8Array[] = [];
  private bytes = 0;
  private dropped = 0;
  /** Bytes sent so far, modulo 2^32. */
  private told = 0;

  /** @param bell the memory in which the other thread counts what it has taken */
  constructor(bell: Int32Array, tell: (message: FramesMessage) => void) {
    this.bell = bell;
    this.tell = tell;
  }

  add(frames: readonly Uint8Array[]): void {
    for (const frame of frames) {
      const untaken = (this.told - Atomics.load(this.bell, TAKEN)) | 0;
      if (untaken + this.bytes + frame.length > MOST_UNTAKEN_BYTES && isData(frame)) this.dropped++;
      else {
        this.frames.push(frame);
        this.bytes += frame.length;
      }
    }
    if (this.bytes >= MESSAGE_BYTES) this.post();
  }

  /** Sends the collected frames. */
  post(): void {
    const { frames, bytes, dropped } = this;
    if (frames.length === 0 && dropped === 0) return;
    this.frames = [];
    this.bytes = 0;
    this.dropped = 0;
    this.told = (this.told + bytes) | 0;
    this.tell({ frames, bytes, dropped });
  }
}
