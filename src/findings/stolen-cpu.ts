/**
 * A PE that cannot run because its CPU is taken: by a hypervisor (steal), by other threads and processes (it waits in
 * the run queue), or by other PEs. It falls behind in virtual time. If it runs ahead at other times, it is
 * rolled back itself; more often its late events roll the others back.
 */
import { HANDLED_RATE, meanOver, ROLLED_BACK_SHARE, sqlOf } from '../model/measures/index.ts';
import type { Row } from '../query/index.ts';
import {
  asRows,
  counted,
  expecting,
  type FindingParts,
  type FindingRule,
  OWN,
  percent,
  pes,
  type Severity,
  type Subject,
  short,
} from './finding.ts';
import { ROLLBACK_SIGNS, runFactsOf } from './samples.ts';
import { ENOUGH } from './threads.ts';
import { type LossWindow, type Stretch, stretchOf, when } from './when.ts';

const LOST = {
  value: 0.05,
  unit: 'share',
  means: 'of its time, a PE could not run: notice',
  source: `${OWN}: smaller shares are ticks of /proc/stat and kernel threads`,
};
const MUCH_LOST = {
  value: 0.15,
  unit: 'share',
  means: 'of its time, a PE could not run: problem, whatever its effect on others',
  source: OWN,
};
const STANDS_OUT = {
  value: 1.5,
  unit: '',
  means: 'times the loss of the other PEs: the finding names this PE alone',
  source: OWN,
};
/** The default weight of a control group. */
const USUAL = 100;
const LEAST = LOST.value;
const MUCH = MUCH_LOST.value;
const MORE = STANDS_OUT.value;

/**
 * `on_node`: rows of pe_on_node whose `waiting` excludes what other threads of the PE's own process, such as compilers and
 * recorders, can explain: between two samples these used less time than the process's PEs waited. That part is `own`.
 */
const WITHOUT_OWN = `WITH used AS (
    SELECT p.rank, r.t, r.cpu_time * (r.t - r.t0) AS used FROM sim_process_rate r JOIN pes p ON p.pe = r.pe_id),
  pe_threads AS (
    SELECT p.rank, r.t, sum(r.cpu_time * (r.t - r.t0)) AS ran, sum(r.run_queue_wait * (r.t - r.t0)) AS waited
    FROM sim_thread_rate r JOIN pes p ON p.pe = r.pe_id GROUP BY ALL),
  explained AS (
    SELECT s.rank, s.t, greatest(0, least(1, (u.used - s.ran) / s.waited)) AS share
    FROM pe_threads s ASOF JOIN used u ON u.rank = s.rank AND u.t >= s.t
    WHERE s.waited > 0 AND u.used IS NOT NULL AND s.ran IS NOT NULL),
  on_node AS (
    SELECT n.* REPLACE (waiting * (1 - coalesce(e.share, 0)) AS waiting), waiting * coalesce(e.share, 0) AS own
    FROM pe_on_node n LEFT JOIN pes p ON p.pe = n.pe_id
    ASOF LEFT JOIN explained e ON e.rank = p.rank AND e.t >= (n.t0 + n.t) / 2)
`;

/** SQL over `pe_on_node`, or, if the run's processes were watched, over the part that other programs explain. */
function statements({ has }: Subject): { readonly mean: string; readonly windows: string } {
  const isWatched = has('sim_process_rate.cpu_time') && has('sim_thread_rate.run_queue_wait');
  const [first, from] = isWatched ? [WITHOUT_OWN, 'on_node'] : ['', 'pe_on_node'];
  const own = isWatched ? meanOver('own') : 'NULL::DOUBLE';
  return {
    mean: `${first}SELECT pe_id, any_value(host) AS host, any_value(cpu) AS cpu, sum(seconds) AS seconds,
  ${sqlOf(ROLLED_BACK_SHARE)} / 100 AS rolled_back, ${sqlOf(HANDLED_RATE)} AS events_per_s,
  ${['steal', 'waiting', 'others'].map((column) => `${meanOver(column)} AS ${column}`).join(', ')},
  ${own} AS own
FROM ${from} GROUP BY pe_id ORDER BY pe_id`,
    windows: `${first}SELECT pe_id, t0, t, coalesce(steal, 0) + coalesce(waiting, 0) AS lost
FROM ${from} ORDER BY pe_id, t0`,
  };
}

const CAUSED = `SELECT source_pe AS pe_id, sum(events_undone) AS undone
FROM ross_rollback WHERE source_pe <> pe_id GROUP BY source_pe`;

/** Shares are of time; null if not measured. */
interface PeOnNode {
  readonly pe_id: number;
  readonly host: string;
  readonly cpu: number | null;
  readonly seconds: number;
  /** Null if it handled no events. */
  readonly rolled_back: number | null;
  readonly events_per_s: number;
  readonly steal: number | null;
  readonly waiting: number | null;
  readonly others: number | null;
  /** It waited this much longer, for other threads of its own process. */
  readonly own: number | null;
}

interface Caused {
  readonly pe_id: number;
  readonly undone: number;
}

/** The share of time in which it could not run, at most 1: at the edges of windows slightly more may be counted than there was. */
const lost = ({ steal, waiting }: PeOnNode): number => Math.min(1, (steal ?? 0) + (waiting ?? 0));

/** First the PEs that the sentence names, then the others; each group from the worst on. */
const rowsOf = (
  spoken: readonly PeOnNode[],
  all: readonly PeOnNode[],
  stretch: Stretch | null = null,
): readonly Row[] => {
  const worstFirst = (some: readonly PeOnNode[]) => [...some].sort((a, b) => lost(b) - lost(a));
  const [worst, ...rest] = worstFirst(spoken);
  const others = all.filter((pe) => !spoken.includes(pe));
  return asRows([{ ...worst, ...stretch }, ...rest, ...worstFirst(others)]);
};

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

const stands = (value: number, others: number): boolean => value >= LEAST && value >= MORE * others;

const cpuOf = ({ cpu, host }: PeOnNode): string =>
  cpu === null ? `the CPUs of ${host}` : `CPU ${cpu} of ${host}`;

/** Whether it waited long for other threads of its own process, too: then the finding's share is not all of its wait, as tables have it. */
const waitsForOwn = (own: number | null): boolean => (own ?? 0) >= LEAST / 2;

const lostText = (share: string, forOwn: boolean): string =>
  `could not run for ${share} of the time${forOwn ? ' because of others' : ''}`;

/** “20 % of CPU 1 of h1 was stolen by the hypervisor”, “it waited 30 % of the time for CPU 1 of h1 …”, “another 25 % for …”. */
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
  if (waitsForOwn(pe.own)) {
    parts.push(`another ${percent(pe.own ?? 0)} while threads of its own process ran there`);
  }
  return parts.join(', and ');
}

/** What it does to the run; null if no effect is visible. */
function effectOf(
  pe: PeOnNode,
  others: readonly PeOnNode[],
  caused: readonly Caused[],
): string | null {
  const theirs = mean(others.flatMap(({ rolled_back }) => rolled_back ?? []));
  const its = pe.rolled_back;
  if (its !== null && stands(its, theirs)) {
    return `it rolls back ${percent(its)} of its events, the others ${percent(theirs)}`;
  }
  const all = caused.reduce((sum, { undone }) => sum + undone, 0);
  const own = caused.find(({ pe_id }) => pe_id === pe.pe_id)?.undone ?? 0;
  if (all > 0 && own / all >= MORE / (others.length + 1)) {
    return `${percent(own / all)} of the events that PEs undo because of other PEs are undone because of its late events`;
  }
  if (its !== null && stands(theirs, its)) {
    return `it falls behind: the others roll back ${percent(theirs)} of their events, it ${percent(its)}`;
  }
  return null;
}

/** The least share of a wait that the use of the CPU by others has to explain. */
const EXPLAINED = 0.25;

function adviceFor(all: readonly PeOnNode[], { weight }: Context): string {
  if (weight !== '') {
    return 'Raise the weight of its control group (cpu.weight; of version 1, cpu.shares), or keep the CPUs free of other work.';
  }
  const steal = mean(all.map((pe) => pe.steal ?? 0));
  const waiting = mean(all.map((pe) => pe.waiting ?? 0));
  // If a thread waits for an unused CPU, something holds it back of which this recording has no samples.
  const taken = mean(all.map((pe) => (pe.others ?? 1) + (pe.steal ?? 0)));
  if (taken < waiting * EXPLAINED) {
    return 'Nobody else used its CPU: find out what else keeps its threads from running, such as a quota (cpu.max) or the weight of its control group, or a process that stops them.';
  }
  return steal >= waiting
    ? 'Give the virtual machine CPUs of its own, or run fewer PEs than it has CPUs.'
    : 'Keep other work off the CPUs (taskset, cgroups, an exclusive job), or use one PE fewer than there are CPUs.';
}

/** Values for the time between two samples. */
interface Window extends LossWindow {
  readonly pe_id: number;
}

interface Context {
  /** Evidence. */
  readonly sql: string;
  readonly caused: readonly Caused[];
  readonly windows: readonly Window[];
  /** Follows the reason: a control group with less weight than others; or ''. */
  readonly weight: string;
}

/** The part of the run that has the loss of these PEs; null for the whole run. */
const stretchOfPes = (those: readonly PeOnNode[], { windows }: Context): Stretch | null =>
  stretchOf(windows.filter(({ pe_id }) => those.some((pe) => pe.pe_id === pe_id)));

/** A PE that loses much more time than the others. */
function outlier(pe: PeOnNode, all: readonly PeOnNode[], context: Context): FindingParts {
  const others = all.filter(({ pe_id }) => pe_id !== pe.pe_id);
  const effect = effectOf(pe, others, context.caused);
  const severity: Severity = lost(pe) >= MUCH || effect !== null ? 'problem' : 'notice';
  const compared = others.length === 0 ? '' : ` (other PEs: ${percent(mean(others.map(lost)))})`;
  const then = effect === null ? '' : `; ${effect}`;
  const stretch = stretchOfPes([pe], context);
  return {
    severity,
    sentence: `PE ${pe.pe_id} ${lostText(percent(lost(pe)), waitsForOwn(pe.own))}${compared}${when(stretch)}: ${reasons(pe)}${context.weight}${then}.`,
    evidence: { sql: context.sql, rows: rowsOf([pe], all, stretch) },
    ...expecting(adviceFor([pe], context), lost(pe), 'for that share of its time, it had no CPU'),
  };
}

/** PEs that lose about the same share of time. */
function together(
  some: readonly PeOnNode[],
  all: readonly PeOnNode[],
  context: Context,
): FindingParts {
  const shares = some.map(lost);
  const [least, most] = [Math.min(...shares), Math.max(...shares)].map(percent);
  const range = least === most ? least : `${least} to ${most}`;
  const stolen = mean(some.map((pe) => pe.steal ?? 0));
  const waited = mean(some.map((pe) => pe.waiting ?? 0));
  const own = mean(some.map((pe) => pe.own ?? 0));
  const parts = [
    ...(stolen >= LEAST / 2 ? [`${percent(stolen)} was stolen by the hypervisor`] : []),
    ...(waited >= LEAST / 2
      ? [`${percent(waited)} was spent waiting for a CPU that others used`]
      : []),
    ...(waitsForOwn(own) ? [`another ${percent(own)} while threads of its own process ran`] : []),
  ];
  const stretch = stretchOfPes(some, context);
  return {
    severity: mean(shares) >= MUCH ? 'problem' : 'notice',
    sentence: `${pes(some.map(({ pe_id }) => pe_id))} ${lostText(range, waitsForOwn(own))}${when(stretch)}: ${some.length > 1 ? 'on average ' : ''}${parts.join(', and ')}${context.weight}.`,
    evidence: { sql: context.sql, rows: rowsOf(some, all, stretch) },
    ...expecting(
      adviceFor(some, context),
      mean(shares),
      'for that share of their time, they had no CPU',
    ),
  };
}

const SHARED = `SELECT host, cpu, list(pe ORDER BY pe) AS pes FROM pes WHERE cpu IS NOT NULL
GROUP BY host, cpu HAVING count(*) > 1 ORDER BY host, cpu`;

interface SharedCpu {
  readonly host: string;
  readonly cpu: number;
  readonly pes: readonly number[];
}

/** How PEs are placed: threads by options of the simulator, ranks of MPI by their launcher. */
interface Placement {
  readonly count: string;
  readonly bind: string;
  readonly areRanks: boolean;
}

async function placesOf({ recording }: Subject): Promise<Placement> {
  const [{ ranks }] = await recording.query<{ ranks: number }>(
    'SELECT count(DISTINCT rank)::DOUBLE AS ranks FROM pes',
  );
  return ranks > 1
    ? { count: 'mpirun -np ', bind: 'mpirun --bind-to core', areRanks: true }
    : { count: '--pes=', bind: '--pin', areRanks: false };
}

/** PEs that are bound to one CPU: each gets a part of it at best. */
const sharing = (one: SharedCpu, { bind }: Placement): FindingParts => ({
  severity: 'problem',
  sentence: `${pes(one.pes)} share CPU ${one.cpu} of ${one.host}: each has at most ${percent(1 / one.pes.length)} of it.`,
  evidence: { sql: SHARED, rows: [one as unknown as Row] },
  ...expecting(
    `Run no more PEs than there are CPUs, and bind each to a CPU of its own (${bind}).`,
    1 - 1 / one.pes.length,
    `each of them had ${percent(1 / one.pes.length)} of a CPU`,
  ),
});

const WEIGHTS =
  'SELECT cgroup, min(weight) AS weight FROM process_weight GROUP BY cgroup ORDER BY weight LIMIT 1';

async function weightOf({ recording, has }: Subject): Promise<string> {
  if (!has('process_weight')) return '';
  const [least] = await recording.query<{ cgroup: string; weight: number }>(WEIGHTS);
  if (least === undefined || least.weight >= USUAL) return '';
  return `; its control group ${least.cgroup} has weight ${short(least.weight)} (the usual weight is ${USUAL})`;
}

/** More PEs than CPUs that they may use: they take turns. */
async function crowded(
  subject: Subject,
  losing: readonly PeOnNode[],
  all: readonly PeOnNode[],
  sql: string,
): Promise<FindingParts[]> {
  const facts = await runFactsOf(subject);
  if (facts === null || facts.pes <= facts.cpus || losing.length === 0) return [];
  const share = mean(losing.map(lost));
  const { count, areRanks } = await placesOf(subject);
  return [
    {
      severity: 'problem',
      sentence: `${facts.pes} PEs take turns on ${counted(facts.cpus, 'CPU')} that they may use: they could not run for ${percent(share)} of the time.`,
      evidence: { sql, rows: rowsOf(losing, all) },
      ...expecting(
        `Run no more PEs than there are CPUs (${count}${facts.cpus}), or let them use more CPUs (taskset, cpusets).`,
        share,
        'for that share of their time, they had no CPU, and the running PEs wait for the others',
      ),
      ...(!areRanks && { turn: { pes: facts.cpus } }),
    },
  ];
}

const causedBy = async ({ recording, has }: Subject): Promise<readonly Caused[]> =>
  has('ross_rollback') ? recording.query<Caused>(CAUSED) : [];

export const STOLEN_CPU: FindingRule = {
  name: 'stolen-cpu',
  title: 'PEs that cannot run because their CPU is used by others',
  looks:
    'Joins each PE to its CPU at the same time: how much of it a hypervisor took, how long the PE’s thread waited in the run queue (not counting the compiler, garbage collector and recorder of its own process), what ran meanwhile, and when. Also finds PEs that are bound to the same CPU or take turns on too few CPUs, and the weight of their control group.',
  needs: ['pe_on_node'],
  thresholds: { LOST, MUCH_LOST, STANDS_OUT, ENOUGH },
  knob: 'Give virtual machines CPUs of their own, keep other work off the CPUs (taskset, cgroups, an exclusive job), raise weights (cpu.weight), bind PEs (--pin; MPI ranks: mpirun --bind-to core), or run fewer PEs.',
  explains: [
    'imbalance',
    'network-bound',
    'optimism',
    'slow-handlers',
    'gvt-interval',
    'false-rollbacks',
    ...ROLLBACK_SIGNS,
  ],
  async run(subject) {
    const { recording } = subject;
    const shared = await recording.query<SharedCpu>(SHARED);
    const inTurns = new Set(shared.flatMap((one) => one.pes));
    const sql = statements(subject);
    const all = (await recording.query<PeOnNode>(sql.mean)).filter(
      ({ seconds }) => seconds >= ENOUGH.value,
    );
    const losing = all.filter((pe) => lost(pe) >= LEAST && !inTurns.has(pe.pe_id));
    const turns = await crowded(subject, losing, all, sql.mean);
    if (turns.length > 0) return turns;
    const places = await placesOf(subject);
    const context = {
      sql: sql.mean,
      caused: await causedBy(subject),
      windows: await recording.query<Window>(sql.windows),
      weight: await weightOf(subject),
    };
    const out = losing.filter((pe) => {
      const others = all.filter(({ pe_id }) => pe_id !== pe.pe_id);
      return stands(lost(pe), mean(others.map(lost)));
    });
    const rest = losing.filter((pe) => !out.includes(pe));
    return [
      ...shared.map((one) => sharing(one, places)),
      ...out.map((pe) => outlier(pe, all, context)),
      ...(rest.length > 0 ? [together(rest, all, context)] : []),
    ];
  },
};
