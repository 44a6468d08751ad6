/** Hosts so far apart that PEs wait for messages: a GVT is complete only when a message from each host has arrived. */
import {
  asRows,
  expecting,
  type FindingRule,
  graded,
  OWN,
  percent,
  short,
  whole,
} from './finding.ts';
import { ROLLBACK_SIGNS, runFactsOf } from './samples.ts';
import { timeOnEvents } from './time-on-events.ts';

const FAR = {
  value: 0.0005,
  unit: 's',
  means: 'of the shortest round trip between two hosts: the network is examined',
  source: `${OWN}: within a machine room it takes a tenth of that`,
};
const SOME = {
  value: 0.2,
  unit: 'share',
  means: 'of the run’s time taken by a round trip for each GVT: notice',
  source: OWN,
};
const MUCH = { value: 0.4, unit: 'share', means: 'of its time: problem', source: OWN };
const ELSEWHERE = {
  value: 0.2,
  unit: 'share',
  means:
    'of the PEs’ time, at least, cannot have been spent on events: otherwise they had enough to do',
  source: `${OWN}: PEs handle events while a GVT is on its way`,
};

const SQL = `SELECT host, first_host, round_trip, gvts, wall, gvts * round_trip / wall AS share
FROM link, sim_run ORDER BY round_trip DESC, host`;

interface Link {
  readonly host: string;
  readonly first_host: string;
  readonly round_trip: number;
  readonly share: number | null;
}

export const SLOW_LINK: FindingRule = {
  name: 'slow-link',
  title: 'hosts that are far apart',
  looks:
    'Multiplies the shortest round trip of a message between a run’s hosts by the number of its GVTs, and measures how much of the PEs’ time cannot have been spent on events.',
  needs: ['link', 'sim_run', 'ross_pe'],
  thresholds: { FAR, SOME, MUCH, ELSEWHERE },
  knob: 'Run on hosts that are nearer to each other, or over a faster network (does MPI use it?); or on one host; or let PEs do more between two GVTs: a larger --gvt-interval or --batch, more lookahead.',
  explains: [...ROLLBACK_SIGNS, 'gvt-interval', 'network-bound', 'optimism', 'lookahead'],
  async run(subject) {
    const facts = await runFactsOf(subject);
    const rows = await subject.recording.query<Link>(SQL);
    const [worst] = rows;
    if (facts === null || worst === undefined || worst.round_trip < FAR.value) return [];
    const share = Math.min(1, worst.share ?? 0);
    const severity = graded(share, SOME, MUCH);
    const onEvents = severity === null ? null : await timeOnEvents(subject, { commits: true });
    if (severity === null || onEvents === null) return [];
    const elsewhere = 1 - onEvents.most;
    if (elsewhere < ELSEWHERE.value) return [];
    return [
      {
        severity,
        sentence: `A message from ${worst.first_host} to ${worst.host} and back takes ${short(1e3 * worst.round_trip)} ms at least: so long for each of ${whole(facts.gvts)} GVTs is ${percent(share)} of the time, and at least ${percent(elsewhere)} of the PEs’ time did not go on events.`,
        evidence: { sql: SQL, rows: asRows(rows) },
        ...expecting(this.knob, Math.max(share, elsewhere), 'PEs waited for messages for the rest'),
      },
    ];
  },
};
