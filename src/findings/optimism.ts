/** A setting that lets PEs run so far ahead that much of their work is undone. */
import { asRows, expecting, type FindingRule, graded, OWN, percent, short } from './finding.ts';
import {
  BAD,
  cancelbacksOf,
  INVITED,
  type KnownRun,
  ROLLBACK_SIGNS,
  runFactsOf,
  totalsOf,
  undoneShare,
} from './samples.ts';

const SOME = {
  value: INVITED,
  unit: 'share',
  means: 'of the handled events were rolled back, and a setting allows it: notice',
  source: OWN,
};
const MUCH = { value: BAD, unit: 'share', means: 'rolled back: problem', source: 'as efficiency' };
const BATCH = {
  value: 128,
  unit: '{event}',
  means: 'per turn (--batch) or more: the setting allows it',
  source: `${OWN}: eight times the default; events that arrive during a turn wait for its end`,
};
const INTERVAL = {
  value: 128,
  unit: '{turn}',
  means: 'between GVTs (--gvt-interval) or more, with a given window: the setting allows it',
  source: `${OWN}: eight times the default`,
};

const SQL = 'SELECT batch, gvt_interval, max_opt_lookahead, synchroniser FROM sim_run';

/** The defaults of `sim run`. */
const USUAL = { batch: 16, 'gvt-interval': 16 };

interface Knob {
  readonly words: string;
  readonly turn: Readonly<Record<string, number | null>>;
}

function knobsOf({ batch, gvt_interval, max_opt_lookahead, synchroniser }: KnownRun): Knob[] {
  const bounded = max_opt_lookahead !== null;
  const rare = bounded && gvt_interval >= INTERVAL.value && synchroniser === 'optimistic';
  return [
    ...(batch >= BATCH.value ? [{ words: `--batch=${batch}`, turn: { batch: USUAL.batch } }] : []),
    ...(bounded
      ? [
          {
            words: `--max-opt-lookahead=${short(max_opt_lookahead)}`,
            turn: { 'max-opt-lookahead': null },
          },
        ]
      : []),
    ...(rare
      ? [
          {
            words: `--gvt-interval=${gvt_interval}`,
            turn: { 'gvt-interval': USUAL['gvt-interval'] },
          },
        ]
      : []),
  ];
}

const wordsOf = (turn: Knob['turn']): string =>
  Object.entries(turn)
    .map(([name, value]) => (value === null ? `no --${name}` : `--${name}=${value}`))
    .join(', ');

export const OPTIMISM: FindingRule = {
  name: 'optimism',
  title: 'a setting that lets PEs run too far ahead',
  looks:
    'If many events are rolled back, checks whether the run was given a large batch, a fixed window in place of the adaptive one, or infrequent GVTs.',
  needs: ['sim_run', 'ross_pe'],
  thresholds: { SOME, MUCH, BATCH, INTERVAL },
  knob: 'Use a smaller --batch or --gvt-interval, and no --max-opt-lookahead (so that the window adapts) or a smaller one.',
  explains: ROLLBACK_SIGNS,
  async run(subject) {
    const facts = await runFactsOf(subject);
    const { processed, undone } = await totalsOf(subject);
    // What was undone to free memory is no sign of this.
    const taken = await cancelbacksOf(subject);
    const share = undoneShare({ processed, undone: Math.max(0, undone - taken.undone) });
    const severity = graded(share, SOME, MUCH);
    const knobs = facts === null ? [] : knobsOf(facts);
    if (facts === null || severity === null || knobs.length === 0) return [];
    const turn = Object.assign({}, ...knobs.map((one) => one.turn)) as Knob['turn'];
    const why = `${percent(share)} of the handled events were wasted work`;
    return [
      {
        severity,
        sentence: `PEs may run far ahead of each other (${knobs.map(({ words }) => words).join(', ')}), and ${percent(share)} of the handled events were rolled back.`,
        evidence: { sql: SQL, rows: asRows([facts]) },
        ...expecting(`Keep PEs from running so far ahead: ${wordsOf(turn)}.`, share, why),
        turn,
      },
    ];
  },
};
