/**
 * The same numbers mean different things in different versions of ROSS: 3 is GVT and real time in 2017, virtual time since 2018, when
 * 4 became all three; `--granularity=1` is KPs and LPs, later KPs. Options that came or went with the change tell which is meant.
 */
import type { GivenOptions } from './config.ts';

export const ERAS = { 'ross-2017': 2017, 'ross-7': 7 } as const;
export type Era = keyof typeof ERAS;

/** Options whose numbers changed their meaning. */
const NUMBERED = ['engine-stats', 'model-stats'] as const;

/** Options that came with virtual-time sampling. */
const SINCE = ['vt-interval', 'vt-samp-end', 'sample-count', 'pe-data', 'kp-data', 'lp-data'];

/** Options that no longer existed then. */
const UNTIL = ['enable-gvt-stats', 'real-time-samp'];

const TAKEN_FOR: Readonly<Record<Era, string>> = {
  'ross-2017': 'gvt and rt, as in ROSS of 2017 (vt in ROSS 7)',
  'ross-7': 'vt, as in ROSS 7 (gvt and rt in ROSS of 2017)',
};

interface EraTaken {
  readonly era: Era;
  /** One line per number whose meaning may be different. */
  readonly notes: readonly string[];
}

/** The era of the numbers in `given`: the one in `--stats-era`, else the one that the other options tell, else 2017. */
export function eraOf(given: GivenOptions): EraTaken {
  const explicit = given.get('stats-era');
  if (explicit !== undefined) return { era: explicit as Era, notes: [] };
  const numbers = (name: string) => String(given.get(name) ?? '').split(',');
  const holding = (number: string) => NUMBERED.filter((name) => numbers(name).includes(number));
  const threes = holding('3');
  const fours = holding('4');
  if (threes.length + fours.length === 0) return { era: 'ross-2017', notes: [] };
  const granularity = given.get('granularity');
  const has = (name: string) => given.has(name);
  const since = SINCE.find(has) ?? (Number(granularity) > 1 ? 'granularity' : undefined);
  const until = UNTIL.find(has) ?? (Number(granularity) <= 1 ? 'granularity' : undefined);
  const era: Era = fours.length > 0 || since !== undefined ? 'ross-7' : 'ross-2017';
  const notes: string[] = [];
  const decided = fours.length > 0 || (since === undefined) !== (until === undefined);
  for (const name of decided ? [] : threes) {
    notes.push(`--${name}=3 is taken for ${TAKEN_FOR[era]}; words are never ambiguous`);
  }
  if (era === 'ross-7' && granularity === 1) {
    notes.push(
      '--granularity=1 is taken for KPs, as in ROSS of 2018 (PEs, KPs and LPs in ROSS of 2017); --kp-data and --lp-data are never ambiguous',
    );
  }
  return { era, notes };
}
