/** Work that is not spread evenly: over PEs, and over hosts. */
import {
  asRows,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  percent,
  type Subject,
  short,
  whole,
} from './finding.ts';
import { FEW, oneMode } from './samples.ts';

const SOME = {
  value: 1.25,
  unit: '',
  means: 'times the mean in the busiest: notice',
  source: `${OWN}: the others then wait for a fifth of the time`,
};
const MUCH = {
  value: 2,
  unit: '',
  means: 'times the mean: problem',
  source: `${OWN}: half of the machine waits`,
};

const NET = 'sum(events_processed)::DOUBLE - sum(events_rolled_back)::DOUBLE';

const PES = `SELECT pe_id, ${NET} AS net_events
FROM ross_pe WHERE ${oneMode('ross_pe')} GROUP BY pe_id ORDER BY net_events DESC, pe_id`;

const HOSTS = `SELECT host, count(DISTINCT pe_id) AS pe_count, ${NET} AS net_events,
  net_events / pe_count AS per_pe
FROM ross_pe JOIN pes ON pes.pe = pe_id WHERE ${oneMode('ross_pe')}
GROUP BY host ORDER BY per_pe DESC, host`;

interface Part {
  readonly name: string;
  readonly events: number;
}

const KNOB =
  'Place LPs by the events they get, not by their number (the model’s map); --max-opt-lookahead keeps those with less work from running ahead.';

function uneven(
  parts: readonly Part[],
  what: string,
  evidence: FindingParts['evidence'],
): FindingParts[] {
  const all = parts.reduce((sum, { events }) => sum + events, 0);
  if (parts.length < 2 || all < FEW) return [];
  const mean = all / parts.length;
  const [most, least] = [parts[0], parts[parts.length - 1]];
  const severity = graded(most.events / mean, SOME, MUCH);
  if (severity === null) return [];
  return [
    {
      severity,
      sentence: `${most.name} committed ${short(most.events / mean)} times the mean of ${whole(parts.length)} ${what} (${whole(most.events)} events; ${least.name} ${whole(least.events)}): the others wait for it for ${percent(1 - mean / most.events)} of the time.`,
      evidence,
      advice: KNOB,
    },
  ];
}

async function overPes({ recording }: Subject): Promise<FindingParts[]> {
  const rows = await recording.query<{ pe_id: number; net_events: number }>(PES);
  const parts = rows.map((row) => ({ name: `PE ${row.pe_id}`, events: row.net_events }));
  return uneven(parts, 'PEs', { sql: PES, rows: asRows(rows) });
}

async function overHosts({ recording }: Subject): Promise<FindingParts[]> {
  const rows = await recording.query<{ host: string; per_pe: number }>(HOSTS);
  const parts = rows.map((row) => ({ name: `A PE of ${row.host}`, events: row.per_pe }));
  return uneven(parts, 'hosts’ PEs', { sql: HOSTS, rows: asRows(rows) });
}

export const IMBALANCE: FindingRule = {
  name: 'imbalance',
  title: 'work unevenly spread over PEs or hosts',
  looks: 'Compares the events that each PE, and each host’s PEs, committed with the mean.',
  needs: ['ross_pe.events_processed', 'ross_pe.events_rolled_back', 'ross_pe.mode', 'pes'],
  thresholds: { SOME, MUCH },
  knob: KNOB,
  async run(subject) {
    return [...(await overPes(subject)), ...(await overHosts(subject))];
  },
};
