/**
 * A PE that cannot run because its CPU is taken: by a hypervisor (steal), by other threads and processes (it waits in
 * the run queue), by a quota of its control group (it waits for an idle CPU), or by another PE bound there. It falls behind in virtual time. Where it runs ahead at other times it
 * rolls back itself; more often its late events roll the others back.
 */
import type { Row } from '../query/index.ts';
import {
  asRows,
  type FindingParts,
  type FindingRule,
  OWN,
  percent,
  pes,
  type Severity,
  type Subject,
} from './finding.ts';

const LOST = {
  value: 0.05,
  unit: 'share',
  means: 'of its time a PE could not run: notice',
  source: `${OWN}: below it are ticks of /proc/stat and kernel threads`,
};
const MUCH_LOST = {
  value: 0.15,
  unit: 'share',
  means: 'of its time a PE could not run: problem, whatever it does to others',
  source: OWN,
};
const STANDS_OUT = {
  value: 1.5,
  unit: '',
  means: 'times what the other PEs lose: it is named by itself',
  source: OWN,
};
const QUOTA = {
  value: 0.1,
  unit: 'share',
  means: 'of its time a PE waited for a CPU of its own that was idle: a quota',
  source: `${OWN}: a thread that its control group throttles is counted as waiting`,
};
const LEAST = LOST.value;
const MUCH = MUCH_LOST.value;
const MORE = STANDS_OUT.value;

const SQL = `SELECT pe_id, any_value(host) AS host, any_value(cpu) AS cpu, sum(seconds) AS seconds,
  sum(events_rolled_back) / greatest(1, sum(events_processed)) AS rolled_back,
  sum(events_processed) / sum(seconds) AS events_per_s,
  sum(steal * seconds) / sum(seconds) AS steal,
  sum(waiting * seconds) / sum(seconds) AS waiting,
  sum(others * seconds) / sum(seconds) AS others,
  sum(CASE WHEN cpu IS NOT NULL AND idle IS NOT NULL AND waiting IS NOT NULL THEN least(waiting, idle) * seconds END) / sum(seconds) AS throttled
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
  /** It waited for the CPU that it was bound to, and that was idle. */
  readonly throttled: number | null;
}

interface Caused {
  readonly pe_id: number;
  readonly undone: number;
}

const isThrottled = ({ throttled }: PeOnNode): boolean => (throttled ?? 0) >= QUOTA.value;

/** The share of time in which it could not run. */
const lost = ({ steal, waiting }: PeOnNode): number => (steal ?? 0) + (waiting ?? 0);

/** Those spoken of, then the others; each worst first: who looks for the evidence looks at the first. */
const rowsOf = (spoken: readonly PeOnNode[], all: readonly PeOnNode[]): readonly Row[] => {
  const worstFirst = (some: readonly PeOnNode[]) => [...some].sort((a, b) => lost(b) - lost(a));
  const others = all.filter((pe) => !spoken.includes(pe));
  return asRows([...worstFirst(spoken), ...worstFirst(others)]);
};

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
  if (isThrottled(pe)) {
    parts.push(
      `while it waited, that CPU was idle for ${percent(pe.throttled ?? 0)} of the time: a quota throttles it`,
    );
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
  if (all.some(isThrottled)) {
    return 'Raise the quota of its control group (cpu.max; of a container, its CPU limit), or run fewer PEs in it.';
  }
  const steal = mean(all.map((pe) => pe.steal ?? 0));
  return steal >= mean(all.map((pe) => pe.waiting ?? 0))
    ? 'Give the virtual machine CPUs of its own, or run fewer PEs than it has CPUs.'
    : 'Keep the CPUs free of other work (taskset, cgroups, an exclusive job), or use one PE fewer than there are CPUs.';
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
    evidence: { sql: SQL, rows: rowsOf([pe], all) },
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
  const throttled = some.filter(isThrottled);
  if (throttled.length > 0) {
    parts.push(
      `${pes(throttled.map(({ pe_id }) => pe_id))} waited for idle CPUs: a quota throttles`,
    );
  }
  return {
    severity: mean(shares) >= MUCH ? 'problem' : 'notice',
    sentence: `${pes(some.map(({ pe_id }) => pe_id))} could not run for ${range} of the time: ${some.length > 1 ? 'on average ' : ''}${parts.join(', and ')}.`,
    evidence: { sql: SQL, rows: rowsOf(some, all) },
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

const causedBy = async ({ recording, has }: Subject): Promise<readonly Caused[]> =>
  has('ross_rollback') ? recording.query<Caused>(CAUSED) : [];

export const STOLEN_CPU: FindingRule = {
  name: 'stolen-cpu',
  title: 'PEs that cannot run because their CPU is taken',
  looks:
    'Joins each PE to its CPU over the same time: what a hypervisor stole, how long its thread waited in the run queue, who ran meanwhile; and which PEs are bound to one CPU.',
  needs: ['pe_on_node'],
  thresholds: { LOST, MUCH_LOST, STANDS_OUT, QUOTA },
  knob: 'Give virtual machines CPUs of their own; keep CPUs free of other work (taskset, cgroups, an exclusive job); raise quotas (cpu.max); bind PEs (--pin); or run fewer PEs.',
  async run(subject) {
    const { recording } = subject;
    const shared = await recording.query<SharedCpu>(SHARED);
    const inTurns = new Set(shared.flatMap((one) => one.pes));
    const all = await recording.query<PeOnNode>(SQL);
    const caused = await causedBy(subject);
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
