/** A conservative run that declares less lookahead than its model has: PEs synchronise far more often than necessary. */
import { asRows, expecting, type FindingRule, graded, OWN, short, whole } from './finding.ts';
import { FEW, runFactsOf, totalsOf } from './samples.ts';

const SOME = {
  value: 2,
  unit: '',
  means: 'times the declared lookahead is the smallest delay seen between LPs: notice',
  source: `${OWN}: a conservative PE handles what lies within one lookahead, and then waits for a GVT`,
};
const MUCH = { value: 8, unit: '', means: 'times: problem', source: OWN };
const EVENTS = {
  value: 64,
  unit: '{event}',
  means: 'of a PE between two GVTs: with more, the low lookahead does no harm',
  source: `${OWN}: one GVT costs about as much as 64 events`,
};

const SQL =
  'SELECT lookahead, least_delay, gvts, least_delay / nullif(lookahead, 0) AS times FROM sim_run';

export const LOOKAHEAD: FindingRule = {
  name: 'lookahead',
  title: 'less lookahead declared than the model has',
  looks:
    'In a conservative run, compares the smallest delay of an event sent to another LP with the declared lookahead, and counts the events between two GVTs.',
  needs: ['sim_run.least_delay', 'ross_pe'],
  thresholds: { SOME, MUCH, EVENTS },
  knob: 'Set --lookahead to the model’s smallest delay.',
  explains: ['gvt-interval', 'network-bound'],
  async run(subject) {
    const facts = await runFactsOf(subject);
    if (facts === null || facts.synchroniser !== 'conservative' || facts.least_delay === null) {
      return [];
    }
    const { processed } = await totalsOf(subject);
    const { lookahead, least_delay: least, pes, gvts } = facts;
    const each = processed / pes / Math.max(1, gvts);
    const times = lookahead > 0 ? least / lookahead : Number.POSITIVE_INFINITY;
    const severity = graded(times, SOME, MUCH);
    if (severity === null || least <= 0 || processed < FEW || each >= EVENTS.value) return [];
    // Slightly less: in the next run, an event may come slightly sooner.
    const turn = { lookahead: Number((0.999 * least).toPrecision(3)) };
    const lost = 1 - Math.max(each / EVENTS.value, 1 / times);
    const why = `there were ${whole(gvts)} GVTs, one for every ${short(each)} events of a PE, and ${short(times)} times fewer would do`;
    return [
      {
        severity,
        sentence: `No event was sent to another LP with a delay below ${short(least)}, but --lookahead=${short(lookahead)} makes PEs synchronise ${Number.isFinite(times) ? `${short(times)} times as often as necessary` : 'at every event'}: ${whole(gvts)} GVTs for ${whole(processed)} events.`,
        evidence: { sql: SQL, rows: asRows([facts]) },
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
