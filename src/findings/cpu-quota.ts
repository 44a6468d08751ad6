/** A control group whose CPU quota is used up: its threads stand still until the next period. */
import {
  asRows,
  expecting,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  percent,
  short,
} from './finding.ts';
import { ROLLBACK_SIGNS } from './samples.ts';
import { type LossWindow, stretchOf, when } from './when.ts';

const SOME = {
  value: 0.05,
  unit: 'share',
  means: 'of the periods used up the quota: notice',
  source: `${OWN}: single bursts are what a quota is for`,
};
const OFTEN = { value: 0.25, unit: 'share', means: 'of the periods: problem', source: OWN };
const PERIODS = {
  value: 8,
  unit: '{period}',
  means: 'in two samples or more: fewer prove nothing',
  source: `${OWN}: 0.8 s at the kernel’s 100 ms`,
};

const SQL = `SELECT host, cgroup, max(quota) AS quota, sum(periods * (t - t0)) AS periods, sum(throttled_periods * (t - t0)) AS throttled,
  sum(throttled_time * (t - t0)) / 1e9 AS seconds, min(t0) AS "from", max(t) AS "to"
FROM process_quota_rate GROUP BY host, cgroup
HAVING sum(periods * (t - t0)) >= ${PERIODS.value} AND count(*) >= 2 ORDER BY throttled DESC`;

const WINDOWS = `SELECT host, cgroup, t0, t, throttled_periods AS lost FROM process_quota_rate ORDER BY t0`;

interface Group {
  readonly host: string;
  readonly cgroup: string;
  readonly quota: number;
  readonly periods: number;
  readonly throttled: number;
  readonly seconds: number;
  readonly from: number;
  readonly to: number;
}

export const CPU_QUOTA: FindingRule = {
  name: 'cpu-quota',
  title: 'a CPU quota that throttles the command',
  looks: 'Counts the periods in which a control group used up its quota (cpu.stat).',
  needs: ['process_quota_rate'],
  thresholds: { SOME, OFTEN, PERIODS },
  knob: 'Raise the quota (cpu.max; of a container or a pod, its CPU limit), or run as many threads as it has CPUs.',
  explains: ['stolen-cpu', 'waiting-threads', 'late-rank', 'imbalance', ...ROLLBACK_SIGNS],
  async run({ recording }) {
    const groups = await recording.query<Group>(SQL);
    const windows = await recording.query<LossWindow & Pick<Group, 'host' | 'cgroup'>>(WINDOWS);
    return groups.flatMap((one): FindingParts[] => {
      const share = one.throttled / one.periods;
      const severity = graded(share, SOME, OFTEN);
      if (severity === null) return [];
      const own = windows.filter(({ host, cgroup }) => host === one.host && cgroup === one.cgroup);
      const stretch = stretchOf(own);
      const sentence = `Control group ${one.cgroup} of ${one.host} may use ${short(one.quota)} CPUs and used up this quota in ${percent(share)} of its periods${when(stretch)}: its threads were kept from running for ${short(one.seconds)} s, summed over CPUs.`;
      const span = one.to - one.from;
      const lost = one.seconds / Math.max(one.seconds, one.quota * span + one.seconds);
      const why = `its threads stood still for ${short(one.seconds)} s in ${short(span)} s`;
      return [
        {
          ...{ severity, sentence, evidence: { sql: SQL, rows: asRows([{ ...one, ...stretch }]) } },
          ...expecting(this.knob, lost, why),
        },
      ];
    });
  },
};
