/**
 * A PE that cannot run because its CPU is taken: by a hypervisor (steal), by other threads and processes (it waits in
 * the run queue), or by another PE bound there. It falls behind in virtual time. Where it runs ahead at other times it
 * rolls back itself; more often its late events roll the others back.
 */
import type { OpenRecording, Row } from '../query/index.ts';
import { type FindingParts, type FindingRule, percent, pes, type Severity } from './finding.ts';

/** Less than this share of the time is noise: ticks of /proc/stat, kernel threads. */
const LEAST = 0.05;
/** From here on it is a problem by itself. */
const MUCH = 0.15;
/** This much more than the others: it stands out. */
const MORE = 1.5;

const SQL = `SELECT pe_id, any_value(host) AS host, any_value(cpu) AS cpu, sum(seconds) AS seconds,
  sum(events_rolled_back) / greatest(1, sum(events_processed)) AS rolled_back,
  sum(events_processed) / sum(seconds) AS events_per_s,
  sum(steal * seconds) / sum(seconds) AS steal,
  sum(waiting * seconds) / sum(seconds) AS waiting,
  sum(others * seconds) / sum(seconds) AS others
FROM pe_on_node GROUP BY pe_id ORDER BY pe_id`;

const CAUSED = `SELECT source_pe AS pe_id, sum(events_undone) AS undone
FROM ross_rollback WHERE source_pe <> pe_id GROUP BY source_pe`;

/** Shares are of time; null where nobody measured. */
interface PeOnNode {
  readonly pe_id: number;
  readonly host: string;
  readonly cpu: number | null;
  readonly seconds: number;
  readonly rolled_back: number;
  readonly events_per_s: number;
  readonly steal: number | null;
  readonly waiting: number | null;
  readonly others: number | null;
}

interface Caused {
  readonly pe_id: number;
  readonly undone: number;
}

/** The share of time in which it could not run. */
const lost = ({ steal, waiting }: PeOnNode): number => (steal ?? 0) + (waiting ?? 0);

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

const stands = (value: number, others: number): boolean => value >= LEAST && value >= MORE * others;

const cpuOf = ({ cpu, host }: PeOnNode): string =>
  cpu === null ? `the CPUs of ${host}` : `CPU ${cpu} of ${host}`;

/** “20 % of CPU 1 of h1 was stolen by the hypervisor”, “it waited 30 % of the time for CPU 1 of h1 …”. */
function reasons(pe: PeOnNode): string {
  const parts: string[] = [];
  if ((pe.steal ?? 0) >= LEAST / 2) {
    parts.push(`${percent(pe.steal ?? 0)} of ${cpuOf(pe)} was stolen by the hypervisor`);
  }
  if ((pe.waiting ?? 0) >= LEAST / 2) {
    const users =
      pe.others === null ? '' : `, of which other threads and processes used ${percent(pe.others)}`;
    parts.push(`it waited ${percent(pe.waiting ?? 0)} of the time for ${cpuOf(pe)}${users}`);
  }
  return parts.join(', and ');
}

/** What it does to the run; null where nothing is seen. */
function effectOf(
  pe: PeOnNode,
  others: readonly PeOnNode[],
  caused: readonly Caused[],
): string | null {
  const theirs = mean(others.map((one) => one.rolled_back));
  if (stands(pe.rolled_back, theirs)) {
    return `it rolls back ${percent(pe.rolled_back)} of its events, the others ${percent(theirs)}`;
  }
  const all = caused.reduce((sum, { undone }) => sum + undone, 0);
  const own = caused.find(({ pe_id }) => pe_id === pe.pe_id)?.undone ?? 0;
  if (all > 0 && own / all >= MORE / (others.length + 1)) {
    return `${percent(own / all)} of the events that PEs undo for another PE’s sake, they undo for its late ones`;
  }
  if (stands(theirs, pe.rolled_back)) {
    return `it lags behind, and the others roll back ${percent(theirs)} of their events, it ${percent(pe.rolled_back)}`;
  }
  return null;
}

function adviceFor(all: readonly PeOnNode[]): string {
  const steal = mean(all.map((pe) => pe.steal ?? 0));
  return steal >= mean(all.map((pe) => pe.waiting ?? 0))
    ? 'Give the virtual machine CPUs of its own, or run fewer PEs than it has CPUs.'
    : 'Keep the CPUs free of other work (taskset, cgroups, an exclusive job), or run a PE less than there are CPUs.';
}

/** A PE that loses much more than the others. */
function outlier(pe: PeOnNode, all: readonly PeOnNode[], caused: readonly Caused[]): FindingParts {
  const others = all.filter(({ pe_id }) => pe_id !== pe.pe_id);
  const effect = effectOf(pe, others, caused);
  const severity: Severity = lost(pe) >= MUCH || effect !== null ? 'problem' : 'notice';
  const compared = others.length === 0 ? '' : ` (other PEs: ${percent(mean(others.map(lost)))})`;
  const then = effect === null ? '' : `; ${effect}`;
  return {
    severity,
    sentence: `PE ${pe.pe_id} could not run for ${percent(lost(pe))} of the time${compared}: ${reasons(pe)}${then}.`,
    evidence: { sql: SQL, rows: all as readonly unknown[] as readonly Row[] },
    advice: adviceFor([pe]),
  };
}

/** PEs that lose about the same. */
function together(some: readonly PeOnNode[], all: readonly PeOnNode[]): FindingParts {
  const shares = some.map(lost);
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map(percent);
  const range = least === most ? least : `${least} to ${most}`;
  const stolen = mean(some.map((pe) => pe.steal ?? 0));
  const waited = mean(some.map((pe) => pe.waiting ?? 0));
  const parts = [
    ...(stolen >= LEAST / 2 ? [`${percent(stolen)} was stolen by the hypervisor`] : []),
    ...(waited >= LEAST / 2
      ? [`${percent(waited)} was spent waiting for a CPU that others used`]
      : []),
  ];
  return {
    severity: mean(shares) >= MUCH ? 'problem' : 'notice',
    sentence: `${pes(some.map(({ pe_id }) => pe_id))} could not run for ${range} of the time: on average ${parts.join(', and ')}.`,
    evidence: { sql: SQL, rows: all as readonly unknown[] as readonly Row[] },
    advice: adviceFor(some),
  };
}

const SHARED = `SELECT host, cpu, list(pe ORDER BY pe) AS pes FROM pes WHERE cpu IS NOT NULL
GROUP BY host, cpu HAVING count(*) > 1 ORDER BY host, cpu`;

interface SharedCpu {
  readonly host: string;
  readonly cpu: number;
  readonly pes: readonly number[];
}

/** PEs bound to one CPU: each has its part of it at best. */
const sharing = (one: SharedCpu): FindingParts => ({
  severity: 'problem',
  sentence: `${pes(one.pes)} share CPU ${one.cpu} of ${one.host}: each has at most ${percent(1 / one.pes.length)} of it.`,
  evidence: { sql: SHARED, rows: [one as unknown as Row] },
  advice: 'Run as many PEs as there are CPUs at most, each bound to its own (--pin).',
});

const HAS_ROLLBACKS =
  "SELECT count(*) AS n FROM duckdb_views() WHERE view_name = 'ross_rollback' AND schema_name = 'main'";

async function causedBy(recording: OpenRecording): Promise<readonly Caused[]> {
  const [{ n }] = await recording.query<{ n: number }>(HAS_ROLLBACKS);
  return n === 0 ? [] : recording.query<Caused>(CAUSED);
}

export const STOLEN_CPU: FindingRule = {
  name: 'stolen-cpu',
  title: 'PEs that cannot run because their CPU is taken',
  needs: ['pe_on_node'],
  async run(recording) {
    const shared = await recording.query<SharedCpu>(SHARED);
    const inTurns = new Set(shared.flatMap((one) => one.pes));
    const all = await recording.query<PeOnNode>(SQL);
    const caused = await causedBy(recording);
    const losing = all.filter((pe) => lost(pe) >= LEAST && !inTurns.has(pe.pe_id));
    const out = losing.filter((pe) => {
      const others = all.filter(({ pe_id }) => pe_id !== pe.pe_id);
      return stands(lost(pe), mean(others.map(lost)));
    });
    const rest = losing.filter((pe) => !out.includes(pe));
    return [
      ...shared.map(sharing),
      ...out.map((pe) => outlier(pe, all, caused)),
      ...(rest.length > 0 ? [together(rest, all)] : []),
    ];
  },
};
