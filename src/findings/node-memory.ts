/** Hosts whose memory is nearly all in use. */
import { bytes, inputsOf, MEMORY_IN_USE, sqlOf } from '../model/measures/index.ts';
import { KIB } from '../model/units.ts';
import { asRows, type FindingRule, graded, OWN, percent } from './finding.ts';

const SOME = {
  value: 0.9,
  unit: 'share',
  means: 'of a host’s memory is used by programs: notice',
  source: `${OWN}; the flag of tacc_stats, 31 GB, is meant for hosts with 32 GB`,
};
const MUCH = { value: 0.97, unit: 'share', means: 'of the memory: problem', source: OWN };
const BINARY = { binary: true };

const SQL = `WITH host_time AS (
  SELECT host, t, sum(MemTotal) AS total, ${sqlOf(MEMORY_IN_USE)} / 100 AS share
  FROM node_mem GROUP BY host, t)
SELECT host, max(share) AS share, ${KIB} * max(share * total) AS used_bytes, ${KIB} * any_value(total) AS total_bytes
FROM host_time WHERE total > 0 GROUP BY host ORDER BY share DESC, host`;

interface HostRow {
  readonly host: string;
  readonly share: number;
  readonly used_bytes: number;
  readonly total_bytes: number;
}

export const NODE_MEMORY: FindingRule = {
  name: 'node-memory',
  title: 'hosts that run out of memory',
  looks:
    'Finds the largest amount of memory that programs used in any sample, as a share of the host’s memory.',
  needs: inputsOf(MEMORY_IN_USE).map((key) => `node_mem.${key}`),
  thresholds: { SOME, MUCH },
  knob: 'Run fewer processes per host, or use hosts with more memory: otherwise the host will swap, or the kernel will kill processes. As long as neither happens, nothing gets faster.',
  async run({ recording }) {
    const rows = await recording.query<HostRow>(SQL);
    return rows.flatMap(({ host, share, used_bytes, total_bytes }) => {
      const severity = graded(share, SOME, MUCH);
      if (severity === null) return [];
      return [
        {
          severity,
          sentence: `Programs on ${host} had ${bytes(used_bytes, BINARY)} of ${bytes(total_bytes, BINARY)} in use (${percent(share)}).`,
          evidence: { sql: SQL, rows: asRows(rows) },
          advice: this.knob,
        },
      ];
    });
  },
};
