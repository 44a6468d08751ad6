/** The ways in which `sim verify` runs a model. */
import { type ChaosGround, chaosCase } from './chaos-case.ts';
import type { Settings } from './settings.ts';
import { type ChaosSettings, CROWDED } from './transport/chaos.ts';

/** One way of running the model. */
export interface VerifyCase {
  readonly name: string;
  readonly settings: Settings;
  readonly chaos?: ChaosSettings;
}

/** The same on MPI ranks, of which at most this many per machine share memory. */
export interface RankCase extends VerifyCase {
  readonly mostSharing: number;
}

/** The chaos that is asked for: this many seeds from the first on. */
export interface ChaosRuns {
  readonly first: number;
  readonly runs: number;
}

/** Settings that change how to run, not what: if given, they make a case of their own. */
const HOW = ['synch', 'nkp', 'batch', 'gvtInterval', 'maxOptLookahead'] as const;

export const whatOf = (settings: Settings): Settings =>
  Object.fromEntries(
    Object.entries(settings).filter(([name]) => !(HOW as readonly string[]).includes(name)),
  );

const asksHow = (settings: Settings) => HOW.some((name) => settings[name] !== undefined);

/** A turn sends more than there is room for: rings or batches have one slot. */
const crowded = <C extends VerifyCase>(
  of: (name: string, how: Settings, mostSharing?: number) => C,
  lookahead: number,
  where: string,
  mostSharing?: number,
): C[] =>
  (lookahead > 0 ? (['conservative', 'optimistic'] as const) : (['optimistic'] as const)).map(
    (synch) => ({
      ...of(`${synch}, ${where}`, { synch, batch: 256 }, mostSharing),
      chaos: CROWDED,
    }),
  );

/** What to run on the ranks of an MPI job, one PE each. */
export function casesForRanks(
  settings: Settings,
  lookahead: number,
  ranks: number,
  sharing: number,
): RankCase[] {
  const what = whatOf(settings);
  const of = (name: string, how: Settings, mostSharing = sharing): RankCase => ({
    name: name.replace('N', `${ranks} rank${ranks === 1 ? '' : 's'}`),
    settings: { ...what, pes: ranks, ...how },
    mostSharing,
  });
  const synch = 'optimistic';
  return [
    ...(lookahead > 0 ? [of('conservative, N', { synch: 'conservative' })] : []),
    of('optimistic, N', { synch }),
    ...crowded(of, lookahead, 'N, rings of one slot'),
    ...(sharing > 1 ? crowded(of, lookahead, 'N, nothing shared, batches of one', 1) : []),
    ...(sharing > 1 ? [of('optimistic, N, nothing shared', { synch }, 1)] : []),
    of('optimistic, N, nkp 1, batch 1, gvt 4', { synch, nkp: 1, batch: 1, gvtInterval: 4 }),
    of('optimistic, N, nkp 64, batch 256, gvt 64', {
      synch,
      nkp: 64,
      batch: 256,
      gvtInterval: 64,
    }),
    of('optimistic-realtime, N', { synch: 'optimistic-realtime', gvtInterval: 5 }),
    ...(asksHow(settings) ? [of('as given, N', { synch, ...settings, pes: ranks })] : []),
  ];
}

/** Chaos on the ranks of an MPI job. */
export const chaosForRanks = (
  { first, runs }: ChaosRuns,
  settings: Settings,
  ground: ChaosGround,
  ranks: number,
  sharing: number,
): RankCase[] =>
  Array.from({ length: runs }, (_, k) => {
    const one = chaosCase(first + k, whatOf(settings), ground, ranks);
    return { ...one, mostSharing: one.shares ? sharing : 1 };
  });

/** What to run besides sequential. `lps` bounds the number of PEs. */
export function casesFor(settings: Settings, lookahead: number, lps: number): VerifyCase[] {
  const what = whatOf(settings);
  const of = (name: string, how: Settings): VerifyCase => ({ name, settings: { ...what, ...how } });
  const optimistic = (pes: number, how: Settings = {}) => {
    const knobs = Object.entries({ nkp: how.nkp, batch: how.batch, gvt: how.gvtInterval })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `, ${name} ${value}`);
    const name = `optimistic, ${pes} PE${pes === 1 ? '' : 's'}${knobs.join('')}`;
    return of(name, { synch: 'optimistic', pes, ...how });
  };
  const cases = [
    of('rollback-check', { synch: 'rollback-check', pes: 1 }),
    of('optimistic-debug', { synch: 'optimistic-debug', pes: 1 }),
    ...(lookahead > 0
      ? [1, 2].map((pes) =>
          of(`conservative, ${pes} PE${pes === 1 ? '' : 's'}`, { synch: 'conservative', pes }),
        )
      : []),
    optimistic(1),
    optimistic(2),
    optimistic(2, { nkp: 1, batch: 1, gvtInterval: 4 }),
    optimistic(2, { nkp: 64, batch: 256, gvtInterval: 64 }),
    optimistic(4, { nkp: 4 }),
    ...crowded((name, how) => of(name, { ...how, pes: 2 }), lookahead, '2 PEs, rings of one slot'),
    of('optimistic-realtime, 2 PEs', { synch: 'optimistic-realtime', pes: 2, gvtInterval: 5 }),
  ];
  const asked = asksHow(settings) || (settings.pes ?? 1) > 1;
  if (asked) cases.push({ name: 'as given', settings });
  return cases.filter((c) => (c.settings.pes ?? 1) <= lps);
}
