/** A job's quality in a few gauges, each with its reason in words. The thresholds are ours, and each gauge states them. */
import { bytes, counted, duration, shareText as percent } from '../../model/measures/index.ts';
import type { Job } from './job.ts';
import { behindByHost, leastAfterBefore } from './metrics/balance.ts';
import { HIGH_WATER } from './metrics/memory.ts';
import { courseOf } from './metrics/quotient.ts';
import { typeIn } from './metrics/types.ts';
import { highest, JobRows, JobView, MissingInput } from './view.ts';

type Grade = 'good' | 'fair' | 'poor' | 'unknown';

export interface Gauge {
  readonly name: string;
  readonly title: string;
  /** How far the gauge is filled, 0 to 1; null if it cannot be computed. */
  readonly share: number | null;
  readonly grade: Grade;
  /** One sentence with its numbers. */
  readonly words: string;
  /** From which values on it is good, and fair. */
  readonly rule: string;
}

interface Reading {
  readonly share: number;
  readonly grade: Grade;
  readonly words: string;
}

interface GaugeKind {
  readonly name: string;
  readonly title: string;
  readonly rule: string;
  read(view: JobView): Reading;
}

const clamp = (share: number) => Math.min(1, Math.max(0, share));
/** `high`: large values are good. */
const graded = (value: number, good: number, fair: number, high = true): Grade => {
  if (high) return value >= good ? 'good' : value >= fair ? 'fair' : 'poor';
  return value <= good ? 'good' : value <= fair ? 'fair' : 'poor';
};

/** Sum over a map's values. */
const sumOf = (values: Iterable<number>) => {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
};

/** No clock error explains more work per core and second than this: the times of the records do not fit their counters. */
const MOST_WORK = 1.1;

/** Time in user mode, in hundredths of a second, including work at low priority. */
const workOf = (view: JobView) =>
  view.total('cpu', ...['user', 'nice'].filter((key) => view.has('cpu', key)));

/** Balance and pace use `user` alone, as in tacc_stats. @throws MissingInput where work ran as `nice` */
function checkPriority(view: JobView): void {
  if (!view.has('cpu', 'nice') || view.total('cpu', 'nice') <= view.total('cpu', 'user')) return;
  throw new MissingInput('user time: the work ran at low priority and counts as nice time');
}

/** The span of the kernel's longest load average, in seconds. */
const LOAD_SECONDS = 15 * 60;

const STATES = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq'];

const GAUGES: readonly GaugeKind[] = [
  {
    name: 'processors',
    title: 'Processors at work',
    rule: 'good from 80 % of all cores in user mode (nice included), fair from 50 %',
    read(view) {
      const devices = view.deviceTotals('cpu', 'user');
      const cores = sumOf([...devices.values()].map(({ size }) => size));
      const used = workOf(view) / (100 * view.seconds);
      if (used > MOST_WORK * cores) {
        const [work, seconds] = [duration(used * view.seconds), duration(view.seconds)];
        throw new MissingInput(
          `consistent times: ${counted(cores, 'core')} counted ${work} of work in ${seconds}`,
        );
      }
      const share = used / cores;
      const each = cores / view.hostCount;
      return {
        share: clamp(share),
        grade: graded(share, 0.8, 0.5),
        words: `On average ${(used / view.hostCount).toFixed(1)} of ${each.toFixed(0)} cores of a host worked in user mode`,
      };
    },
  },
  {
    name: 'balance',
    title: 'Balance between hosts',
    rule: 'good where no host is more than 10 % behind the busiest, fair up to 30 %',
    read(view) {
      checkPriority(view);
      const behind = [...behindByHost(view)].sort(([, a], [, b]) => b - a);
      if (behind.length < 2) throw new MissingInput('a second host');
      const [host, share] = behind[0];
      return {
        share: clamp(1 - share),
        grade: graded(share, 0.1, 0.3, false),
        words: `${host} is furthest behind the busiest host: by ${percent(share)} of its user time, on average`,
      };
    },
  },
  {
    name: 'steadiness',
    title: 'Steadiness in time',
    rule: 'good where no cut in time leaves less than 80 % of the pace before it, fair from 30 %',
    read(view) {
      checkPriority(view);
      const ratio = leastAfterBefore(view);
      const words =
        ratio >= 1
          ? 'Work never slowed down: user time after any moment went on at least as fast as before'
          : `After its worst moment, work continued at ${percent(ratio)} of the pace before`;
      return { share: clamp(ratio), grade: graded(ratio, 0.8, 0.3), words };
    },
  },
  {
    name: 'memory',
    title: 'Memory to spare',
    rule: 'good up to 80 % of a host’s memory in use, fair up to 90 %',
    read(view) {
      const totals = view.series('mem', 'MemTotal');
      let [share, most, of, at] = [Number.NaN, 0, 0, ''];
      for (const [host, values] of courseOf(view, { ...HIGH_WATER, unit: 'B' })) {
        const total = totals.get(host) ?? [];
        for (const [k, own] of values.entries()) {
          if (!(own / total[k] <= share) && total[k] > 0 && !Number.isNaN(own)) {
            [share, most, of, at] = [own / total[k], own, total[k], host];
          }
        }
      }
      if (Number.isNaN(share)) throw new MissingInput('mem.MemTotal');
      return {
        share: clamp(1 - share),
        grade: graded(share, 0.8, 0.9, false),
        words: `At most ${bytes(most, { binary: true })} of ${bytes(of, { binary: true })} were in use (${percent(share)}), not counting file pages and the kernel’s own memory, on ${at}`,
      };
    },
  },
  {
    name: 'waiting',
    title: 'Not waiting for disks',
    rule: 'good up to 2 % of the processors’ time in iowait, fair up to 10 %',
    read(view) {
      const there = STATES.filter((key) => view.has('cpu', key));
      const share = view.total('cpu', 'iowait') / view.total('cpu', ...there);
      return {
        share: clamp(1 - share),
        grade: graded(share, 0.02, 0.1, false),
        words: `Processors spent ${percent(share)} of their time waiting for disks and file systems`,
      };
    },
  },
  {
    name: 'instructions',
    title: 'Instructions per cycle',
    rule: 'good up to 1 cycle for each instruction, fair up to 1.5',
    read(view) {
      const type = typeIn(view, 'pmc');
      const cycles = view.total(type, 'CLOCKS_UNHALTED_CORE');
      const instructions = view.total(type, 'INSTRUCTIONS_RETIRED');
      if (!(instructions > 0)) throw new MissingInput('counted instructions');
      const cpi = cycles / instructions;
      return {
        share: clamp(1 / cpi / 4),
        grade: graded(cpi, 1, 1.5, false),
        words: `An instruction takes ${cpi.toFixed(2)} cycles; a full gauge means four instructions per cycle`,
      };
    },
  },
  {
    name: 'load',
    title: 'Not crowded',
    rule: 'good where the 15-minute load stays within 1.1 times the cores, fair up to 1.5 times; of a job of 15 minutes or more',
    read(view) {
      // In a shorter job, the average also covers what other jobs did before it.
      if (view.seconds < LOAD_SECONDS)
        throw new MissingInput('15 minutes, over which the load is averaged');
      const load = highest(view.series('ps', 'load_15')) / 100;
      const cores = Math.max(...[...view.deviceTotals('cpu', 'user').values()].map((d) => d.size));
      const ratio = load / cores;
      return {
        share: clamp(1 / Math.max(ratio, 1)),
        grade: graded(ratio, 1.1, 1.5, false),
        words: `The highest 15-minute load was ${load.toFixed(1)} processes on ${cores} ${cores === 1 ? 'core' : 'cores'}`,
      };
    },
  },
];

/** The gauges. Those without their inputs are unknown, and say what is missing. */
export function gaugesOf(job: Job): readonly Gauge[] {
  const rows = new JobRows(job);
  return GAUGES.map(({ name, title, rule, read }) => {
    try {
      const reading = read(new JobView(rows));
      // In a single group of records nothing was counted, so the ratio is unknown.
      if (!Number.isFinite(reading.share)) throw new MissingInput('a second group of records');
      return { name, title, rule, ...reading };
    } catch (error) {
      if (!(error instanceof MissingInput)) throw error;
      const words = `Cannot be computed: the records lack ${error.message}`;
      return { name, title, rule, share: null, grade: 'unknown' as const, words };
    }
  });
}
