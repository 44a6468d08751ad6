/**
 * Genuine jobs of tacc_stats: our metrics against those that its own programs give (2.3.5 and the exams of 2.3.0), and
 * our sums against those of an independent decoder. Where they differ, the test says which bug of the original it is.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  gaugesOf,
  type Job,
  type MetricValue,
  metricsOf,
  openArchive,
  readJob,
} from '../../../src/findings/job/index.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const ROOT = join(GOLDEN ?? '', 'tacc_stats');

const json = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const jobIn = (folder: string, id: string): Promise<Job> =>
  readJob(openArchive(join(ROOT, folder)), { id });

/** To the last of its digits but one: both sum doubles, in another order. */
const DIGITS = 1e-15 * 4;
const agrees = (ours: number | null, theirs: number) =>
  ours !== null && Math.abs(ours - theirs) <= DIGITS * Math.abs(theirs);

const TWO_HOSTS = 'genuine_job1835740_2hosts';

/** Where the original is wrong, or fails. */
const EXPLAINED: Readonly<Record<string, { readonly ours: number | null; readonly why: string }>> =
  {
    avg_flops_64b: {
      ours: 98.24754230656316,
      why: 'its table of widths lacks SSE_DOUBLE_ALL, so these are left out',
    },
    vecpercent_64b: { ours: 99.08055438549732, why: 'the same: without them all is vectors' },
    avg_vector_width_64b: { ours: 3.8926282021201377, why: 'the same' },
    avg_flops_32b: { ours: null, why: 'no counter was set to such events, which is not 0' },
    avg_fabricbw: {
      ours: 0.33066262398445245,
      why: 'on c427-001 a query failed: scif0/1 has zeros, port_select too, in one record; the original takes it for a reset and counts 58560 + 35110 dwords after it',
    },
    avg_packetsize: { ours: 0.0013795904737417834, why: 'the same record' },
    HighCPLD: {
      ours: 26.572992034772167,
      why: 'it asks for LOAD_1D_ALL, which is not there, and divides cycles by cycles',
    },
  };

function compare(
  values: readonly MetricValue[],
  theirs: Readonly<Record<string, number | string | null>>,
) {
  const wrong: string[] = [];
  let same = 0;
  for (const [name, their] of Object.entries(theirs)) {
    const ours = values.find(({ metric }) => metric.name === name);
    if (ours === undefined) {
      wrong.push(`${name}: we have none`);
      continue;
    }
    // “ERR KeyError …”: the original failed, for want of a type or of a name.
    if (typeof their !== 'number') continue;
    const explained = EXPLAINED[name];
    if (explained !== undefined) {
      if (ours.value !== explained.ours)
        wrong.push(`${name}: ${ours.value}, not ${explained.ours}`);
    } else if (agrees(ours.value, their)) same++;
    else wrong.push(`${name}: ${ours.value} for ${their}`);
  }
  return { wrong, same };
}

describe.skipIf(GOLDEN === undefined)('job 1835740 on two hosts of Stampede', () => {
  it('has the metrics of 2.3.5, but for named bugs', async () => {
    const values = metricsOf(await jobIn(TWO_HOSTS, '1835740'));
    const { metrics } = json(`${TWO_HOSTS}/metrics_v2.3.5.json`);
    const summary = values.filter(({ set }) => set === 'summary');
    expect(compare(summary, metrics)).toEqual({ wrong: [], same: 26 });
  });

  it('has the exams of 2.3.0, but for named bugs', async () => {
    const values = metricsOf(await jobIn(TWO_HOSTS, '1835740'));
    const exams = values.filter(({ set }) => set === 'exam');
    expect(compare(exams, json(`${TWO_HOSTS}/exam_metrics_v2.3.0.json`))).toEqual({
      wrong: [],
      same: 25,
    });
  });

  it('has its times, marks and names of events as the original', async () => {
    const job = await jobIn(TWO_HOSTS, '1835740');
    const { times, schemas } = json(`${TWO_HOSTS}/metrics_v2.3.5.json`);
    expect([...job.times]).toEqual(times);
    for (const { begin, end, types } of job.hosts) {
      expect([begin !== null, end !== null]).toEqual([true, true]);
      for (const [type, schema] of Object.entries<string>(schemas)) {
        if (!/^intel_snb/.test(type)) continue;
        const names = schema.split(' ').map((key) => key.split(',')[0]);
        expect([...(types.get(type)?.keys.keys() ?? [])].sort()).toEqual(names.sort());
      }
    }
  });
});

interface Reference {
  readonly schemas: Readonly<Record<string, string>>;
  readonly hosts: Readonly<Record<string, Record<string, Record<string, number[][]>>>>;
}

describe.skipIf(GOLDEN === undefined)('job 20, whose counters dip', () => {
  it('has what the original’s own tests expect, where no counter went backwards', async () => {
    const job = await jobIn('genuine_job20', '20');
    const { schemas, hosts } = json(
      'genuine_job20/reference_from_original_tests.json',
    ) as Reference;
    const { types } = job.hosts[0];
    const differing = new Set<string>();
    let same = 0;
    for (const [type, devices] of Object.entries(hosts['compute-0-1'])) {
      const keys = schemas[type].split(' ').map((key) => key.split(','));
      for (const [device, rows] of Object.entries(devices)) {
        keys.forEach(([name, ...options], k) => {
          const of = types.get(type)?.keys.get(name);
          const own = of?.devices.get(device);
          if (of === undefined || own === undefined || !options.includes('E')) return;
          const [first, last] = [rows[0][k], rows[rows.length - 1][k]];
          if (Number(own.total) * of.times === last - first) same++;
          else differing.add(`${type}.${name} ${device}`);
        });
      }
    }
    expect([...differing]).toEqual([]);
    expect(same).toBeGreaterThan(500);
  });

  it('has no delta near 2^48, as naive rollover would give', async () => {
    const job = await jobIn('genuine_job20', '20');
    for (const key of job.hosts[0].types.get('intel_nhm')?.keys.values() ?? []) {
      expect(key.total).toBeLessThan(2n ** 40n);
    }
  });
});

interface JobFacts {
  readonly delta_raw_units_summed_over_devices: Readonly<Record<string, number>>;
}

/** Files with the facts that an independent decoder found. */
const FACTS: readonly [string, string, string, string][] = [
  [TWO_HOSTS, 'facts_c414-901.json', '1835740', 'c414-901.platform.extension'],
  [TWO_HOSTS, 'facts_c427-001.json', '1835740', 'c427-001.platform.extension'],
  ['genuine_job20', 'facts_1414794601.json', '20', 'compute-0-1.platform.extension'],
  ['fixture_snb_v2.3.0', 'facts_1795226668.json', '1981063', 'c401-101.test.example'],
  ['fixture_amd10h_v1.0.2', 'facts_1795226672.json', '1981063', 'i101-101.test.example'],
];

/**
 * Planted rollovers that the decoder does not know: it goes by the schema's width alone. Times of block devices and
 * InfiniBand's counters are 32 bits wide though 1.0.2 does not say so; 2.3.0 archives energies rescaled to mJ.
 */
const ROLLED: Readonly<Record<string, bigint>> = {
  'fixture_snb_v2.3.0 block.rd_ticks': 1806n,
  'fixture_snb_v2.3.0 intel_rapl.MSR_PKG_ENERGY_STATUS': 4282n,
  'fixture_amd10h_v1.0.2 block.rd_ticks': 1806n,
  'fixture_amd10h_v1.0.2 ib.port_rcv_data': 900_296n,
};

describe.skipIf(GOLDEN === undefined)('sums of an independent decoder', () => {
  it.each(FACTS)('%s/%s', async (folder, facts, id, host) => {
    const job = await jobIn(folder, id);
    const types = job.hosts.find((one) => one.host === host)?.types;
    const { jobs } = json(`${folder}/${facts}`) as { jobs: Record<string, JobFacts> };
    const wrong: string[] = [];
    let same = 0;
    for (const [name, theirs] of Object.entries(jobs[id].delta_raw_units_summed_over_devices)) {
      const [type, key] = name.split('.');
      const ours = types?.get(type)?.keys.get(key);
      // Counters with control registers go by their events' names. What was repaired is for the reader's own tests.
      if (ours === undefined || ours.verdicts.ok === 0) continue;
      const { dip, reset, suspect } = ours.verdicts;
      if (dip + reset + suspect > 0) continue;
      if (ours.total === (ROLLED[`${folder} ${name}`] ?? BigInt(theirs))) same++;
      else wrong.push(`${name}: ${ours.total} for ${theirs}`);
    }
    expect(wrong).toEqual([]);
    expect(same).toBeGreaterThan(types?.has('cpu') ? 60 : 0);
  });

  it('planted oddities: a dip counts nothing, a rollover of 48 bits counts in full', async () => {
    const job = await jobIn('fixture_snb_v2.3.0', '1981063');
    const key = (type: string, name: string) => job.hosts[0].types.get(type)?.keys.get(name);
    expect(key('numa', 'numa_hit')?.verdicts).toMatchObject({ dip: 2, reset: 0 });
    expect(key('cpu', 'iowait')?.verdicts).toMatchObject({ dip: 4, reset: 0 });
    expect(key('intel_snb', 'LOAD_OPS_ALL')).toMatchObject({ total: 19_000n });
    expect(key('intel_snb', 'LOAD_OPS_ALL')?.verdicts.wrapped).toBe(1);
    expect(key('intel_snb_imc', 'CAS_READS')?.total).toBe(22_800n);
    // 4 CPUs that count 29.8 s of work in 3.9 s: the gauge does not say “7.6 of 4 cores”.
    expect(gaugesOf(job).find(({ name }) => name === 'processors')).toMatchObject({
      grade: 'unknown',
      words:
        'Cannot be computed: the records lack consistent times: 4 cores counted 29.8 s of work in 3.92 s',
    });
  });
});
