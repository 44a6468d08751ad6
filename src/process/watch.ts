/** Samples the processes of a command and their threads. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Batch } from '../model/metric.ts';
import { RowBatch } from '../model/rows.ts';
import {
  PROCESS,
  PROCESS_IO,
  PROCESS_MEMORY,
  PROCESS_SWITCH,
  PROCESS_THREAD_TICKS,
} from '../model/schemas/process.ts';
import { LimitWatch } from '../os/limit-watch.ts';
import { MachineWatch } from '../os/machine-watch.ts';
import { ProcFile, shared, textOf } from '../os/proc-file.ts';
import { countOf, lineOf } from '../os/proc-lines.ts';
import { rankOf, readStat } from './texts.ts';
import { COUNT, ThreadNumbers } from './thread-numbers.ts';
import { blocked, ThreadRows } from './thread-rows.ts';
import { type Found, ProcessTree } from './tree.ts';

/** Characters of a command line that are recorded, at most. */
const MOST_WORDS = 300;
/** First samples of a process at which its CPUs are checked each time; afterwards once a second. */
const EARLY = 5;

/** Samples for which the last numbers of a thread are repeated while it sleeps and does not run. */
const ASLEEP = 10;

interface Thread {
  readonly stat: ProcFile;
  readonly schedule: ProcFile;
  readonly status: ProcFile;
  readonly numbers: ThreadNumbers;
  /** Samples since `stat` was read. */
  old: number;
  /** Context switches, voluntary and involuntary, and the timeslices at which they were read. */
  switches: readonly [bigint, bigint] | null;
  counted: bigint;
}

interface Process {
  readonly id: number;
  readonly folder: string;
  readonly threads: Map<number, Thread>;
  /** What was recorded of it last: its program, and the CPUs that it may run on. */
  name: string;
  cpus: string;
  /** Samples of it. */
  samples: number;
}

export interface WatchOptions {
  readonly host: string;
  /** Process that the command begins with. */
  readonly root: number;
  /** See `ProcessTree`. */
  readonly mark: string;
  /** The first process's words, where it has ended before they can be read. */
  readonly words?: string;
  /** Seconds since the run's zero. */
  readonly now: () => number;
  /** Folder of a recorded `proc` and `sys`. */
  readonly machine?: string;
}

export class ProcessWatch {
  private readonly options: WatchOptions;
  private readonly proc: string;
  private readonly limits: LimitWatch;
  private readonly shared: MachineWatch;
  private readonly tree: ProcessTree;
  private readonly processes = new Map<number, Process>();
  /** Whether a process could not be read. */
  private someEnded = false;
  private readonly infos = new RowBatch(PROCESS);
  private readonly fine = new ThreadRows();
  private readonly coarse = new RowBatch(PROCESS_THREAD_TICKS);
  private readonly switches = new RowBatch(PROCESS_SWITCH);
  private readonly memory = new RowBatch(PROCESS_MEMORY);
  private readonly io = new RowBatch(PROCESS_IO);

  constructor(options: WatchOptions) {
    this.options = options;
    const { machine = '/', mark } = options;
    this.proc = join(machine, 'proc');
    this.limits = new LimitWatch(options);
    this.shared = new MachineWatch(options);
    this.tree = new ProcessTree(mark, this.proc);
  }

  /**
   * Takes a sample: of times and CPUs, and with `all` also of what is recorded once a second.
   * @param gives false: the rows are kept, and returned with those of a later sample
   */
  sample(all: boolean, gives = true): Batch[] {
    if (this.tree.hasGrown() || this.someEnded) {
      const lists = this.someEnded;
      this.someEnded = false;
      for (const found of this.tree.look(this.options.root, lists, (id) => this.drop(id))) {
        this.add(found);
      }
    }
    for (const process of this.processes.values()) {
      // A launcher may bind it once it runs.
      const status = all || process.samples++ < EARLY ? this.rebound(process) : '';
      this.threads(process, all);
      if (all) this.whole(process, status);
    }
    if (!all && !gives) return [];
    const rows = [this.infos, this.fine, this.coarse, this.switches, this.memory, this.io];
    const folders = [...this.processes.values()].map(({ folder }) => folder);
    const limits = all ? [...this.limits.sample(folders), ...this.shared.sample()] : [];
    return [...rows.flatMap((some) => some.take() ?? []), ...limits];
  }

  close(): void {
    for (const id of [...this.processes.keys()]) this.drop(id);
    this.shared.close();
    this.tree.close();
  }

  private add({ id, stat }: Found): void {
    const folder = join(this.proc, `${id}`);
    const process = { id, folder, threads: new Map(), name: '', cpus: '', samples: 0 };
    this.processes.set(id, process);
    this.tell(process, stat.name, stat.parent);
  }

  /**
   * Records what the process is, again when it has become another program, as between fork and exec.
   */
  private tell(process: Process, name: string, parent: number): void {
    const { host, now } = this.options;
    const { id, folder } = process;
    process.name = name;
    const rank = rankOf(textOf(join(folder, 'environ')) ?? '');
    const known = (textOf(join(folder, 'cmdline')) ?? '').split('\0').join(' ').trim();
    const words = known === '' && id === this.options.root ? (this.options.words ?? '') : known;
    const cpus = cpusOf(textOf(join(folder, 'status')) ?? '');
    process.cpus = cpus;
    this.infos.add([
      now(),
      host,
      id,
      parent,
      rank ?? Number.NaN,
      name,
      words.slice(0, MOST_WORDS),
      cpus,
    ]);
  }

  /** Records it again if it was bound to other CPUs. Returns its `status`. */
  private rebound(process: Process): string {
    const { folder, name, cpus } = process;
    const status = textOf(join(folder, 'status')) ?? '';
    const now = cpusOf(status);
    if (now !== '' && now !== cpus) {
      const stat = readStat(textOf(join(folder, 'stat')) ?? '');
      if (stat !== null) this.tell(process, name, stat.parent);
    }
    return status;
  }

  private drop(id: number): void {
    for (const thread of this.processes.get(id)?.threads.values() ?? []) closeThread(thread);
    this.processes.delete(id);
  }

  private threads(process: Process, all: boolean): void {
    const { id, threads } = process;
    // The first thread's file has the number of threads: they are listed only if that has changed, or one has ended.
    const first = threads.get(id);
    const isThere = first !== undefined && this.thread(process, id, first, all);
    let looks = !isThere || first.numbers.threads !== threads.size;
    for (const [number, thread] of threads) {
      if (thread !== first) looks = !this.thread(process, number, thread, all) || looks;
    }
    if (looks) this.look(process, all);
  }

  /** Forgets threads that have ended, and samples new ones. */
  private look(process: Process, all: boolean): void {
    const { id, folder, threads } = process;
    const tasks = join(folder, 'task');
    let there: Set<number>;
    try {
      there = new Set(readdirSync(tasks).map(Number));
    } catch {
      this.someEnded = true;
      return;
    }
    for (const [number, thread] of threads) {
      if (there.has(number)) continue;
      closeThread(thread);
      threads.delete(number);
    }
    for (const number of there) {
      if (threads.has(number)) continue;
      const file = (name: string) => new ProcFile(join(tasks, `${number}`, name));
      const thread: Thread = {
        ...{ stat: file('stat'), schedule: file('schedstat'), status: file('status') },
        ...{ numbers: new ThreadNumbers(), old: 0, switches: null, counted: -1n },
      };
      threads.set(number, thread);
      if (!this.thread(process, number, thread, all) && number === id) return;
    }
  }

  /** A sample of a thread; false where it has ended. */
  private thread(process: Process, id: number, thread: Thread, all: boolean): boolean {
    const { host, now } = this.options;
    const { numbers, schedule, stat } = thread;
    const real = now();
    const ran = numbers.takeSchedule(shared, schedule.readBytes());
    // A thread that sleeps and has not run is not read each time, except the first: it has the number of threads.
    const asleep = ran === false && numbers.state === 'S' && id !== process.id;
    if (!asleep || ++thread.old >= ASLEEP) {
      if (!numbers.takeStat(shared, stat.readBytes())) return false;
      thread.old = 0;
    }
    const { name, state, cpu, counts } = numbers;
    if (id === process.id && name !== process.name) this.tell(process, name, numbers.parent);
    if (ran !== null) this.fine.add(real, host, process.id, id, numbers);
    else {
      const [user, system] = [counts[COUNT.user], counts[COUNT.system]];
      const faults = [counts[COUNT.minorFaults], counts[COUNT.majorFaults]];
      const head = [real, host, process.id, id, name, state, cpu];
      this.coarse.add([...head, user + system, user, system, ...faults, blocked(state)]);
    }
    if (all) this.switch(process.id, id, thread, ran);
    return true;
  }

  private switch(process: number, id: number, thread: Thread, ran: boolean | null): void {
    const { host, now } = this.options;
    const real = now();
    const timeslices = thread.numbers.counts[COUNT.timeslices];
    if (thread.switches === null || ran === null || timeslices !== thread.counted) {
      const status = thread.status.read() ?? '';
      const own = countOf(status, 'voluntary_ctxt_switches');
      const forced = countOf(status, 'nonvoluntary_ctxt_switches');
      if (own === null || forced === null) return;
      thread.switches = [own, forced];
      thread.counted = timeslices;
    }
    this.switches.add([real, host, process, id, ...thread.switches]);
  }

  /** Samples what belongs to the process, not to its threads. */
  private whole({ id, folder, threads }: Process, status: string): void {
    const { host, now } = this.options;
    const real = now();
    const [resident, swapped] = ['VmRSS', 'VmSwap'].map((key) => countOf(status, key));
    if (resident !== null && swapped !== null) {
      this.memory.add([real, host, id, 1024n * resident, 1024n * swapped, threads.size]);
    }
    const io = textOf(join(folder, 'io')) ?? '';
    const counts = ['rchar', 'wchar', 'read_bytes', 'write_bytes'].map((key) => countOf(io, key));
    if (counts.every((one) => one !== null)) this.io.add([real, host, id, ...counts]);
  }
}

/** CPUs that a process may run on, from its `status`; '' if it does not have them. */
const cpusOf = (status: string): string => lineOf(status, 'Cpus_allowed_list') ?? '';

function closeThread({ stat, schedule, status }: Thread): void {
  for (const file of [stat, schedule, status]) file.close();
}
