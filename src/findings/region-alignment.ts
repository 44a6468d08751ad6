/** Regions that CPUs enter or leave at different times: some wait at the end, or outside. */
import { ALIGNED_SHARE, sqlOf } from '../model/measures/index.ts';
import { asRows, expecting, type FindingRule, graded, OWN, percent, short } from './finding.ts';

const SOME = {
  value: 0.1,
  unit: 'share',
  means: 'of a region’s time, not all CPUs are in it: notice',
  source: `${OWN}; sync-runtime as GEOPM defines it: all CPUs are in the region`,
};
const MUCH = { value: 0.3, unit: 'share', means: 'of its time: problem', source: OWN };
const LONG = {
  value: 0.5,
  unit: 's',
  means: 'of runtime at least: sync-runtime is sampled',
  source: `${OWN}: 100 samples of GEOPM’s old default of 5 ms`,
};
const PART = {
  value: 0.05,
  unit: 'share',
  means: 'of the host’s region time, at least',
  source: OWN,
};

const SQL = `SELECT host, region, runtime, sync_runtime, count, 1 - ${sqlOf(ALIGNED_SHARE, { metric: (key) => key })} / 100 AS unaligned,
  runtime / sum(runtime) OVER (PARTITION BY host) AS part
FROM geopm_region WHERE section = 'region' AND runtime > 0
ORDER BY runtime - sync_runtime DESC, host, region`;

interface RegionRow {
  readonly host: string;
  readonly region: string;
  readonly runtime: number;
  readonly sync_runtime: number | null;
  readonly unaligned: number | null;
  readonly part: number;
}

export const REGION_ALIGNMENT: FindingRule = {
  name: 'region-alignment',
  title: 'regions that the CPUs do not execute together',
  looks:
    'Compares the time that processes spent in a region (runtime, a mean over processes) with the time in which all CPUs were in it (sync-runtime).',
  needs: ['geopm_region.runtime', 'geopm_region.sync_runtime', 'geopm_region.section'],
  thresholds: { SOME, MUCH, LONG, PART },
  knob: 'Distribute the region’s work evenly over its processes and threads, or mark the code before it as another region to see which process is late.',
  async run({ recording }) {
    const rows = await recording.query<RegionRow>(SQL);
    return rows.flatMap((row) => {
      const severity = graded(row.unaligned ?? 0, SOME, MUCH);
      if (severity === null || row.runtime < LONG.value || row.part < PART.value) return [];
      return [
        {
          severity,
          sentence: `Region ${row.region} on ${row.host} takes ${short(row.runtime)} s, but all CPUs are in it together for only ${short(row.sync_runtime ?? 0)} s: for ${percent(row.unaligned ?? 0)} of its time, some are elsewhere.`,
          evidence: { sql: SQL, rows: asRows(rows) },
          ...expecting(
            this.knob,
            (row.unaligned ?? 0) * row.part,
            'for that share of the time in regions, not all CPUs were in this one',
          ),
        },
      ];
    });
  },
};
