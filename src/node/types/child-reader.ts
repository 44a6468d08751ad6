/**
 * A child process that reads files that may block forever: those of a network file system, whose reader sleeps
 * uninterruptibly. After the deadline the caller goes on without it. The child is asked again once it has answered, so
 * at most one request is outstanding. It ends with its parent, or when the blocked call returns.
 */
import type { ChildProcess } from 'node:child_process';
import { closeSync, readFileSync, readSync, writeSync } from 'node:fs';
import os from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RawWriter } from '../../formats/tacc/writer.ts';
import { openNameless } from '../../os/nameless.ts';
import {
  type ChildTask,
  DONE,
  HEADER_BYTES,
  HEADER_WORDS,
  LENGTH,
  REQUEST,
  type ToldKeys,
  WAITS,
} from './child-protocol.ts';

/** Milliseconds that Node may take to start on a busy machine. */
const START_LIMIT_MS = 20_000;
/** Milliseconds to wait for types' keys; a library that hangs is ignored after that. */
const KEYS_LIMIT_MS = 10_000;
/** Children that may end without an answer; no more are started after so many. */
const MOST_STARTS = 3;
/** Milliseconds between looks at the answers: initially, and at most. */
const [SHORTEST_MS, LONGEST_MS] = [0.2, 5];

const CHILD = fileURLToPath(new URL('child.js', import.meta.url));
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** A file without a name, in memory if there is such a folder. */
function namelessFile(): number {
  for (const folder of ['/dev/shm', os.tmpdir()]) {
    try {
      return openNameless(folder);
    } catch {
      // The next folder may work.
    }
  }
  throw new Error(`cannot write to /dev/shm or ${os.tmpdir()}`);
}

/** Whether a process runs; one that has ended but was not reaped yet does not. */
function runs(pid: number | undefined): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

export class ChildReader {
  private types: readonly string[];
  /** The keys of types, once the child has told them. */
  private keys: Readonly<Record<string, readonly string[]>> = {};
  private tells: boolean;
  private readonly root: string;
  private readonly deadline: number;
  private readonly header = new Uint32Array(HEADER_WORDS);
  private child: ChildProcess | null = null;
  private answers = -1;
  /** Number of the last request. */
  private request = 0;
  /** When it was made, or when the child became ready if it was not ready then. */
  private asked = 0;
  private starts = 0;
  /** Why nothing was asked; '' if something was. */
  private refusal = '';

  /** `deadline`: milliseconds for a collection; `tells`: see `toldKeys`. Starts the child without waiting for it. */
  constructor(types: readonly string[], root: string, deadline: number, tells = false) {
    this.types = types;
    this.tells = tells;
    // The child has another working folder.
    this.root = resolve(root);
    this.deadline = deadline;
    this.refusal = this.start();
  }

  /** Starts a child; returns '', or why it could not. */
  private start(): string {
    this.close();
    if (this.starts++ >= MOST_STARTS) return 'the process that reads it has ended again and again';
    try {
      this.answers = namelessFile();
      writeSync(this.answers, new Uint8Array(HEADER_BYTES), 0, HEADER_BYTES, 0);
      const { types, root, tells, keys } = this;
      const task: ChildTask = { types, root, tells, keys };
      // Loaded when needed, because it is slow to load.
      const { spawn } = process.getBuiltinModule('node:child_process');
      // No other descriptor than the answers' file: a reader of this process's output must not wait for a child that hangs.
      const child = spawn(process.execPath, [CHILD, JSON.stringify(task)], {
        stdio: ['pipe', 'ignore', 'ignore', this.answers],
        env: { ...process.env, NODE_OPTIONS: '' },
        cwd: '/',
      });
      child.on('error', () => {});
      child.stdin?.on('error', () => {});
      child.unref();
      (child.stdin as unknown as { unref(): void }).unref();
      this.child = child;
      this.request = 0;
      return '';
    } catch (error) {
      return `no process to read it: ${(error as Error).message}`;
    }
  }

  private look(): Uint32Array {
    readSync(this.answers, this.header, 0, HEADER_BYTES, 0);
    return this.header;
  }

  /**
   * Waits until the child has told the types' keys, so that readers can be told; from then on it is asked only for types that
   * exist. Null if nothing comes.
   */
  toldKeys(): ToldKeys | null {
    const end = performance.now() + KEYS_LIMIT_MS;
    while (this.refusal === '' && performance.now() < end) {
      const header = this.look();
      if (header[WAITS] === 1) return this.takeKeys(header[LENGTH]);
      if (!runs(this.child?.pid)) return null;
      Atomics.wait(sleeper, 0, 0, LONGEST_MS);
    }
    return null;
  }

  private takeKeys(length: number): ToldKeys {
    const body = Buffer.alloc(length);
    readSync(this.answers, body, 0, length, HEADER_BYTES);
    const told = JSON.parse(body.toString()) as ToldKeys;
    this.types = this.types.filter((type) => typeof told[type] === 'object');
    this.keys = told as Readonly<Record<string, readonly string[]>>;
    // Later children write the same.
    this.tells = false;
    return told;
  }

  /** Asks for the records of this moment, unless the child still works on an earlier request. */
  ask(): void {
    if (this.child === null || !runs(this.child.pid)) {
      this.refusal = this.start();
      if (this.refusal !== '') return;
    }
    const header = this.look();
    const busy = this.request > 0 && !(header[REQUEST] === this.request && header[WAITS] === 1);
    this.refusal = busy ? 'an earlier read has not come back' : '';
    if (busy) return;
    this.request++;
    this.asked = performance.now();
    this.child?.stdin?.write(`${this.request}\n`);
  }

  /**
   * Waits for the records until the deadline, and writes those of the types that are done. `failed` is called for the
   * others, with the reason.
   */
  answer(writer: RawWriter, failed: (type: string, reason: string) => void): void {
    const reason = this.refusal || this.wait();
    const done = this.refusal === '' ? this.take(writer, failed) : 0;
    for (const type of this.types.slice(done)) failed(type, reason);
  }

  /** Waits until the request is done; returns '', or why it is not done. */
  private wait(): string {
    const start = this.asked;
    let ready = false;
    let nextCheck = start + 100;
    for (let pause = SHORTEST_MS; ; pause = Math.min(LONGEST_MS, 1.5 * pause)) {
      const header = this.look();
      const now = performance.now();
      if (!ready && (header[REQUEST] > 0 || header[WAITS] === 1)) {
        ready = true;
        this.asked = now;
      }
      if (header[REQUEST] === this.request && header[WAITS] === 1) {
        this.starts = 1;
        return '';
      }
      if (ready && now - this.asked > this.deadline) {
        return `no answer within ${this.deadline / 1000} s; its file system may hang`;
      }
      if (now > nextCheck) {
        if (!runs(this.child?.pid)) return 'the process that reads it has ended';
        if (!ready && now - start > START_LIMIT_MS) {
          return `the process that reads it did not start within ${START_LIMIT_MS / 1000} s`;
        }
        nextCheck = now + 100;
      }
      Atomics.wait(sleeper, 0, 0, pause);
    }
  }

  /** Writes what has been answered. Returns the number of types that are done. */
  private take(writer: RawWriter, failed: (type: string, reason: string) => void): number {
    const header = this.look();
    if (header[REQUEST] !== this.request) return 0;
    const [length, done] = [header[LENGTH], header[DONE]];
    const body = Buffer.allocUnsafe(length);
    for (let used = 0; used < length; ) {
      const got = readSync(this.answers, body, used, length - used, HEADER_BYTES + used);
      if (got === 0) return 0;
      used += got;
    }
    let at = 0;
    for (const type of this.types.slice(0, done)) {
      const records = body.readUInt32LE(at);
      const failure = body.readUInt32LE(at + 4);
      at += 8;
      writer.records(body.subarray(at, at + records));
      at += records;
      if (failure > 0) failed(type, body.toString('utf8', at, at + failure));
      at += failure;
    }
    return done;
  }

  close(): void {
    this.child?.stdin?.destroy();
    this.child?.kill('SIGKILL');
    this.child = null;
    if (this.answers >= 0) closeSync(this.answers);
    this.answers = -1;
  }
}
