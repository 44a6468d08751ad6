/** What `verify` does on the ranks of an MPI job: the same cases on each, compared on rank 0. */
import type { MpiWorld } from '../os/mpi/world.ts';
import type { CommitLog } from './commit-log.ts';
import { firstDifference } from './first-difference.ts';
import type { LoadedModel } from './load-model.ts';
import { configFor, type Settings } from './settings.ts';
import { simulate } from './simulate.ts';
import { type RankOptions, simulateRank } from './simulate-rank.ts';
import {
  casesForRanks,
  MOST_EXAMINED,
  NOT_AGAIN,
  type RankCase,
  rowOf,
  TRIES,
  type VerifyOptions,
  type VerifyRow,
} from './verify.ts';

/** What rank 0 wants next. */
const STOP = 0;
const GO_ON = 1;
const EXAMINE = 2;

/** Runs the sequential run, on rank 0 alone, with a log of what it commits. */
async function loggedAlone(
  loaded: LoadedModel,
  settings: Settings,
  sizedFor: number,
): Promise<readonly CommitLog[]> {
  let logs: readonly CommitLog[] = [];
  const onCommits = (all: readonly CommitLog[]) => {
    logs = all;
  };
  await simulate(loaded, settings, { sizedFor, onCommits });
  return logs;
}

/**
 * Runs `loaded` on all ranks of `world`, which call this alike, and compares with a sequential run on rank 0. The model
 * has the size that it has on `settings.pes` PEs.
 * @returns one row per run, the sequential one first, on rank 0; none on the others
 * @throws what any run throws: that must end the job
 */
export async function verifyRanks(
  world: MpiWorld,
  loaded: LoadedModel,
  settings: Settings = {},
  options: Pick<VerifyOptions, 'signal' | 'onCase'> & Pick<RankOptions, 'mostSharing'> = {},
): Promise<VerifyRow[]> {
  const first = world.rank === 0;
  const sizedFor = settings.pes ?? 1;
  const { synch: _, ...rest } = settings;
  const alone: Settings = { ...rest, synch: 'sequential', pes: 1 };
  const { mostSharing = Infinity } = options;
  const run = { sizedFor, ...(options.signal && { signal: options.signal }) };
  const { lookahead } = configFor(loaded.model, settings);
  const cases = casesForRanks(settings, lookahead, world.size, mostSharing);
  const rows: VerifyRow[] = [];
  const say = (index: number, name: string) => {
    if (first) options.onCase?.(name, index, cases.length + 1);
  };
  const agree = (word: number): number => {
    const bytes = Uint8Array.of(word);
    world.broadcast(bytes);
    return bytes[0];
  };

  /** Where the run differs: all ranks run it again, with logs. */
  const whereDifferent = async ({
    name,
    settings: how,
    mostSharing,
  }: RankCase): Promise<string> => {
    const truth = first ? await loggedAlone(loaded, alone, sizedFor) : [];
    for (let k = 0; k < TRIES; k++) {
      let difference: string | null = null;
      const onCommits = (logs: readonly CommitLog[]) => {
        const [a, b] = [
          { name: 'sequential', logs: truth },
          { name, logs },
        ];
        difference = firstDifference(loaded.model, a, b);
      };
      await simulateRank(world, loaded, how, { ...run, mostSharing, onCommits });
      if (agree(difference === null ? GO_ON : STOP) === STOP) return difference ?? '';
    }
    return NOT_AGAIN;
  };

  say(0, 'sequential');
  const truth = first ? await simulate(loaded, alone, run) : null;
  if (truth?.finished) rows.push(rowOf('sequential', truth, truth));
  if (agree(truth?.finished ? GO_ON : STOP) === STOP) return rows;
  for (const [k, one] of cases.entries()) {
    say(k + 1, one.name);
    const { mostSharing } = one;
    const { finished, result } = await simulateRank(world, loaded, one.settings, {
      ...run,
      mostSharing,
    });
    if (!finished) break;
    const row = truth && result && rowOf(one.name, result, truth);
    const examined = rows.filter((r) => r.difference).length;
    const examine = row !== null && !row.same && examined < MOST_EXAMINED;
    const next = options.signal?.aborted ? STOP : examine ? EXAMINE : GO_ON;
    const wanted = agree(next);
    const difference = wanted === EXAMINE ? await whereDifferent(one) : '';
    if (row !== null) rows.push(difference === '' ? row : { ...row, difference });
    if (wanted === STOP) break;
  }
  return rows;
}
