/** Two of the recordings that this server shows, side by side. */
import { type Comparison, compareRecordings } from '../../report/index.ts';
import type { CompareFacts } from '../../view/facts/compare.ts';
import { SharedWork } from '../net/shared-work.ts';
import type { Shown } from '../shown.ts';
import { ApiError, type Route } from './route.ts';

/** By both recordings' states: a comparison reads all of both. */
const known = new WeakMap<Shown, WeakMap<Shown, SharedWork<CompareFacts>>>();

/** Courses are left out: the page draws its own. */
function factsOf({
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
  a: Shown,
  b: Shown,
  work: (signal: AbortSignal) => Promise<CompareFacts>,
): SharedWork<CompareFacts> {
  const others = known.get(a) ?? new WeakMap<Shown, SharedWork<CompareFacts>>();
  known.set(a, others);
  const answer = others.get(b) ?? new SharedWork(work);
  others.set(b, answer);
  return answer;
}

export const COMPARE: readonly Route[] = [
  {
    method: 'get',
    path: '/compare',
    summary: 'What changed from this recording to another',
    parameters: [
      {
        name: 'other',
        help: 'id of the other: see /api/recordings',
        schema: { type: 'string' },
        required: true,
      },
    ],
    gives:
      'settings that differ, facts, changes with their bounds and verdicts, findings gained and lost, hosts paired, notes: as `triscope diff --json`',
    answer: async (c, context) => {
      const a = await context.shown(c);
      const id = c.req.query('other') ?? '';
      const b = (await context.all(c)).find((one) => one.id === id);
      if (b === undefined) {
        throw new ApiError(404, `there is no recording ${JSON.stringify(id)}: see /api/recordings`);
      }
      const [pathA, pathB] = [a.path, b.path];
      if (pathA === null || pathB === null) {
        throw new ApiError(409, 'a run that is not recorded cannot be compared');
      }
      const work = async (signal: AbortSignal) =>
        factsOf(await compareRecordings(pathA, pathB, { signal }));
      return c.json(await compared(a, b, work).get(context.signal));
    },
  },
];
