/** Threads that stand still because memory is short: pages are taken from them and read again. */
import { bytes } from '../model/measures/index.ts';
import { mostBlocked } from './device-wait.ts';
import {
  asRows,
  expecting,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  percent,
  type Subject,
} from './finding.ts';

const SOME = {
  value: 0.1,
  unit: 'share',
  means: 'of the time, some thread stood still because memory was short: notice',
  source: `${OWN}; Linux, accounting/psi`,
};
const FULL = {
  value: 0.1,
  unit: 'share',
  means: 'of the time, all threads with work to do stood still because memory was short: problem',
  source: OWN,
};
const BLOCKED = {
  value: 0.1,
  unit: 'share',
  means:
    'of a thread’s samples found it blocked by a device, for pages that had been dropped to make room: notice',
  source: 'as device-wait',
};
const MUCH_BLOCKED = { value: 0.2, unit: 'share', means: 'of its samples: problem', source: OWN };
const AGAIN = {
  value: 0.5,
  unit: 'share',
  means:
    'of the bytes read from devices were pages that had been dropped before: it is memory that is short',
  source: `${OWN}: the kernel counts such pages (workingset_refault), but not all waits for them as waits for memory`,
};
const LONG = {
  value: 0.5,
  unit: 's',
  means: 'of samples at least: less proves nothing',
  source: OWN,
};

const SQL = `SELECT host, sum("some" * (t - t0)) / 1e6 AS some_s, sum("full" * (t - t0)) / 1e6 AS full_s, sum(t - t0) AS seconds,
  min(t0) FILTER ("some" > 1e5) AS "from", max(t) FILTER ("some" > 1e5) AS "to"
FROM process_pressure_rate WHERE resource = 'memory' GROUP BY host
HAVING sum(t - t0) >= ${LONG.value} ORDER BY some_s DESC`;

/** The least size of a page, in bytes: some machines have larger ones. */
const PAGE_BYTES = 4096;

const REREAD = `WITH dropped AS (
  SELECT host, cgroup, sum(refaulted * (t - t0)) * ${PAGE_BYTES} AS again FROM process_refault_rate GROUP BY host, cgroup),
room AS (SELECT host, cgroup, max("limit")::DOUBLE AS "limit" FROM process_limit GROUP BY host, cgroup),
device AS (SELECT host, sum(device_read * (t - t0)) AS read FROM process_io_rate GROUP BY host)
SELECT host, cgroup, "limit", again, read FROM dropped JOIN room USING (host, cgroup) JOIN device USING (host)
WHERE again > 0 AND read > 0 ORDER BY again DESC, "limit" LIMIT 1`;

interface Reread {
  readonly host: string;
  readonly cgroup: string;
  readonly limit: number;
  /** Bytes. */
  readonly again: number;
  readonly read: number;
}

/** Threads that wait for a device to bring back what was dropped for want of memory. */
async function rereads(subject: Subject, knob: string): Promise<FindingParts[]> {
  if (
    !['process_refault_rate', 'process_limit', 'process_io_rate', 'rank_on_node'].every(subject.has)
  )
    return [];
  const [worst] = await subject.recording.query<Reread>(REREAD);
  if (worst === undefined) return [];
  const part = Math.min(1, worst.again / worst.read);
  const blocked = part * (await mostBlocked(subject));
  const severity = graded(blocked, BLOCKED, MUCH_BLOCKED);
  if (severity === null || part < AGAIN.value) return [];
  const { host, cgroup, limit, again, read } = worst;
  return [
    {
      severity,
      sentence: `Memory is short on ${host}: control group ${cgroup}, which may have ${bytes(limit, { binary: true })}, dropped at least ${bytes(again)} to make room and read it again, and processes of the command read ${bytes(read)} from devices; a thread was blocked for it in about ${percent(blocked)} of its samples.`,
      evidence: { sql: REREAD, rows: asRows([worst]) },
      ...expecting(knob, blocked, 'that time was spent reading pages again'),
    },
  ];
}

interface Stall {
  readonly host: string;
  readonly some_s: number;
  readonly full_s: number;
  readonly seconds: number;
  readonly from: number | null;
  readonly to: number | null;
}

export const MEMORY_STALL: FindingRule = {
  name: 'memory-stall',
  title: 'a machine or a control group that is short of memory',
  looks:
    'Measures the time for which some threads, and all threads, stood still because memory was short (/proc/pressure/memory); and how much of what was read from devices had been dropped from memory before, and how long threads were blocked for it.',
  needs: [],
  thresholds: { SOME, FULL, LONG, BLOCKED, MUCH_BLOCKED, AGAIN },
  knob: 'Use less memory (smaller pieces, fewer processes at a time), or provide more: a higher memory limit of the container or job (memory.max), a host with more memory.',
  explains: [
    ...['page-faults', 'device-wait', 'waiting-threads', 'late-rank'],
    ...['host-io-pressure', 'host-memory-pressure'],
  ],
  async run(subject) {
    const again = await rereads(subject, this.knob);
    if (again.length > 0) return again;
    if (!subject.has('process_pressure_rate')) return { lacks: 'process_pressure_rate' };
    const [worst] = await subject.recording.query<Stall>(SQL);
    if (worst === undefined) return [];
    const [some, full] = [worst.some_s / worst.seconds, worst.full_s / worst.seconds];
    const bad = full >= FULL.value;
    if (!bad && some < SOME.value) return [];
    const when =
      worst.from === null || worst.to === null
        ? ''
        : `, from ${worst.from.toFixed(2)} to ${worst.to.toFixed(2)} s`;
    return [
      {
        severity: bad ? 'problem' : 'notice',
        sentence: `Memory is short on ${worst.host}: for ${percent(some)} of the time some thread stood still because of it, for ${percent(full)} of the time all did${when}.`,
        evidence: { sql: SQL, rows: asRows([worst]) },
        ...expecting(this.knob, full, 'that time was spent fetching pages back'),
      },
    ];
  },
};
