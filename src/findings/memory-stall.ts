/** Threads that stand still because memory is short: pages are taken from them and read again. */
import { asRows, expecting, type FindingRule, OWN, percent } from './finding.ts';

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
    'Measures the time for which some threads, and all threads, stood still because memory was short (/proc/pressure/memory).',
  needs: ['process_pressure_rate'],
  thresholds: { SOME, FULL, LONG },
  knob: 'Use less memory (smaller pieces, fewer processes at a time), or provide more: a higher memory limit of the container or job (memory.max), a host with more memory.',
  explains: ['page-faults', 'device-wait', 'waiting-threads', 'late-rank'],
  async run({ recording }) {
    const [worst] = await recording.query<Stall>(SQL);
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
