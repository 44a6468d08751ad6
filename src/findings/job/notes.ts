/** What the reader of a job's numbers has to know: repairs, peculiarities of sources, counters that differ. */
import type { Job } from './job.ts';
import type { Verdicts } from './type-table.ts';

/** How many differences of one key were not ordinary, over all hosts. */
export interface RepairCount extends Verdicts {
  readonly type: string;
  readonly key: string;
}

/** Keys with at least one difference that is not `ok`, and the number of each verdict. */
export function repairsOf(job: Job): readonly RepairCount[] {
  const found = new Map<string, RepairCount & Record<keyof Verdicts, number>>();
  for (const { types } of job.hosts) {
    for (const [type, { keys }] of types) {
      for (const { name, verdicts } of keys.values()) {
        const of = `${type}.${name}`;
        const sum = found.get(of) ?? {
          ...{ type, key: name, ok: 0, wrapped: 0, dip: 0, reset: 0, suspect: 0 },
        };
        for (const verdict of ['ok', 'wrapped', 'dip', 'reset', 'suspect'] as const) {
          sum[verdict] += verdicts[verdict];
        }
        found.set(of, sum);
      }
    }
  }
  return [...found.values()].filter(
    ({ wrapped, dip, reset, suspect }) => wrapped + dip + reset + suspect > 0,
  );
}

const HARDWARE = /^(intel|amd64)_(?!gpu$)/;
/** Types that share one core's counters on AMD family 10h; those of sockets are by design counted on some cores only. */
const AMD_10H = ['amd64_core', 'amd64_sock', 'amd64_pmc'];
const ROTATED = 'amd64_sock';
const NAMED = 4;

/** Counters that only some devices of a type have: their sum does not cover all events. */
function partial(job: Job): string[] {
  const found: string[] = [];
  for (const { host, types } of job.hosts) {
    for (const [type, { keys }] of types) {
      if (!HARDWARE.test(type) || type === ROTATED) continue;
      const together = types.has('amd64_core') && AMD_10H.includes(type) ? AMD_10H : [type];
      const all = new Set(
        together.flatMap((one) =>
          [...(types.get(one)?.keys.values() ?? [])].flatMap(({ devices }) => [...devices.keys()]),
        ),
      );
      for (const { name, kind, devices } of keys.values()) {
        if (kind !== 'event' || devices.size === all.size) continue;
        const some = [...devices.keys()].slice(0, NAMED).join(', ');
        const more = devices.size > NAMED ? ', …' : '';
        found.push(
          `${type}.${name} of ${host} is counted by ${devices.size} of ${all.size} devices only (${some}${more}): totals are of these`,
        );
      }
    }
  }
  return found;
}

/** Sentences for the job's page. */
export function notesOf(job: Job): readonly string[] {
  const has = (type: string, key: string) =>
    job.hosts.some(({ types }) => (types.get(type)?.keys.get(key)?.total ?? 0n) > 0n);
  const notes: string[] = [];
  if (has('llite', 'read_bytes')) {
    notes.push(
      'llite.read_bytes counts what read() was asked for, not what it gave: it overreports (a bug of Lustre)',
    );
  }
  if (job.hosts.some(({ types }) => types.has('amd64_core'))) {
    notes.push(
      'cores of AMD family 10h count different events, told by their control registers: DRAM, HT0, HT1 and HT2 each on one core of a socket only',
    );
  }
  const others = new Set(job.hosts.flatMap((host) => host.others));
  if (others.size > 0) {
    const named = [...others].slice(0, NAMED).join(', ');
    notes.push(
      `other jobs ran on its hosts at the same time (${named}${others.size > NAMED ? ', …' : ''}): counters are of the whole host`,
    );
  }
  return [...notes, ...partial(job)];
}
