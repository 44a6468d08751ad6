/** Entry of the sampler's thread: collects at regular times into one raw stats file. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { doTask } from '../os/thread.ts';
import { type Absent, Collection } from './collect.ts';

export interface SamplerTask {
  readonly folder: string;
  readonly types: readonly string[];
  readonly root: string | undefined;
  /** `$hostname`, and name of the folder. */
  readonly hostname: string;
  readonly deadline: number | undefined;
  readonly jobId: string;
  /** Milliseconds. */
  readonly interval: number;
  /** Milliseconds between samples of all types; null: only `types` are sampled. */
  readonly allInterval: number | null;
  /** Whether each group is also sent to the starter. */
  readonly tell: boolean;
  /** One word; anything but 0 asks for the end. */
  readonly stop: Int32Array;
}

/** What the sampler did. */
export interface SamplerResult {
  readonly groups: number;
  /** Samples that were skipped because an earlier collection was still under way. */
  readonly missed: number;
  /** Failed collections of single types, by type. */
  readonly failures: ReadonlyMap<string, number>;
  /** Seconds spent collecting and writing. */
  readonly seconds: number;
}

/** Sent when the first record group is written. */
export interface SamplerStarted {
  readonly host: string;
  readonly file: string;
  readonly types: readonly string[];
  readonly absent: readonly Absent[];
}

export type SamplerSaid = SamplerStarted | { readonly bytes: Uint8Array };

/** Creates the file, named after the current second, or the next free one if another collector has taken that. */
function createFile(folder: string): { path: string; file: number } {
  mkdirSync(folder, { recursive: true });
  for (let second = Math.floor(Date.now() / 1000); ; second++) {
    const path = join(folder, String(second));
    try {
      return { path, file: openSync(path, 'ax') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

function sample(task: SamplerTask, say: (said: SamplerSaid) => void): SamplerResult {
  let file = -1;
  const sink = (bytes: Uint8Array) => {
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
    if (task.tell) say({ bytes: bytes.slice() });
  };
  // For several samples a second, whole seconds would not do.
  const { root, hostname, deadline } = task;
  const options = { root, hostname, deadline, style: '2.3' } as const;
  const few = new Collection(sink, { ...options, types: task.types });
  const all = task.allInterval === null ? few : new Collection(sink, options);
  const created = createFile(join(task.folder, few.host));
  file = created.file;
  let [groups, missed, busy] = [0, 0, 0];
  let allDue = 0;
  const collect = (mark?: string) => {
    const before = performance.now();
    const isDue = mark !== undefined || before >= allDue;
    if (isDue) allDue = before + (task.allInterval ?? 0);
    (isDue ? all : few).collect([task.jobId], mark);
    busy += performance.now() - before;
    groups++;
  };
  try {
    all.writer.header({ collector: 'triscope' });
    const start = performance.now();
    collect(`begin ${task.jobId}`);
    say({ host: all.host, file: created.path, types: all.types, absent: all.absent });
    for (let tick = 1; ; tick++) {
      const late = Math.floor((performance.now() - start) / task.interval);
      if (late > tick) {
        missed += late - tick;
        tick = late;
      }
      const wait = start + tick * task.interval - performance.now();
      if (Atomics.wait(task.stop, 0, 0, Math.max(0, wait)) !== 'timed-out') break;
      collect();
    }
    collect(`end ${task.jobId}`);
  } finally {
    few.close();
    if (all !== few) all.close();
    closeSync(file);
  }
  const failures = new Map([...few.failures, ...all.failures]);
  return { groups, missed, failures, seconds: busy / 1000 };
}

void doTask(sample);
