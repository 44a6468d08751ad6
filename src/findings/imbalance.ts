/** Work that is distributed unevenly: over PEs, and over hosts. */
import {
  asRows,
  expecting,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  percent,
  type Subject,
  short,
  whole,
} from './finding.ts';
import { FEW, oneMode, ROLLBACK_SIGNS } from './samples.ts';

const SOME = {
  value: 1.25,
  unit: '',
  means: 'times the mean on the busiest PE or host: notice',
  source: `${OWN}: the others then wait for a fifth of the time`,
};
const MUCH = {
  value: 1.5,
  unit: '',
  means: 'times the mean: problem',
  source: `${OWN}: the others wait for a third of the time; on two PEs the most is 2`,
};
const HOT = {
  value: 0.2,
  unit: 'share',
  means:
    'of all events belong to one LP, and that is four times an even share: the finding names the LP',
  source: OWN,
};
const CROWD = {
  value: 1.25,
  unit: '',
  means: 'times the mean number of LPs: the finding names the map',
  source: OWN,
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
  'Distribute LPs over PEs by the events they handle, not by their number (the model’s map). --max-opt-lookahead keeps PEs with less work from running ahead.';

const LPS = `SELECT lp_id, pe_id, ${NET} AS net_events, sum(${NET}) OVER () AS all_events, count(*) OVER () AS lps
FROM ross_lp WHERE ${oneMode('ross_lp')} GROUP BY lp_id, pe_id ORDER BY net_events DESC, lp_id LIMIT 10`;

/** Why the busiest PE is the busiest, and what helps; null if this was not counted. */
interface Reason {
  readonly words: string;
  readonly advice: string;
}

async function hotLp({ recording, has }: Subject, pe: number): Promise<Reason | null> {
  if (!has('ross_lp.events_processed') || !has('ross_lp.mode')) return null;
  const [hot] = await recording.query<{
    lp_id: number;
    pe_id: number;
    net_events: number;
    all_events: number;
    lps: number;
  }>(LPS);
  if (hot === undefined || hot.pe_id !== pe) return null;
  const share = hot.net_events / Math.max(1, hot.all_events);
  if (share < HOT.value || share < 4 / hot.lps) return null;
  return {
    words: `LP ${hot.lp_id} alone handles ${percent(share)} of all events`,
    advice: `An LP runs on one PE: divide the work of LP ${hot.lp_id} among several LPs, and place them on different PEs.`,
  };
}

async function lpsOf({ recording, has }: Subject, pe: number): Promise<Reason | null> {
  if (!has('sim_pe.lps')) return null;
  const rows = await recording.query<{ pe_id: number; lps: number }>(
    'SELECT pe_id, sum(lps) AS lps FROM sim_pe GROUP BY pe_id',
  );
  const all = rows.reduce((sum, { lps }) => sum + lps, 0);
  const own = rows.find(({ pe_id }) => pe_id === pe)?.lps ?? 0;
  const has_ = `it has ${whole(own)} of the LPs, of ${whole(all)}`;
  return own >= (CROWD.value * all) / rows.length
    ? { words: has_, advice: 'Place the same number of LPs on each PE (the model’s map).' }
    : {
        words: `${has_}, which handle more events than others`,
        advice: 'Spread the LPs that handle many events over all PEs (the model’s map).',
      };
}

/** The busiest of several parts, and their mean. */
function uneven(parts: readonly Part[]) {
  const all = parts.reduce((sum, { events }) => sum + events, 0);
  if (parts.length < 2 || all < FEW) return null;
  const mean = all / parts.length;
  const [most, least] = [parts[0], parts[parts.length - 1]];
  const severity = graded(most.events / mean, SOME, MUCH);
  return severity && { severity, most, least, mean, wait: 1 - mean / most.events };
}

function sentenceOf(found: NonNullable<ReturnType<typeof uneven>>, parts: string, why: string) {
  const { most, least, mean, wait } = found;
  return `${most.name} committed ${short(most.events / mean)} times the mean of ${parts} (${whole(most.events)} events; ${least.name} ${whole(least.events)})${why}: the others spend ${percent(wait)} of the time waiting for it.`;
}

async function overPes(subject: Subject): Promise<FindingParts[]> {
  const rows = await subject.recording.query<{ pe_id: number; net_events: number }>(PES);
  const parts = rows.map((row) => ({ name: `PE ${row.pe_id}`, events: row.net_events }));
  const found = uneven(parts);
  if (found === null) return [];
  const [{ pe_id: pe }] = rows;
  const reason = (await hotLp(subject, pe)) ?? (await lpsOf(subject, pe));
  const why = reason === null ? '' : `; ${reason.words}`;
  const expected = `with evenly distributed work, no PE would spend ${percent(found.wait)} of the time waiting`;
  return [
    {
      severity: found.severity,
      sentence: sentenceOf(found, `${whole(parts.length)} PEs`, why),
      evidence: { sql: PES, rows: asRows(rows) },
      ...expecting(reason?.advice ?? KNOB, found.wait, expected),
    },
  ];
}

async function overHosts({ recording }: Subject): Promise<FindingParts[]> {
  const rows = await recording.query<{ host: string; per_pe: number }>(HOSTS);
  const parts = rows.map((row) => ({ name: `A PE of ${row.host}`, events: row.per_pe }));
  const found = uneven(parts);
  if (found === null) return [];
  return [
    {
      severity: found.severity,
      sentence: sentenceOf(found, `${whole(parts.length)} hosts’ PEs`, ''),
      evidence: { sql: HOSTS, rows: asRows(rows) },
      ...expecting(
        KNOB,
        found.wait,
        `with even work the PEs of no host wait for ${percent(found.wait)} of the time`,
      ),
    },
  ];
}

export const IMBALANCE: FindingRule = {
  name: 'imbalance',
  title: 'work unevenly spread over PEs or hosts',
  looks:
    'Compares the events that each PE, and the PEs of each host, committed with the mean. Where LPs are sampled (--lp-data), names the LP that handles the most events, or the number of LPs.',
  needs: ['ross_pe.events_processed', 'ross_pe.events_rolled_back', 'ross_pe.mode', 'pes'],
  thresholds: { SOME, MUCH, HOT, CROWD },
  knob: KNOB,
  explains: [...ROLLBACK_SIGNS, 'gvt-interval', 'network-bound'],
  async run(subject) {
    return [...(await overPes(subject)), ...(await overHosts(subject))];
  },
};
