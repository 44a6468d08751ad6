/**
 * A PE whose CPU is taken by something else: a hypervisor (steal), other processes, or another PE. It falls behind in
 * virtual time. It rolls back itself where it is also ahead at times; more often its late events roll the others back.
 */
import type { OpenRecording } from '../query/index.ts';
import { type FindingParts, type FindingRule, percent, pes, type Severity } from './finding.ts';

/** Less than this share of a CPU's time is noise: ticks of /proc/stat, kernel threads. */
const LEAST = 0.05;
/** From here on it is a problem by itself. */
const MUCH = 0.15;
/** A PE that rolls back this much more than the others do. */
const MORE = 1.25;

const SQL = `SELECT pe_id, any_value(host) AS host, any_value(cpu) AS cpu, sum(seconds) AS seconds,
  sum(events_rolled_back) / greatest(1, sum(events_processed)) AS rolled_back,
  sum(events_processed) / sum(seconds) AS events_per_s,
  sum(steal * seconds) / sum(seconds) AS steal,
  sum(waiting * seconds) / sum(seconds) AS waiting,
  sum(others * seconds) / sum(seconds) AS others
FROM pe_on_node GROUP BY pe_id ORDER BY pe_id`;

const CAUSED = `SELECT source_pe AS pe_id, count(*) AS rollbacks, sum(events_undone) AS undone
FROM ross_rollback WHERE source_pe <> pe_id GROUP BY source_pe`;

interface PeOnNode {
  readonly pe_id: number;
  readonly host: string;
  readonly cpu: number | null;
  readonly rolled_back: number;
  readonly events_per_s: number;
  readonly steal: number | null;
  readonly waiting: number | null;
  readonly others: number | null;
}

interface Caused {
  readonly pe_id: number;
  readonly rollbacks: number;
  readonly undone: number;
}

/** What took the CPU, largest first: share of its time, and words for it. */
function takersOf({ steal, waiting, others }: PeOnNode): { share: number; words: string }[] {
  const all = [
    { share: steal ?? 0, words: 'taken by the hypervisor (steal)' },
    { share: others ?? 0, words: 'used by other processes' },
    { share: others === null ? (waiting ?? 0) : 0, words: 'spent waiting for a CPU' },
  ];
  return all.filter(({ share }) => share >= LEAST).sort((a, b) => b.share - a.share);
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** What it does to the run; null where nothing is seen. */
function effectOf(pe: PeOnNode, others: readonly PeOnNode[], caused: readonly Caused[]) {
  const theirs = mean(others.map((one) => one.rolled_back));
  if (others.length > 0 && pe.rolled_back >= 0.05 && pe.rolled_back >= MORE * theirs) {
    return `it rolls back ${percent(pe.rolled_back)} of its events, the others ${percent(theirs)}`;
  }
  const all = caused.reduce((sum, { undone }) => sum + undone, 0);
  const own = caused.find(({ pe_id }) => pe_id === pe.pe_id)?.undone ?? 0;
  const fair = 1 / (others.length + 1);
  if (all > 0 && own / all >= MORE * fair) {
    return `its late events cause ${percent(own / all)} of what PEs undo of each other’s work`;
  }
  if (others.length > 0 && theirs >= 0.05 && theirs >= MORE * pe.rolled_back) {
    return `the others roll back ${percent(theirs)} of their events, it ${percent(pe.rolled_back)}: it lags behind them`;
  }
  return null;
}

function stolen(
  pe: PeOnNode,
  all: readonly PeOnNode[],
  caused: readonly Caused[],
): FindingParts | null {
  const takers = takersOf(pe);
  if (takers.length === 0) return null;
  const others = all.filter(({ pe_id }) => pe_id !== pe.pe_id);
  const effect = effectOf(pe, others, caused);
  const [first] = takers;
  const rest = mean(others.map((one) => Math.max(0, ...takersOf(one).map(({ share }) => share))));
  const where = pe.cpu === null ? `host ${pe.host}` : `CPU ${pe.cpu} of ${pe.host}`;
  const shares = takers.map(({ share, words }) => `${percent(share)} ${words}`).join(' and ');
  const compared = others.length > 0 ? ` (other PEs: ${percent(rest)})` : '';
  const severity: Severity = first.share >= MUCH || effect !== null ? 'problem' : 'notice';
  return {
    severity,
    sentence: `PE ${pe.pe_id} does not have ${where} to itself: ${shares}${compared}${effect === null ? '' : `; ${effect}`}.`,
    evidence: { sql: SQL, rows: all as unknown as FindingParts['evidence']['rows'] },
    advice: first.words.includes('hypervisor')
      ? 'Give the virtual machine CPUs of its own, or run fewer PEs than it has CPUs.'
      : 'Keep that CPU free (taskset, cgroups, an exclusive job), or run one PE less and bind them (--pin).',
  };
}

const SHARED = `SELECT host, cpu, list(pe ORDER BY pe) AS pes FROM pes WHERE cpu IS NOT NULL
GROUP BY host, cpu HAVING count(*) > 1 ORDER BY host, cpu`;

/** PEs bound to one CPU: each has half of it at best. */
async function shared(recording: OpenRecording): Promise<FindingParts[]> {
  const rows = await recording.query<{ host: string; cpu: number; pes: number[] }>(SHARED);
  return rows.map((row) => ({
    severity: 'problem',
    sentence: `${pes(row.pes)} share CPU ${row.cpu} of ${row.host}: each has at most ${percent(1 / row.pes.length)} of it.`,
    evidence: { sql: SHARED, rows: [row] },
    advice: 'Run as many PEs as there are CPUs at most, each bound to its own (--pin).',
  }));
}

export const STOLEN_CPU: FindingRule = {
  name: 'stolen-cpu',
  title: 'PEs whose CPU is stolen or shared',
  needs: ['pe_on_node'],
  async run(recording) {
    const found = await shared(recording);
    const sharing = new Set(
      found.flatMap(({ evidence }) => evidence.rows.flatMap((row) => row.pes)),
    );
    const all = await recording.query<PeOnNode>(SQL);
    const [{ n }] = await recording.query<{ n: number }>(
      "SELECT count(*) AS n FROM duckdb_views() WHERE view_name = 'ross_rollback'",
    );
    const caused = n === 0 ? [] : await recording.query<Caused>(CAUSED);
    for (const pe of all) {
      const one = sharing.has(pe.pe_id) ? null : stolen(pe, all, caused);
      if (one !== null) found.push(one);
    }
    return found;
  },
};
