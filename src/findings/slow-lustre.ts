/** Lustre servers with long response times: if this host asks little, others keep them busy. */
import { bytes } from '../model/measures/index.ts';
import {
  asRows,
  type FindingParts,
  type FindingRule,
  graded,
  OWN,
  short,
  unforeseen,
} from './finding.ts';
import { type LossWindow, stretchOf, when } from './when.ts';

const SOME = {
  value: 50,
  unit: 'ms',
  means: 'a request, on average over the run: notice',
  source: `${OWN}: a disk’s seek, and a few in its queue`,
};
const MUCH = { value: 250, unit: 'ms', means: 'a request: problem', source: OWN };
const FEW = {
  value: 100,
  unit: '{request}',
  means: 'of a host at least: fewer prove nothing',
  source: OWN,
};
const LITTLE = {
  value: 100e6,
  unit: 'B/s',
  means: 'and less moved by this host: others keep the servers busy',
  source: `${OWN}: about one disk`,
};

const SERVERS = [
  { table: 'node_osc_rate', what: 'object', bytes: ['read_bytes', 'write_bytes'] },
  { table: 'node_mdc_rate', what: 'metadata', bytes: [] },
] as const;

const sql = (
  table: string,
  moved: string,
) => `SELECT host, device, sum(wait * (t - t0)) / sum(reqs * (t - t0)) / 1000 AS ms, sum(reqs * (t - t0)) AS requests,
  sum((${moved}) * (t - t0)) AS moved, sum(t - t0) AS seconds
FROM ${table} WHERE wait IS NOT NULL AND reqs IS NOT NULL GROUP BY host, device
HAVING sum(reqs * (t - t0)) >= ${FEW.value} ORDER BY ms DESC, host, device`;

interface Client {
  readonly host: string;
  readonly device: string;
  readonly ms: number;
  readonly requests: number;
  readonly moved: number;
  readonly seconds: number;
}

export const SLOW_LUSTRE: FindingRule = {
  name: 'slow-lustre',
  title: 'servers of Lustre that answer late',
  looks:
    'Measures the mean time of a request to the object servers and the metadata servers of Lustre (osc and mdc), and how much this host requested.',
  needs: [],
  thresholds: { SOME, MUCH, FEW, LITTLE },
  knob: 'If this host requests little, others keep the servers busy: ask the operators who, or try another file system or another time. Otherwise stripe large files over more servers (lfs setstripe -c), write in larger pieces, open files once.',
  async run({ recording, has }) {
    const there = SERVERS.filter(({ table }) => has(`${table}.wait`) && has(`${table}.reqs`));
    if (there.length === 0) return { lacks: 'requests to Lustre' };
    const found: FindingParts[] = [];
    for (const { table, what, bytes: keys } of there) {
      const told = keys.filter((key) => has(`${table}.${key}`));
      const query = sql(table, ['0', ...told.map((key) => `coalesce(${key}, 0)`)].join(' + '));
      const all = await recording.query<Client>(query);
      const [worst] = all;
      const severity = graded(worst?.ms ?? 0, SOME, MUCH);
      if (worst === undefined || severity === null) continue;
      const windows = await recording.query<LossWindow & { host: string; device: string }>(
        `SELECT host, device, t0, t, wait / nullif(reqs, 0) AS lost FROM ${table} ORDER BY t0`,
      );
      const stretch = stretchOf(
        windows.filter((one) => one.host === worst.host && one.device === worst.device),
      );
      const rate = worst.moved / worst.seconds;
      const who =
        rate <= LITTLE.value && told.length > 0
          ? `: it moved ${bytes(rate)}/s, so others keep them busy`
          : '';
      found.push({
        severity,
        sentence: `The ${what} servers of Lustre ${worst.device} took ${short(worst.ms)} ms for each of ${short(worst.requests)} requests of ${worst.host}${when(stretch)}${who}.`,
        evidence: { sql: query, rows: asRows([{ ...worst, ...stretch }, ...all.slice(1)]) },
        ...unforeseen(this.knob, 'requests overlap with each other and with work'),
      });
    }
    return found;
  },
};
