/** Processes that ran during a job, from records of type `proc`. */

import type { RawSchema } from '../../formats/tacc/index.ts';
import { KIB } from '../../model/units.ts';

interface ProcessFacts {
  readonly name: string;
  readonly pid: string;
  /** CPUs and memory nodes that it may use, if the file has them. */
  readonly cpus: string | null;
  readonly memory: string | null;
  /** Seconds since 1970. */
  readonly first: number;
  last: number;
  /** The highest of all samples, in B; null if the file has none. */
  highWater: number | null;
  resident: number | null;
  threads: number | null;
}

const MOST = 10_000;
const NUMBER = /^\d+$/;
const LIST = /^[\d,-]+$/;

/** `NAME/PID` or `NAME/PID/CPUS/MEMORY`; a name may contain slashes. */
function partsOf(device: string) {
  const parts = device.split('/');
  const [pid = '', cpus = '', memory = ''] = parts.slice(-3);
  if (parts.length > 3 && NUMBER.test(pid) && LIST.test(cpus) && LIST.test(memory)) {
    return { name: parts.slice(0, -3).join('/'), pid, cpus, memory };
  }
  const last = parts.at(-1) ?? '';
  const isPid = parts.length > 1 && NUMBER.test(last);
  return {
    name: isPid ? parts.slice(0, -1).join('/') : device,
    pid: isPid ? last : '',
    cpus: null,
    memory: null,
  };
}

const larger = (a: number | null, b: number | null) =>
  a === null || (b !== null && b > a) ? b : a;

export class Processes {
  private readonly all = new Map<string, ProcessFacts>();
  /** Number of processes beyond those listed. */
  more = 0;

  get list(): readonly ProcessFacts[] {
    return [...this.all.values()];
  }

  add({ keys }: RawSchema, device: string, values: BigUint64Array, seconds: number): void {
    const value = (name: string, times: number) => {
      const at = keys.findIndex((key) => key.name === name);
      return at < 0 ? null : Number(values[at]) * times;
    };
    const known = this.all.get(device);
    if (known === undefined && this.all.size >= MOST) {
      this.more++;
      return;
    }
    const facts = known ?? {
      ...partsOf(device),
      ...{ first: seconds, last: seconds, highWater: null, resident: null, threads: null },
    };
    facts.last = seconds;
    facts.highWater = larger(facts.highWater, value('VmHWM', KIB));
    facts.resident = larger(facts.resident, value('VmRSS', KIB));
    facts.threads = larger(facts.threads, value('Threads', 1));
    this.all.set(device, facts);
  }
}
