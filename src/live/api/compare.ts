/** Two of the recordings that this server shows, side by side. */
import { type Comparison, compareRecordings } from '../../report/index.ts';
import type { CompareFacts } from '../../view/facts/compare.ts';
import { SharedWork } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { ApiError, listOf, type Route } from './route.ts';

interface Known {
  /** All runs of A, then all of B, and how many are A's. */
  readonly runs: readonly Shown[];
  readonly ofA: number;
  readonly work: SharedWork<CompareFacts>;
}

/** By the recordings' states: a comparison reads all of all. */
const known = new WeakMap<Shown, Known[]>();
/** Comparisons that are kept of a run. */
const MOST_KNOWN = 8;

/** Courses are left out: the page draws its own. */
function compareFactsOf({
  settings,
  unlike,
  explanation,
  facts,
  changes,
  findings,
  hosts,
  notes,
}: Comparison): CompareFacts {
  const side = (one: Comparison['changes'][number]['a']) =>
    one === null ? null : { value: one.value, error: one.error };
  return {
    settings,
    unlike,
    explanation,
    facts,
    changes: changes.map((change) => ({ ...change, a: side(change.a), b: side(change.b) })),
    findings,
    hosts,
    notes,
  };
}

function compared(
  a: readonly Shown[],
  b: readonly Shown[],
  work: (signal: AbortSignal) => Promise<CompareFacts>,
): SharedWork<CompareFacts> {
  const runs = [...a, ...b];
  const before = known.get(runs[0]) ?? [];
  const found = before.find(
    (one) =>
      one.ofA === a.length &&
      one.runs.length === runs.length &&
      one.runs.every((run, k) => run === runs[k]),
  );
  const answer = found ?? { runs, ofA: a.length, work: new SharedWork(work) };
  known.set(runs[0], [answer, ...before.filter((one) => one !== found)].slice(0, MOST_KNOWN));
  return answer.work;
}

/** Runs of both sides, at most. */
const MOST_RUNS = 32;

export const COMPARE: readonly Route[] = [
  {
    method: 'get',
    path: '/compare',
    summary:
      'What changed from this recording, and others like it, to another, and others like that',
    parameters: [
      {
        name: 'other',
        help: 'id of the other: see /api/recordings; several, separated by commas: repeated runs of B, compared by their medians',
        schema: { type: 'string' },
        required: true,
      },
      {
        name: 'with',
        help: 'ids of further runs of A, separated by commas',
        schema: { type: 'string' },
      },
    ],
    gives:
      'settings that differ, why B took longer, facts, changes with their bounds and verdicts, findings gained and lost, hosts paired, notes: as `triscope diff --json`',
    answer: async (c, context) => {
      const all = await context.all(c);
      const find = (id: string): Shown => {
        const found = all.find((one) => one.id === id);
        if (found !== undefined) return found;
        const what = `there is no recording ${JSON.stringify(id)}: see /api/recordings`;
        throw new ApiError(404, what);
      };
      const a = [await context.shown(c), ...(listOf(c, 'with') ?? []).map(find)];
      const b = (listOf(c, 'other') ?? []).map(find);
      if (b.length === 0) throw new ApiError(400, 'other=… must name a recording');
      if (a.length + b.length > MOST_RUNS) {
        throw new ApiError(413, `${a.length + b.length} runs are more than ${MOST_RUNS}`);
      }
      const pathsOf = (runs: readonly Shown[]) =>
        runs.map(({ path }) => {
          if (path !== null) return path;
          throw new ApiError(409, 'a run that is not recorded cannot be compared');
        });
      const [pathsA, pathsB] = [pathsOf(a), pathsOf(b)];
      const work = async (signal: AbortSignal) =>
        compareFactsOf(await compareRecordings(pathsA, pathsB, { signal }));
      return c.json(await compared(a, b, work).get(context.signal));
    },
  },
];
