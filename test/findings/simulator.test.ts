/** Findings about the simulator, each on a recording made for it and on one where it must keep silent. */
import { openRecording } from 'triscope/query';
import { afterAll, describe, expect, it } from 'vitest';
import { FINDINGS, type FindingRule, findAll } from '../../src/findings/index.ts';
import { ROSS_PE } from '../../src/model/schemas/ross.ts';
import { SIM_STREAM } from '../../src/model/schemas/sim.ts';
import {
  batchOf,
  framesOf,
  placeOf,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';
import {
  findingsAt,
  findingsOf,
  kpSamples,
  lpSamples,
  newPath,
  peSamples,
  removeFolder,
  rollbacks,
  said,
} from './support/findings.ts';

afterAll(removeFolder);

/** A fifth is rolled back; and nothing is. */
const COSTLY = { events_processed: 1000, events_rolled_back: 200 };
const CLEAN = { events_processed: 1000, events_rolled_back: 0 };

describe('rollback-culprits', () => {
  const rule = 'rollback-culprits';
  const kps = (first: number) =>
    kpSamples(
      ...Array.from({ length: 8 }, (_, kp_id) => ({
        ...{ pe_id: kp_id >> 2, kp_id: kp_id & 3, events_processed: 1000 },
        events_rolled_back: kp_id === 0 ? first : 40,
      })),
    );
  const lps = (first: number) =>
    rollbacks(
      { pe_id: 0, source_pe: 1, source_lp: 7, events_undone: first, depth: 2.5, rollback_id: 1 },
      ...[1, 2, 3, 4, 5, 6].map((source_lp) => ({
        ...{ pe_id: 1, source_pe: 0, source_lp, events_undone: 20, rollback_id: source_lp },
      })),
    );

  it('names the KP that undoes most, and the LP whose late events do', async () => {
    expect(said(await findingsOf(rule, [peSamples(COSTLY), kps(720), lps(280)]))).toEqual([
      'notice: KP 0 of PE 0 undid 720 of its 1,000 events: 72 % of all undone events, where an even share among 8 KPs would be 13 %.',
      'notice: LP 7 of PE 1 sent 1 late event, which undid 280 (70 % of the events undone by stragglers, up to 2.5 back).',
    ]);
  });

  it('names nobody where all do alike, or where little is undone', async () => {
    expect(await findingsOf(rule, [peSamples(COSTLY), kps(40), lps(20)])).toEqual([]);
    expect(await findingsOf(rule, [peSamples(CLEAN), kps(720), lps(280)])).toEqual([]);
  });
});

describe('secondary-rollbacks', () => {
  const of = (total_rollbacks: number, secondary_rollbacks: number, more = COSTLY) =>
    findingsOf('secondary-rollbacks', [
      peSamples({ ...more, total_rollbacks, secondary_rollbacks }),
    ]);

  it('fires where most rollbacks are caused by rollbacks', async () => {
    const [found] = await of(10, 6);
    expect(said([found])).toEqual([
      'notice: 60 % of 100 rollbacks are secondary: 1.5 for each late event.',
    ]);
    expect(found.evidence.rows).toEqual([{ pe_id: 0, rollbacks: 100, secondary: 60, primary: 40 }]);
    expect((await of(10, 8))[0].severity).toBe('notice');
    const bad = { events_processed: 1000, events_rolled_back: 340 };
    expect((await of(10, 8, bad))[0].severity).toBe('problem');
  });

  it('keeps silent where most are primary, or where rollbacks cost nothing', async () => {
    expect(await of(10, 4)).toEqual([]);
    expect(await of(10, 9, CLEAN)).toEqual([]);
  });
});

describe('rollback-chains', () => {
  // A late event of LP 5 takes KP 2 of PE 0 back; that takes PE 1 back twice, and that PE 0 again.
  const tree = [
    ...[{ pe_id: 0, kp_id: 2, rollback_id: 1, source_pe: 1, source_lp: 5, events_undone: 10 }],
    ...[2, 3].map((rollback_id) => ({
      ...{ pe_id: 1, rollback_id, cause: 'cancellation', parent_pe: 0, parent_id: 1 },
      events_undone: 20,
    })),
    {
      ...{ pe_id: 0, rollback_id: 4, cause: 'cancellation', parent_pe: 1, parent_id: 3 },
      events_undone: 30,
    },
  ];
  const single = { pe_id: 1, rollback_id: 9, source_lp: 3, events_undone: 20 };

  it('ranks cascades, and says who began the largest, how far back, and what it undid', async () => {
    const [found] = await findingsOf('rollback-chains', [
      peSamples(COSTLY),
      rollbacks(...tree, single),
    ]);
    expect(said([found])).toEqual([
      'notice: Cascades undid 70 % of 100 events; the largest began at 1 s, when a late event of LP 5 (PE 1) took KP 2 of PE 0 back by 1 of virtual time, and became 4 rollbacks on 2 PEs in 3 generations: 80 events undone, 10 of them at once.',
    ]);
    expect(found.evidence.rows.map((row) => [row.source_lp, row.rollbacks, row.undone])).toEqual([
      [5, 4, 80],
      [3, 1, 20],
    ]);
  });

  it('is no worse than what rollbacks cost: a problem where efficiency is one', async () => {
    const of = async (events_rolled_back: number) => {
      const samples = peSamples({ events_processed: 1000, events_rolled_back });
      const [found] = await findingsOf('rollback-chains', [samples, rollbacks(...tree, single)]);
      return found.severity;
    };
    expect([await of(340), await of(330)]).toEqual(['problem', 'notice']);
  });

  it('keeps silent where rollbacks cost little', async () => {
    expect(await findingsOf('rollback-chains', [peSamples(CLEAN), rollbacks(...tree)])).toEqual([]);
  });

  it('keeps silent where each rollback is by itself, and ends whatever the ids are', async () => {
    const own = [1, 2, 3].map((rollback_id) => ({ ...single, rollback_id }));
    expect(await findingsOf('rollback-chains', [peSamples(COSTLY), rollbacks(...own)])).toEqual([]);
    const circle = [
      { pe_id: 0, rollback_id: 1, parent_pe: 0, parent_id: 2, events_undone: 1 },
      { pe_id: 0, rollback_id: 2, parent_pe: 0, parent_id: 1, events_undone: 1 },
      ...[1, 2, 3].map(() => ({ pe_id: 0, rollback_id: 0, events_undone: 1 })),
    ];
    expect(await findingsOf('rollback-chains', [peSamples(COSTLY), rollbacks(...circle)])).toEqual(
      [],
    );
  });
});

describe('false-rollbacks', () => {
  const rule = 'false-rollbacks';
  /** LPs with 100 events each, on `kps` KPs. */
  const even = (kps: number) =>
    lpSamples(
      ...Array.from({ length: 32 }, (_, lp) => ({
        ...{ pe_id: 0, kp_id: lp % kps, events_processed: 100, events_rolled_back: 20 },
      })),
    );

  it('fires where many LPs share a KP: all but one of 16 are undone for the sake of one', async () => {
    const [found] = await findingsOf(rule, [peSamples(COSTLY), even(2)]);
    expect(said([found])).toEqual([
      'notice: 16 LPs share a KP: a late event for one LP undoes the events of all, and up to 93.8 % of 640 undone events belonged to other LPs.',
    ]);
    expect(found.advice).toMatch(/^Use more KPs: with about --nkp=8/);
  });

  it('weighs LPs by their events: one that does nearly all is its KP by itself', async () => {
    const one = lpSamples(
      ...Array.from({ length: 32 }, (_, lp) => ({
        ...{ pe_id: 0, kp_id: 0, events_processed: lp === 0 ? 10_000 : 10 },
        events_rolled_back: 20,
      })),
    );
    expect(await findingsOf(rule, [peSamples(COSTLY), one])).toEqual([]);
  });

  it('counts the LPs that rollbacks name where LPs were not sampled', async () => {
    const kp = kpSamples({ pe_id: 0, kp_id: 0, events_processed: 1000, events_rolled_back: 200 });
    const named = rollbacks(
      ...Array.from({ length: 10 }, (_, source_lp) => ({ source_lp, events_undone: 20 })),
    );
    expect(said(await findingsOf(rule, [peSamples(COSTLY), kp, named]))).toEqual([
      'notice: At least 10 LPs share a KP: a late event for one LP undoes the events of all, and up to 90 % of 200 undone events belonged to other LPs.',
    ]);
  });

  it('keeps silent with few LPs a KP, and where little is undone', async () => {
    expect(await findingsOf(rule, [peSamples(COSTLY), even(8)])).toEqual([]);
    expect(await findingsOf(rule, [peSamples(CLEAN), even(2)])).toEqual([]);
  });
});

describe('gvt-interval', () => {
  const rule = 'gvt-interval';

  it('fires where GVT takes much time', async () => {
    expect(said(await findingsOf(rule, [peSamples({ ...CLEAN, gvt_time: 0.15 })]))).toEqual([
      'notice: PEs spent 15 % of their time computing 1,000 GVTs, one for every 10 events of a PE.',
    ]);
  });

  it('fires where GVT comes too rarely for what is rolled back', async () => {
    const rare = { events_processed: 100_000, events_rolled_back: 20_000, num_gvts: 20 };
    const [found] = await findingsOf(rule, [peSamples(rare)]);
    expect(said([found])).toEqual([
      'notice: A PE handles 50,000 events between two GVTs (20 GVTs in all) and can commit none of them earlier; 20 % of all events were rolled back.',
    ]);
    expect(found.advice).toMatch(/smaller --gvt-interval/);
  });

  it('keeps silent between the two, where rare GVTs do no harm, and where the clock counts cycles', async () => {
    expect(await findingsOf(rule, [peSamples({ ...COSTLY, gvt_time: 0.05 })])).toEqual([]);
    expect(
      await findingsOf(rule, [peSamples({ events_processed: 100_000, num_gvts: 20 })]),
    ).toEqual([]);
    expect(await findingsOf(rule, [peSamples({ ...CLEAN, gvt_time: 1e6 })])).toEqual([]);
  });
});

describe('imbalance', () => {
  it('fires over PEs, and over hosts', async () => {
    const pes = [0, 1, 2, 3].map((pe) => placeOf({ pe, host: pe < 2 ? 'h1' : 'h2' }));
    const of = (events_processed: number) => ({ events_processed });
    const found = await findingsOf('imbalance', [peSamples(of(3000), of(2600), of(400), of(400))], {
      pes,
    });
    expect(said(found)).toEqual([
      'problem: PE 0 committed 1.88 times the mean of 4 PEs (30,000 events; PE 3 4,000): the others spend 47 % of the time waiting for it.',
      'problem: A PE of h1 committed 1.75 times the mean of 2 hosts’ PEs (28,000 events; A PE of h2 4,000): the others spend 43 % of the time waiting for it.',
    ]);
  });

  it('keeps silent where PEs have about the same', async () => {
    expect(
      await findingsOf('imbalance', [
        peSamples({ events_processed: 1100 }, { events_processed: 900 }),
      ]),
    ).toEqual([]);
  });
});

describe('network-bound', () => {
  const of = (network_read_time: number) =>
    findingsOf('network-bound', [
      peSamples({
        ...{ events_processed: 1000, network_receives: 900, network_sends: 900 },
        ...{ network_read_time, network_other_time: 0.1 },
      }),
    ]);

  it('fires where messages take the time', async () => {
    expect(said(await of(0.4))).toEqual([
      'problem: PE 0 spends 50 % of its time on messages (at least 50 %): for every 100 events that it handles, 90 arrive from other PEs.',
    ]);
  });

  it('keeps silent where they do not, and where one slow turn was timed', async () => {
    expect(await of(0.05)).toEqual([]);
    const once = batchOf(
      ROSS_PE,
      Array.from({ length: 10 }, (_, k) => ({
        ...{ pe_id: 0, mode: 'gvt', real_time: k + 1, events_processed: 1000 },
        ...{ network_read_time: k === 4 ? 9 : 0, network_other_time: 0 },
        ...{ network_sends: 1, network_receives: 1 },
      })),
    );
    expect(await findingsOf('network-bound', [once])).toEqual([]);
  });
});

describe('memory-pressure', () => {
  const rule = 'memory-pressure';

  it('fires where events are given up half-way', async () => {
    expect(said(await findingsOf(rule, [peSamples({ ...CLEAN, events_aborted: 20 })]))).toEqual([
      'problem: 200 events (2 %) were aborted because event memory was full.',
    ]);
  });

  it('fires where PEs collect fossils again and again', async () => {
    const [found] = await findingsOf(rule, [peSamples({ ...CLEAN, fossil_collect_attempts: 800 })]);
    expect(found.sentence).toMatch(/^PEs collect fossils 8 times for each GVT/);
  });

  it('fires where pending events grow', async () => {
    const grown = batchWith(10, (second) => 5000 * second);
    expect(said(await findingsOf(rule, [grown]))).toEqual([
      'notice: Pending events grow: 25,000 in the second quarter of the run, 47,500 in the last.',
    ]);
  });

  it('keeps silent where memory suffices', async () => {
    expect(
      await findingsOf(rule, [
        peSamples({ ...CLEAN, fossil_collect_attempts: 100, priority_queue_size: 20_000 }),
      ]),
    ).toEqual([]);
  });
});

/** Pending events of PE 0 by second. */
function batchWith(seconds: number, pending: (second: number) => number) {
  const { schema } = peSamples();
  return batchOf(
    schema,
    Array.from({ length: seconds }, (_, k) => ({
      ...{ pe_id: 0, mode: 'gvt', real_time: k + 1, num_gvts: k + 1, events_processed: 100 },
      priority_queue_size: pending(k + 1),
    })),
  );
}

describe('instrumentation', () => {
  const stream = (waited: number, dropped_records = 0) =>
    batchOf(SIM_STREAM, [
      {
        ...{ pe_id: 1, real_time: 10, stream: 'evtrace', bytes: 1e6 },
        ...{ waited, dropped_records, dropped: 0 },
      },
    ]);

  it('fires where PEs wait for the recorder, and where records are lost', async () => {
    expect(said(await findingsOf('instrumentation', [stream(1500, 12)]))).toEqual([
      'problem: PE 1 waited for the recorder for 15 % of the time (evtrace): the recorded run differs from one without instrumentation.',
      'notice: 12 records were dropped (evtrace): sums over samples are too low.',
    ]);
  });

  it('keeps silent where nobody waits and nothing is lost', async () => {
    expect(await findingsOf('instrumentation', [stream(10)])).toEqual([]);
  });
});

describe('suspect-data', () => {
  const ok = [peSamples(CLEAN)];

  it('tells of a run that was killed, one that failed, and of what was dropped', async () => {
    const source = {
      ...{ name: 'sim', files: [], zero: `${Date.parse('2026-03-01T12:00:00Z')}000000` },
      droppedBytes: 4096,
    };
    expect(said(await findingsOf('suspect-data', ok, { state: 'running' }))).toEqual([
      'notice: The recording has no end: its run was killed or is still going on. The other findings cover the part that was recorded.',
    ]);
    expect(
      said(
        await findingsOf('suspect-data', ok, {
          ...{ state: 'failed', error: 'out of event memory', sources: [source] },
        }),
      ),
    ).toEqual([
      'problem: The run failed: out of event memory. The other findings cover the part that was recorded.',
      'notice: 4,096 bytes of records were dropped because buffers or the disk were full.',
    ]);
  });

  it('tells of files that are listed and not there', async () => {
    const path = writeFolder(newPath('.tri'), { 'recording.json': recordingOf() });
    expect(said(await findingsAt(path, 'suspect-data'))).toEqual([
      'notice: 1 suspect spot in 1 file; the first: extra.frames: recording.json lists it, and it is not there.',
    ]);
  });

  it('keeps silent where all is well', async () => {
    expect(await findingsOf('suspect-data', ok)).toEqual([]);
  });
});

it('a rule that cannot look says so, and the others are heard', async () => {
  const path = writeFolder(newPath('.tri'), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(peSamples(CLEAN)),
  });
  const recording = await openRecording(path);
  try {
    const broken: FindingRule = {
      ...FINDINGS[0],
      name: 'broken',
      run: async () => {
        await recording.query('SELECT * FROM nowhere');
        return [];
      },
    };
    const found = await findAll(recording, { rules: [broken, ...FINDINGS] });
    expect(found.map(({ rule }) => rule)).toEqual(['broken', 'efficiency']);
    expect(found[0].sentence).toMatch(/^Rule broken could not be examined: .*nowhere/);
  } finally {
    await recording.close();
  }
});
