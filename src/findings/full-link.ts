/** A network link that is used to capacity, by the command or by other programs of the host. */
import { bytes } from '../model/measures/index.ts';
import { asRows, expecting, type FindingRule, graded, OWN, percent } from './finding.ts';
import { type LossWindow, stretchOf, when } from './when.ts';

const FULL = {
  value: 0.8,
  unit: 'share',
  means: 'of what it can carry in one direction: the link is full',
  source: `${OWN}: headers and gaps take the rest`,
};
const SOME = { value: 0.1, unit: 'share', means: 'of the time full: notice', source: OWN };
const MUCH = { value: 0.5, unit: 'share', means: 'of the time full: problem', source: OWN };
const LONG = {
  value: 2,
  unit: 's',
  means: 'of samples at least: less proves nothing',
  source: OWN,
};
const THEIRS = {
  value: 0.5,
  unit: 'share',
  means: 'of that traffic went through calls of the command, at most: others are named',
  source: OWN,
};

const LOAD = 'greatest(received, sent) / speed';
const SQL = `SELECT host, link, sum(t - t0) AS seconds, sum(t - t0) FILTER (${LOAD} >= ${FULL.value}) / sum(t - t0) AS share, max(${LOAD}) AS most,
  max(speed) AS speed, sum((received + sent) * (t - t0)) AS carried
FROM process_link_rate WHERE speed > 0 GROUP BY host, link HAVING sum(t - t0) >= ${LONG.value} ORDER BY share DESC NULLS LAST, host, link`;
const WINDOWS = `SELECT host, link, t0, t, CASE WHEN ${LOAD} >= ${FULL.value} THEN 1 ELSE 0 END AS lost FROM process_link_rate ORDER BY t0`;
const OWN_CALLS =
  'SELECT host, sum((read + written) * (t - t0)) AS moved FROM process_io_rate GROUP BY host';

interface Link {
  readonly host: string;
  readonly link: string;
  readonly share: number | null;
  readonly most: number;
  readonly speed: number;
  readonly carried: number;
}

export const FULL_LINK: FindingRule = {
  name: 'full-link',
  title: 'a network link that carries all it can',
  looks:
    'Compares the traffic of all programs on each link with the link’s speed, if its driver reports one; and adds up the bytes that the command’s processes read and wrote by system calls, the most that they can have sent over an interface of the kernel. Traffic that bypasses the kernel (InfiniBand verbs) is not counted by process.',
  needs: ['process_link_rate'],
  thresholds: { FULL, SOME, MUCH, LONG, THEIRS },
  knob: 'If the traffic is the command’s: send less, in larger messages, or while computing; use the faster fabric (UCX_NET_DEVICES, --mca btl_tcp_if_include). If it is other programs’: use an exclusive node, another network for storage, or another time.',
  explains: ['mpi-share', 'device-wait'],
  async run({ recording, has }) {
    const all = await recording.query<Link>(SQL);
    const [worst] = all;
    const severity = graded(worst?.share ?? 0, SOME, MUCH);
    if (worst === undefined || severity === null) return [];
    const windows = await recording.query<LossWindow & { host: string; link: string }>(WINDOWS);
    const stretch = stretchOf(
      windows.filter((one) => one.host === worst.host && one.link === worst.link),
    );
    const calls = has('process_io_rate')
      ? await recording.query<{ host: string; moved: number }>(OWN_CALLS)
      : [];
    const own = calls.find(({ host }) => host === worst.host)?.moved ?? null;
    // System calls do not count traffic that bypasses the kernel.
    const byKernel = !worst.link.includes('/');
    const others =
      byKernel && own !== null && own < THEIRS.value * worst.carried
        ? `: mostly others’, since calls of the command moved ${bytes(own)} at most`
        : '';
    return [
      {
        severity,
        sentence: `Link ${worst.link} of ${worst.host} (${bytes(worst.speed)}/s) was full for ${percent(worst.share ?? 0)} of the time${when(stretch)}: it carried ${bytes(worst.carried)}${others}.`,
        evidence: { sql: SQL, rows: asRows([{ ...worst, ...stretch }, ...all.slice(1)]) },
        ...expecting(this.knob, worst.share ?? 0, 'for that share of the time, the link was full'),
      },
    ];
  },
};
