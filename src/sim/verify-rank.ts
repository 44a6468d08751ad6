/** What `verify` does on the ranks of an MPI job: the same cases on each, compared on rank 0. */
import type { MpiWorld } from '../os/mpi/world.ts';
import type { CommitLog } from './commit-log.ts';
import { firstDifference } from './first-difference.ts';
import type { LoadedModel } from './load-model.ts';
import { sizedModel } from './run-model.ts';
import { configFor, type Settings } from './settings.ts';
import { simulate } from './simulate.ts';
import { type RankOptions, simulateRank } from './simulate-rank.ts';
import {
  MOST_EXAMINED,
  NOT_AGAIN,
  rowOf,
  TRIES,
  type VerifyOptions,
  type VerifyRow,
} from './verify.ts';
import { casesForRanks, chaosForRanks, type RankCase } from './verify-cases.ts';

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
  options: Pick<VerifyOptions, 'signal' | 'onCase' | 'chaos'> &
    Pick<RankOptions, 'mostSharing'> = {},
): Promise<VerifyRow[]> {
  const first = world.rank === 0;
  const sizedFor = settings.pes ?? 1;
  const { synch: _, ...rest } = settings;
  const alone: Settings = { ...rest, synch: 'sequential', pes: 1 };
  const { mostSharing = Infinity } = options;
  const run = { sizedFor, ...(options.signal && { signal: options.signal }) };
  const { lookahead, options: own } = configFor(loaded.model, settings);
  const rows: VerifyRow[] = [];
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
    chaos,
  }: RankCase): Promise<string> => {
    const truth = first ? await loggedAlone(loaded, alone, sizedFor) : [];
    for (let k = 0; k < TRIES; k++) {
      let difference: string | null = null;
      const onCommits = (logs: readonly CommitLog[]) => {
        const [a, b] = [
          { name: 'sequential', logs: truth },
          { name, logs },
        ];
        difference = firstDifference(sizedModel(loaded.model, own), a, b);
      };
      await simulateRank(world, loaded, how, {
        ...run,
        mostSharing,
        onCommits,
        ...(chaos && { chaos }),
      });
      if (agree(difference === null ? GO_ON : STOP) === STOP) return difference ?? '';
    }
    return NOT_AGAIN;
  };

  if (first) options.onCase?.('sequential', 0, 1);
  const truth = first ? await simulate(loaded, alone, run) : null;
  if (truth?.finished) rows.push(rowOf({ name: 'sequential' }, truth, truth));
  if (agree(truth?.finished ? GO_ON : STOP) === STOP) return rows;
  // What rank 0 alone knows, and all must go by.
  const memory = Float64Array.of((truth?.peakEvents ?? 0) * (truth?.eventBytes ?? 0));
  world.broadcast(new Uint8Array(memory.buffer));
  const lps = loaded.model.lps(own, { pes: sizedFor });
  const ground = { lookahead, lps, memory: memory[0] };
  const cases =
    options.chaos === undefined
      ? casesForRanks(settings, lookahead, world.size, mostSharing)
      : chaosForRanks(options.chaos, settings, ground, world.size, mostSharing);
  for (const [k, one] of cases.entries()) {
    if (first) options.onCase?.(one.name, k + 1, cases.length + 1);
    const { mostSharing, chaos } = one;
    const { finished, result } = await simulateRank(world, loaded, one.settings, {
      ...run,
      mostSharing,
      ...(chaos && { chaos }),
    });
    if (!finished) break;
    const row = truth && result && rowOf(one, result, truth);
    const examined = rows.filter((r) => r.difference).length;
    const examine =
      row !== null && !row.same && row.difference === undefined && examined < MOST_EXAMINED;
    const next = options.signal?.aborted ? STOP : examine ? EXAMINE : GO_ON;
    const wanted = agree(next);
    const difference = wanted === EXAMINE ? await whereDifferent(one) : '';
    if (row !== null) rows.push(difference === '' ? row : { ...row, difference });
    if (wanted === STOP) break;
  }
  return rows;
}
