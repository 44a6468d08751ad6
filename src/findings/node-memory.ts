/** Hosts whose memory is nearly all in use. */
import { asRows, type FindingRule, graded, OWN, percent, short } from './finding.ts';

const SOME = {
  value: 0.9,
  unit: 'share',
  means: 'of a host’s memory used by programs: notice',
  source: `${OWN}; what is used is tacc_stats’ mem_hwm: MemUsed − Slab − FilePages (its flag, 31 GB, is of hosts with 32)`,
};
const MUCH = { value: 0.97, unit: 'share', means: 'of it: problem', source: OWN };

const SQL = `WITH host_time AS (
  SELECT host, t, sum(MemTotal) AS total, sum(MemUsed) - sum(Slab) - sum(FilePages) AS used
  FROM node_mem GROUP BY host, t)
SELECT host, max(used / total) AS share, max(used) / 1048576 AS used_gib, any_value(total) / 1048576 AS total_gib
FROM host_time WHERE total > 0 GROUP BY host ORDER BY share DESC, host`;

interface HostRow {
  readonly host: string;
  readonly share: number;
  readonly used_gib: number;
  readonly total_gib: number;
}

export const NODE_MEMORY: FindingRule = {
  name: 'node-memory',
  title: 'hosts that run out of memory',
  looks: 'The most that programs had in use at any sample, as a share of the host’s memory.',
  needs: ['MemTotal', 'MemUsed', 'Slab', 'FilePages'].map((key) => `node_mem.${key}`),
  thresholds: { SOME, MUCH },
  knob: 'Fewer processes on each host, or hosts with more memory: next come swapping and the out-of-memory killer.',
  async run({ recording }) {
    const rows = await recording.query<HostRow>(SQL);
    return rows.flatMap(({ host, share, used_gib, total_gib }) => {
      const severity = graded(share, SOME, MUCH);
      if (severity === null) return [];
      return [
        {
          severity,
          sentence: `Programs on ${host} had ${short(used_gib)} of ${short(total_gib)} GiB in use (${percent(share)}).`,
          evidence: { sql: SQL, rows: asRows(rows) },
          advice: this.knob,
        },
      ];
    });
  },
};
