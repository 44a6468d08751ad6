/** A control group that uses nearly all of its memory limit: beyond it, the kernel kills its processes. */
import { bytes } from '../model/measures/index.ts';
import { asRows, type FindingParts, type FindingRule, graded, OWN, percent } from './finding.ts';

const SOME = {
  value: 0.9,
  unit: 'share',
  means: 'of the limit in use, without the page cache: notice',
  source: `${OWN}; as node-memory`,
};
const MUCH = {
  value: 0.97,
  unit: 'share',
  means: 'of the limit, or a process that was killed for it: problem',
  source: OWN,
};

const BINARY = { binary: true };

const SQL = `WITH share AS (SELECT *, used / "limit" AS share FROM process_limit WHERE "limit" > 0)
SELECT host, cgroup, max(share) AS share, arg_max(used, share)::DOUBLE AS used, arg_max("limit", share)::DOUBLE AS "limit",
  (max(killed) - min(killed))::DOUBLE AS killed, min(t) FILTER (share >= ${SOME.value}) AS "from", max(t) FILTER (share >= ${SOME.value}) AS "to"
FROM share GROUP BY host, cgroup ORDER BY killed DESC, share DESC, host, cgroup`;

const PROCESSES = `SELECT host, m.process_id, any_value(i.name) AS name, max(resident)::DOUBLE AS resident
FROM process_memory m LEFT JOIN (SELECT host, process_id, arg_max(name, t) AS name FROM process_info GROUP BY ALL) i USING (host, process_id)
GROUP BY host, m.process_id ORDER BY resident DESC LIMIT 1`;

interface Group {
  readonly host: string;
  readonly cgroup: string;
  readonly share: number;
  readonly used: number;
  readonly limit: number;
  readonly killed: number;
  readonly from: number | null;
  readonly to: number | null;
}

export const MEMORY_LIMIT: FindingRule = {
  name: 'memory-limit',
  title: 'a memory limit that is nearly reached',
  looks:
    'Compares the memory that the command’s control groups use with their limits (memory.max, memory.current, memory.events), and names the process that uses most of it.',
  needs: ['process_limit'],
  thresholds: { SOME, MUCH },
  knob: 'Ask for more memory (of a job, --mem; of a container, its limit), or use less (smaller pieces, fewer processes at a time): at the limit, processes are killed. Below the limit more memory is of no use: nothing gets faster.',
  async run({ recording, has }) {
    const groups = await recording.query<Group>(SQL);
    const found: FindingParts[] = [];
    for (const one of groups) {
      const severity = one.killed > 0 ? 'problem' : graded(one.share, SOME, MUCH);
      if (severity === null) continue;
      const [most] = has('process_memory')
        ? await recording.query<{ process_id: number; name: string | null; resident: number }>(
            PROCESSES,
          )
        : [];
      const time =
        one.from === null || one.to === null || one.to <= one.from
          ? ''
          : `, from ${one.from.toFixed(2)} to ${one.to.toFixed(2)} s`;
      const many = one.killed === 1 ? 'a process' : `${one.killed} processes`;
      const killed = one.killed > 0 ? `; the kernel killed ${many} for it` : '';
      const who =
        most === undefined
          ? ''
          : `; process ${most.process_id} (${most.name ?? '?'}) had most, ${bytes(most.resident, BINARY)}`;
      found.push({
        severity,
        sentence: `Control group ${one.cgroup} of ${one.host} had ${percent(one.share)} of the ${bytes(one.limit, BINARY)} that it may have in use${time}${killed}${who}.`,
        evidence: { sql: SQL, rows: asRows([one]) },
        advice: this.knob,
      });
    }
    return found;
  },
};
