/** Pages swapped in and out because memory is short. */
import { asRows, type FindingRule, graded, OWN, short, unforeseen, whole } from './finding.ts';

const SOME = {
  value: 1,
  unit: 'page/s',
  means: 'swapped in or out, on average over a host’s samples: notice',
  source: OWN,
};
const MUCH = {
  value: 100,
  unit: 'page/s',
  means: 'on average: problem',
  source: `${OWN}: about as often as a disk can seek`,
};

const SQL = `SELECT host, sum((pswpin + pswpout) * (t - t0)) AS pages, sum(t - t0) AS seconds,
  pages / seconds AS pages_per_s, max(pswpin + pswpout) AS most_per_s
FROM node_vm_rate WHERE pswpin + pswpout IS NOT NULL GROUP BY host ORDER BY pages_per_s DESC, host`;

interface HostRow {
  readonly host: string;
  readonly pages: number;
  readonly pages_per_s: number;
  readonly most_per_s: number;
}

export const SWAP: FindingRule = {
  name: 'swap',
  title: 'hosts that swap',
  looks: 'Counts the pages that each host swaps in and out per second.',
  needs: ['node_vm_rate.pswpin', 'node_vm_rate.pswpout'],
  thresholds: { SOME, MUCH },
  knob: 'Use less memory per host: fewer processes, more hosts, smaller pieces.',
  async run({ recording }) {
    const rows = await recording.query<HostRow>(SQL);
    return rows.flatMap(({ host, pages, pages_per_s, most_per_s }) => {
      const severity = graded(pages_per_s, SOME, MUCH);
      if (severity === null) return [];
      return [
        {
          severity,
          sentence: `${host} swapped ${whole(pages)} pages, ${short(pages_per_s)} per second and ${short(most_per_s)} at the peak: its memory is too small for what runs there.`,
          evidence: { sql: SQL, rows: asRows(rows) },
          ...unforeseen(this.knob, 'how long processes waited for their pages is not counted'),
        },
      ];
    });
  },
};
