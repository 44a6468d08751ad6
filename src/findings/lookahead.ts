/** A conservative run that declares less lookahead than its model has: PEs synchronise far more often than necessary. */
import { asRows, expecting, type FindingRule, graded, OWN, short, whole } from './finding.ts';
import { FEW, runFactsOf, totalsOf } from './samples.ts';

const SOME = {
  value: 2,
  unit: '',
  means: 'times the declared lookahead is the smallest delay seen between LPs: notice',
  source: `${OWN}: a conservative PE handles what lies within one lookahead, and then waits for a GVT, or for the other one of two`,
};
const MUCH = { value: 8, unit: '', means: 'times: problem', source: OWN };
const EVENTS = {
  value: 64,
  unit: '{event}',
  means: 'of a PE between two GVTs: with more, the low lookahead does no harm',
  source: `${OWN}: one GVT costs about as much as 64 events`,
};
const STEP_EVENTS = {
  value: 10,
  unit: '{event}',
  means: 'of a PE between two steps, where two PEs go in step without GVTs: the same',
  source: `${OWN}: one step costs about as much as 10 events`,
};

/** @param steps SQL for how often a PE went on without a GVT */
const sqlOf = (steps: string): string =>
  `SELECT lookahead, least_delay, gvts, ${steps} AS steps, least_delay / nullif(lookahead, 0) AS times FROM sim_run`;

export const LOOKAHEAD: FindingRule = {
  name: 'lookahead',
  title: 'less lookahead declared than the model has',
  looks:
    'In a conservative run, compares the smallest delay of an event sent to another LP with the declared lookahead, and counts the events between two GVTs, or two steps where two PEs go on without GVTs.',
  needs: ['sim_run.least_delay', 'ross_pe'],
  thresholds: { SOME, MUCH, EVENTS, STEP_EVENTS },
  knob: 'Set --lookahead to the model’s smallest delay.',
  explains: ['gvt-interval', 'network-bound'],
  async run(subject) {
    const facts = await runFactsOf(subject);
    if (facts === null || facts.synchroniser !== 'conservative' || facts.least_delay === null) {
      return [];
    }
    const { processed } = await totalsOf(subject);
    const { lookahead, least_delay: least, pes, gvts } = facts;
    // Conservative PEs of recordings without that column made none.
    const sql = sqlOf(subject.has('sim_pe.steps') ? '(SELECT max(steps) FROM sim_pe)' : '0');
    const [row] = await subject.recording.query<{ steps: number | null }>(sql);
    const steps = row.steps ?? 0;
    const inStep = steps > gvts;
    const cost = inStep ? STEP_EVENTS : EVENTS;
    const said = inStep ? `${whole(steps)} steps` : `${whole(gvts)} GVTs`;
    const each = processed / pes / Math.max(1, steps + gvts);
    const times = lookahead > 0 ? least / lookahead : Number.POSITIVE_INFINITY;
    const severity = graded(times, SOME, MUCH);
    if (severity === null || least <= 0 || processed < FEW || each >= cost.value) return [];
    // Slightly less: in the next run, an event may come slightly sooner.
    const turn = { lookahead: Number((0.999 * least).toPrecision(3)) };
    const lost = inStep
      ? 1 - (1 + cost.value / (each * times)) / (1 + cost.value / each)
      : 1 - Math.max(each / cost.value, 1 / times);
    const why = `there were ${said}, one for every ${short(each)} events of a PE, and ${short(times)} times fewer would do`;
    return [
      {
        severity,
        sentence: `No event was sent to another LP with a delay below ${short(least)}, but --lookahead=${short(lookahead)} makes PEs synchronise ${Number.isFinite(times) ? `${short(times)} times as often as necessary` : 'at every event'}: ${said} for ${whole(processed)} events.`,
        evidence: { sql, rows: asRows([row]) },
        ...expecting(
          `Declare the model’s real lookahead: --lookahead=${turn.lookahead}.`,
          lost,
          why,
        ),
        turn,
      },
    ];
  },
};
