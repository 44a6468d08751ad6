/** Samples the processes of a command and their threads. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Batch } from '../model/metric.ts';
import { Rows } from '../model/rows.ts';
import {
  PROCESS,
  PROCESS_IO,
  PROCESS_MEMORY,
  PROCESS_SWITCH,
  PROCESS_THREAD,
  PROCESS_THREAD_TICKS,
} from '../model/schemas/process.ts';
import { LimitWatch } from '../os/limit-watch.ts';
import { ProcFile, textOf } from '../os/proc-file.ts';
import { countOf, lineOf } from '../os/proc-lines.ts';
import { rankOf, readSchedStat, readStat } from './texts.ts';
import { type Found, ProcessTree } from './tree.ts';

/** Words of a command that are kept, in characters. */
const MOST_WORDS = 300;
/** Samples at which it is looked whether a new process was bound to other CPUs; then once a second. */
const EARLY = 5;

interface Thread {
  readonly stat: ProcFile;
  readonly schedule: ProcFile;
}

interface Process {
  readonly id: number;
  readonly folder: string;
  readonly threads: Map<number, Thread>;
  /** When it was last told, which program it was, and where it might run. */
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
  /** Seconds since the run's zero. */
  readonly now: () => number;
  /** Folder of a recorded `proc` and `sys`. */
  readonly machine?: string;
}

export class ProcessWatch {
  private readonly options: WatchOptions;
  private readonly proc: string;
  private readonly limits: LimitWatch;
  private readonly tree: ProcessTree;
  private readonly processes = new Map<number, Process>();
  private readonly infos = new Rows(PROCESS);
  private readonly fine = new Rows(PROCESS_THREAD);
  private readonly coarse = new Rows(PROCESS_THREAD_TICKS);
  private readonly switches = new Rows(PROCESS_SWITCH);
  private readonly memory = new Rows(PROCESS_MEMORY);
  private readonly io = new Rows(PROCESS_IO);

  constructor(options: WatchOptions) {
    this.options = options;
    const { machine = '/', mark } = options;
    this.proc = join(machine, 'proc');
    this.limits = new LimitWatch(options);
    this.tree = new ProcessTree(mark, this.proc);
  }

  /** A sample: of times and places, and with `all` of what is told once a second. */
  sample(all: boolean): Batch[] {
    for (const found of this.tree.look(this.options.root, (id) => this.drop(id))) {
      this.add(found);
    }
    for (const process of this.processes.values()) {
      // A launcher may bind it once it runs.
      if (all || process.samples++ < EARLY) this.rebound(process);
      this.threads(process, all);
      if (all) this.whole(process);
    }
    const rows = [this.infos, this.fine, this.coarse, this.switches, this.memory, this.io];
    const folders = [...this.processes.values()].map(({ folder }) => folder);
    const limits = all ? this.limits.sample(folders) : [];
    return [...rows.flatMap((some) => some.take() ?? []), ...limits];
  }

  close(): void {
    for (const id of [...this.processes.keys()]) this.drop(id);
  }

  private add({ id, stat }: Found): void {
    const folder = join(this.proc, `${id}`);
    const process = { id, folder, threads: new Map(), name: '', cpus: '', samples: 0 };
    this.processes.set(id, process);
    this.tell(process, stat.name, stat.parent);
  }

  /** Who it is: said again when it has become another program, as between fork and exec. */
  private tell(process: Process, name: string, parent: number): void {
    const { host, now } = this.options;
    const { id, folder } = process;
    process.name = name;
    const rank = rankOf(textOf(join(folder, 'environ')) ?? '');
    const words = (textOf(join(folder, 'cmdline')) ?? '').split('\0').join(' ').trim();
    const cpus = cpusOf(folder);
    process.cpus = cpus;
    const known = rank ?? Number.NaN;
    this.infos.add([now(), host, id, parent, known, name, words.slice(0, MOST_WORDS), cpus]);
  }

  private rebound(process: Process): void {
    const { folder, name, cpus } = process;
    const now = cpusOf(folder);
    if (now === '' || now === cpus) return;
    const stat = readStat(textOf(join(folder, 'stat')) ?? '');
    if (stat !== null) this.tell(process, name, stat.parent);
  }

  private drop(id: number): void {
    for (const thread of this.processes.get(id)?.threads.values() ?? []) closeThread(thread);
    this.processes.delete(id);
  }

  private threads(process: Process, all: boolean): void {
    const tasks = join(process.folder, 'task');
    let there: number[];
    try {
      there = readdirSync(tasks).map(Number);
    } catch {
      return;
    }
    const { threads } = process;
    for (const [id, thread] of threads) {
      if (there.includes(id)) continue;
      closeThread(thread);
      threads.delete(id);
    }
    for (const id of there) {
      let thread = threads.get(id);
      const folder = join(tasks, `${id}`);
      if (thread === undefined) {
        const file = (name: string) => new ProcFile(join(folder, name));
        thread = { stat: file('stat'), schedule: file('schedstat') };
        threads.set(id, thread);
      }
      this.thread(process, id, thread);
      if (all) this.switch(process.id, id, folder);
    }
  }

  private thread(process: Process, id: number, thread: Thread): void {
    const { host, now } = this.options;
    const real = now();
    const text = thread.schedule.read();
    const stat = readStat(thread.stat.read() ?? '');
    if (stat === null) return;
    const { name, state, cpu, user, system, minorFaults, majorFaults } = stat;
    if (id === process.id && name !== process.name) this.tell(process, name, stat.parent);
    const head = [real, host, process.id, id, name, state, cpu];
    const tail = [user, system, minorFaults, majorFaults];
    const fine = readSchedStat(text ?? '');
    if (fine === null) this.coarse.add([...head, user + system, ...tail]);
    else this.fine.add([...head, fine.running, fine.waiting, fine.timeslices, ...tail]);
  }

  private switch(process: number, id: number, folder: string): void {
    const { host, now } = this.options;
    const real = now();
    const status = textOf(join(folder, 'status')) ?? '';
    const own = countOf(status, 'voluntary_ctxt_switches');
    const forced = countOf(status, 'nonvoluntary_ctxt_switches');
    if (own !== null && forced !== null) {
      this.switches.add([real, host, process, id, own, forced]);
    }
  }

  /** What is of a process, not of its threads. */
  private whole({ id, folder, threads }: Process): void {
    const { host, now } = this.options;
    const real = now();
    const status = textOf(join(folder, 'status')) ?? '';
    const [resident, swapped] = ['VmRSS', 'VmSwap'].map((key) => countOf(status, key));
    if (resident !== null && swapped !== null) {
      this.memory.add([real, host, id, 1024n * resident, 1024n * swapped, threads.size]);
    }
    const io = textOf(join(folder, 'io')) ?? '';
    const counts = ['rchar', 'wchar', 'read_bytes', 'write_bytes'].map((key) => countOf(io, key));
    if (counts.every((one) => one !== null)) this.io.add([real, host, id, ...counts]);
  }
}

/** CPUs that a process may run on; '' where that cannot be told. */
const cpusOf = (folder: string): string =>
  lineOf(textOf(join(folder, 'status')) ?? '', 'Cpus_allowed_list') ?? '';

function closeThread({ stat, schedule }: Thread): void {
  stat.close();
  schedule.close();
}
