/** What jobs counted in genuine files, against the sums that an independent decoder found; then with the repair. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DeviceRepair,
  type RawGroup,
  type RawSchema,
  type Repaired,
  repairPlan,
  scalesEnergy,
} from 'triscope/formats/tacc';
import { describe, expect, it } from 'vitest';
import { visitRaw } from './support/visit.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const ROOT = join(GOLDEN ?? '', 'tacc_stats');

interface JobFacts {
  readonly groups: number;
  readonly first: string;
  readonly last: string;
  readonly begin_mark: boolean;
  readonly end_mark: boolean;
  readonly delta_raw_units_summed_over_devices: Readonly<Record<string, number>>;
  /** time, type, device, key, before, after, counted modulo 2^W */
  readonly wraps: readonly [string, string, string, string, number, number, number][];
  readonly dips_without_width: readonly [string, string, string, string, number, number][];
  readonly gauge_max_over_devices: Readonly<Record<string, number>>;
}

interface Told {
  readonly group: RawGroup;
  readonly schema: RawSchema;
  readonly device: string;
  readonly values: BigUint64Array;
}

/** Facts beside the files that they are about, a case per job. */
function cases(): [string, string, string, JobFacts][] {
  if (GOLDEN === undefined) return [];
  return readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
    .filter((path) => /facts_[^/]*\.json$/.test(path))
    .sort()
    .flatMap((path) => {
      const folder = join(ROOT, path, '..');
      const named = path.match(/facts_(.*)\.json/)?.[1] ?? '';
      const file = readdirSync(folder, { recursive: true, encoding: 'utf8' }).find(
        (name) => !name.includes('facts') && name.includes(named) && /\/\d+(\.gz)?$/.test(name),
      );
      const { jobs } = JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as {
        jobs: Record<string, JobFacts>;
      };
      return Object.entries(jobs).map(([job, facts]): [string, string, string, JobFacts] => [
        path,
        job,
        join(folder, file ?? 'none'),
        facts,
      ]);
    });
}

async function recordsOf(path: string, job: string) {
  const properties: Record<string, string> = {};
  const groups: RawGroup[] = [];
  const marks: string[] = [];
  const records: Told[] = [];
  let group: RawGroup | null = null;
  visitRaw(path, {
    property: (name, value) => {
      properties[name] = value;
    },
    group: (next) => {
      group = next.jobIds.includes(job) ? next : null;
      if (group !== null) groups.push(group);
    },
    mark: (text) => {
      if (group !== null) marks.push(text);
    },
    record: (schema, device, values) => {
      if (group !== null) records.push({ group, schema, device, values: values.slice() });
    },
  });
  return { properties, groups, marks, records };
}

describe.skipIf(GOLDEN === undefined)('jobs of genuine files', () => {
  it.each(cases())('%s, job %s', async (_, job, path, facts) => {
    const { properties, groups, marks, records } = await recordsOf(path, job);
    expect(groups).toHaveLength(facts.groups);
    expect([groups[0].time, groups.at(-1)?.time]).toEqual([facts.first, facts.last]);
    expect(marks.includes(`begin ${job}`)).toBe(facts.begin_mark);
    expect(marks.includes(`end ${job}`)).toBe(facts.end_mark);

    // The decoder's rule: a fall adds 2^W where W is declared, else counts nothing.
    const sums: Record<string, bigint> = {};
    const repaired: Record<string, bigint> = {};
    const odd = new Map<string, Repaired>();
    const gauges: Record<string, bigint> = {};
    const wraps: unknown[][] = [];
    const dips: unknown[][] = [];
    const before = new Map<string, BigUint64Array>();
    const devices = new Map<string, DeviceRepair>();
    for (const { group, schema, device, values } of records) {
      const { type, keys } = schema;
      const name = `${type} ${device}`;
      const last = before.get(name);
      before.set(name, values);
      keys.forEach(({ name: key, kind, bits }, k) => {
        const value = values[k];
        const sum = `${type}.${key}`;
        if (kind === 'gauge') {
          const most = gauges[sum] ?? 0n;
          gauges[sum] = value > most ? value : most;
        }
        if (kind !== 'event') return;
        sums[sum] ??= 0n;
        if (last === undefined) return;
        const previous = last[k];
        const at = [group.time, type, device, key, Number(previous), Number(value)];
        let delta = value - previous;
        if (delta < 0n) {
          if (bits < 64) {
            delta += 1n << BigInt(bits);
            wraps.push([...at, Number(delta)]);
          } else {
            dips.push(at);
            delta = 0n;
          }
        }
        sums[sum] += delta;
      });
      const repair =
        devices.get(name) ?? new DeviceRepair(repairPlan(schema, scalesEnergy(properties)));
      devices.set(name, repair);
      repair.step(
        group.seconds,
        values,
        (k, step) => {
          const sum = `${type}.${keys[k].name}`;
          repaired[sum] = (repaired[sum] ?? 0n) + step.delta;
          if (step.verdict !== 'ok') odd.set([group.time, type, device, keys[k].name].join(), step);
        },
        { all: true },
      );
    }
    const numbers = (of: Record<string, bigint>) =>
      Object.fromEntries(Object.entries(of).map(([key, value]) => [key, Number(value)]));
    expect(numbers(sums)).toEqual(facts.delta_raw_units_summed_over_devices);
    expect(numbers(gauges)).toEqual(facts.gauge_max_over_devices);
    expect(wraps).toEqual(facts.wraps);
    expect(dips).toEqual(facts.dips_without_width);

    // Each fall has a verdict, and no key without an oddity counts otherwise than the decoder says.
    for (const [time, type, device, key] of [...facts.wraps, ...facts.dips_without_width]) {
      expect(odd.has([time, type, device, key].join())).toBe(true);
    }
    const strange = new Set(
      [...odd.keys()].map((at) => at.split(',')).map((at) => `${at[1]}.${at[3]}`),
    );
    for (const [key, sum] of Object.entries(repaired)) {
      if (!strange.has(key)) expect([key, sum]).toEqual([key, sums[key]]);
    }
  });
});
