/** Every rule on two recordings of one kind: one just beyond its threshold, and one just short of it. */
import { afterAll, expect, it } from 'vitest';
import { FINDINGS } from '../../src/findings/index.ts';
import { JOB_RULES } from '../../src/findings/rules.ts';
import type { Batch } from '../../src/model/metric.ts';
import { PROCESS_PRESSURE } from '../../src/model/schemas/process.ts';
import {
  SIM_HANDLER,
  SIM_PE,
  SIM_RUN,
  SIM_STREAM,
  SIM_THREAD,
} from '../../src/model/schemas/sim.ts';
import {
  batchOf,
  framesOf,
  NOON,
  rawStats,
  recordingOf,
  type Values,
  writeFolder,
} from '../query/support/recording.ts';
import { CPU, MEM, NET } from './job/support/archive.ts';
import {
  findingsAt,
  kpSamples,
  lpSamples,
  newPath,
  peSamples,
  removeFolder,
  rollbacks,
} from './support/findings.ts';
import { HOST_CASES } from './support/hosts.ts';
import { LIMIT_PAIRS } from './support/limits.ts';
import { ALIGNED, cpi, INTEL, jobAt, report, reportText, user } from './support/machine.ts';
import { RANK_PAIRS } from './support/ranks.ts';
import { THREAD_PAIRS } from './support/threads.ts';

afterAll(removeFolder);

const run = (...batches: Batch[]): string =>
  writeFolder(newPath('.tri'), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(...batches),
  });

/** Of 1000 events handled each second. */
const undone = (events_rolled_back: number) => ({ events_processed: 1000, events_rolled_back });
const COSTLY = peSamples(undone(200));

/** A PE whose CPU is stolen for this share of four seconds. */
function stolen(share: number): string {
  const seconds = [0, 1, 2, 3, 4];
  return writeFolder(newPath('.tri'), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(peSamples(undone(0), undone(0))),
    'node/h1/1': rawStats(
      'h1',
      seconds.map((s) => ({
        time: NOON + s,
        cpus: [{ user: 100 * s }, { user: 100 * s * (1 - share), steal: 100 * s * share }],
      })),
    ),
  });
}

/** One KP among eight undoes so many events a second, the others 40. */
const culprit = (first: number) =>
  run(
    COSTLY,
    kpSamples(
      ...Array.from({ length: 8 }, (_, kp_id) => ({
        ...{ pe_id: 0, kp_id, events_processed: 1000 },
        events_rolled_back: kp_id === 0 ? first : 40,
      })),
    ),
  );

/** A late event undoes 100 events, of which a cascade does so many; others undo 100 one by one. */
const cascade = (more: number) =>
  run(
    COSTLY,
    rollbacks(
      { pe_id: 0, rollback_id: 1, source_pe: 1, source_lp: 5, events_undone: 100 - more },
      ...[{ pe_id: 1, rollback_id: 2, cause: 'cancellation', parent_pe: 0, parent_id: 1 }].map(
        (one) => ({ ...one, events_undone: more }),
      ),
    ),
  );

/** Eight KPs of so many LPs each. */
const sharing = (lps: number) =>
  run(
    COSTLY,
    lpSamples(
      ...Array.from({ length: 8 * lps }, (_, lp) => ({
        ...{ pe_id: 0, kp_id: lp % 8, events_processed: 100, events_rolled_back: 20 },
      })),
    ),
  );

/** So much is undone, in a run with so many KPs that was told to have as many. */
const onFewKps = (events_rolled_back: number, nkp: number) =>
  run(
    peSamples(undone(events_rolled_back)),
    facts({ nkp }),
    lpSamples(
      ...Array.from({ length: 8 * nkp }, (_, lp) => ({
        ...{ pe_id: 0, kp_id: lp % nkp, events_processed: 100, events_rolled_back: 20 },
      })),
    ),
  );

const waited = (seconds: number) =>
  run(
    batchOf(SIM_STREAM, [
      {
        ...{ pe_id: 1, real_time: 10, stream: 'evtrace', bytes: 1e6, waited: seconds * 1e3 },
        ...{ dropped_records: 0, dropped: 0 },
      },
    ]),
  );

const messages = (network_read_time: number) =>
  run(
    peSamples({
      ...{ events_processed: 1000, network_receives: 900, network_sends: 900 },
      ...{ network_read_time, network_other_time: 0 },
    }),
  );

const committing = (events_rolled_back: number) =>
  writeFolder(newPath('.tri'), {
    'recording.json': recordingOf(),
    'extra.frames': framesOf(peSamples({ events_processed: 100, events_rolled_back })),
    'run.report': reportText([{ ...ALIGNED, joules: 50 }]),
  });

const imc = (lines: number) => {
  const [reads, writes] = [0x400304, 0x400c04];
  return jobAt([INTEL, '!intel_snb_imc CTL0,C CTL1,C CTR0,E,W=48 CTR1,E,W=48'], {
    a: [0, lines].map((n) => [
      'intel_snb 0 0 0 0 0 0 0 0',
      `intel_snb_imc 0 ${reads} ${writes} ${n} 0`,
    ]),
  });
};
/** Bytes a second over Ethernet. */
const ethernet = (rate: number) =>
  jobAt([NET], { a: [0, 1].map((k) => [`net eth0 ${k * rate * 60} 0`]) });
const opens = (rate: number) =>
  jobAt(['!llite open,E close,E'], {
    a: [0, 1].map((k) => [`llite /work ${k * rate * 60} 0`]),
  });
const swapped = (rate: number) =>
  jobAt(['!vm pswpin,E pswpout,E'], { a: [0, 1, 2].map((k) => [`vm - ${k * rate * 60} 0`]) });
const inUse = (percent: number) =>
  jobAt([MEM], { a: [0, 1].map(() => [`mem 0 10000000 ${percent * 1e5} 0 0`]) });
const waiting = (joules: number) =>
  report([
    { ...ALIGNED, joules: 1000 - joules },
    { name: 'wait', runtime: 2, sync: 2, joules, network: 1.9 },
  ]);
const unaligned = (sync: number) =>
  report([ALIGNED, { name: 'exchange', runtime: 2, sync, joules: 100 }]);

/** The row of a run with these settings, of ten seconds and 1000 GVTs. */
const facts = (settings: Values) =>
  batchOf(SIM_RUN, [
    {
      ...{ synchroniser: 'optimistic', pes: 2, cpus: 2, lps: 64, nkp: 16, batch: 16 },
      ...{ gvt_interval: 16, lookahead: 1, max_memory: 1e9, wall: 10, gvts: 1000 },
      ...settings,
    },
  ]);

/** A conservative run that declares a lookahead of 1, 200,000 events in 10,000 GVTs. */
const conservative = (least_delay: number) =>
  run(
    peSamples({ events_processed: 20_000 }),
    facts({ synchroniser: 'conservative', gvts: 10_000, least_delay }),
  );

/** Two conservative PEs that declare a tenth of the lookahead that there is, and handle so many events in each of 1000 steps. */
const inStep = (events: number) =>
  run(
    peSamples({ events_processed: 200 * events }),
    facts({ synchroniser: 'conservative', gvts: 1, least_delay: 10 }),
    batchOf(SIM_PE, [{ pe_id: 0, steps: 1000 }]),
  );

/** A tenth of what is handled is taken back, in a run of this synchroniser. */
const takenBack = (synchroniser: string) =>
  run(
    peSamples({ events_processed: 1000 }),
    rollbacks({ cause: 'cancelback', events_undone: 1000 }),
    facts({ synchroniser }),
  );

/** PEs spend half of ten seconds on events, are short of memory for so long, and take back half of what is worth a finding. */
const shortFor = (memory_time: number) =>
  run(
    busyFor(0.5, {}),
    rollbacks({ cause: 'cancelback', events_undone: 100 }),
    facts({ wall: 10 }),
    batchOf(SIM_PE, [{ pe_id: 0, memory_time }]),
  );

/** A fifth of 10,000 events is undone by PEs that may run far ahead, of which so many to free memory. */
const farAhead = (events_undone: number) =>
  run(COSTLY, rollbacks({ cause: 'cancelback', events_undone }), facts({ batch: 128 }));

/** A job that does nothing from its middle on, with a sample every so many seconds. */
const stopping = (step: number) =>
  jobAt([CPU], { a: user(0, 6e3, 12e3, 18e3, 24e3, 24e3, 24e3, 24e3, 24e3) }, step);

/** Two hosts so many ms apart and back, and 1000 GVTs in ten seconds of PEs that are for half of it on events. */
function apart(ms: number): string {
  const offset = { at: '0', monotonic: '0', wall: '0', uncertainty: ms * 5e5 };
  const clock = { host: 'h2', rank: 1, same: true, start: offset, end: offset };
  return writeFolder(newPath('.tri'), {
    'recording.json': recordingOf({ clocks: [{ ...clock, drift: 0, driftUncertainty: 0 }] }),
    'extra.frames': framesOf(busyFor(0.5, {}), facts({})),
  });
}

/** Two PEs that spend so much of ten seconds on events. */
const busyFor = (share: number, more: Values) => {
  const sample = {
    ...{ events_processed: 1000, events_processed_time: share, priority_queue_time: 0 },
    ...{ rollback_time: 0, cancel_q_time: 0, fossil_collect_time: 0 },
    ...more,
  };
  return peSamples(sample, sample);
};

/** So many of 1000 events are undone, by PEs that are so long on events, and on undoing. */
const undoing = (events_rolled_back: number, onEvents: number, rollback_time: number) =>
  busyFor(onEvents, { events_rolled_back, rollback_time });

/** A run of so many seconds that spends 15 % of them on samples. */
const sampledFor = (wall: number) =>
  run(
    facts({ wall }),
    batchOf(SIM_PE, [{ pe_id: 0, sampling_time: 0.15 * wall }]),
    batchOf(SIM_STREAM, [{ pe_id: 0, stream: 'evtrace', waited: 0 }]),
  );

/** PEs that collect so many times a second, for a tenth of it. */
const collecting = (fossil_collect_attempts: number) =>
  run(peSamples({ ...undone(0), fossil_collect_attempts, fossil_collect_time: 0.1 }));

/** GVTs asked for after each event, one for 50 of a PE. */
const asked = (share: number) =>
  run(busyFor(share, { num_gvts: 200 }), facts({ gvt_interval: 1, batch: 1, gvts: 200 }));

/** So many of 1000 events come from the other PE. */
const fromOthers = (network_receives: number, share: number) =>
  run(busyFor(share, { network_receives, network_sends: network_receives }));

/** 1024 KPs, and PEs that spend so much of ten seconds on commits. */
const committingFor = (commit_time: number) =>
  run(
    peSamples({ events_processed: 1000 }),
    facts({ nkp: 1024 }),
    batchOf(SIM_PE, [{ pe_id: 0, commit_time }]),
  );

/** A PE that runs at 0.1 s steps, and does nothing for so long; of which it waits for the recorder so many ms. */
const still = (seconds: number, waited = 0) => {
  const sample = (k: number) => ({ pe_id: 0, cpu_time: BigInt(k * 1e8), run_queue_wait: 0n });
  return run(
    batchOf(
      SIM_THREAD,
      Array.from({ length: 20 }, (_, k) => ({
        ...sample(k),
        real_time: k < 10 ? k / 10 : k / 10 + seconds,
      })),
    ),
    batchOf(SIM_STREAM, [{ pe_id: 0, stream: 'evtrace', waited }]),
  );
};

/** PE 1 has the LPs of type b, of which an event costs so many times one of type a. */
const costly = (times: number) =>
  run(
    peSamples({ events_processed: 1000 }, { events_processed: 1000 }),
    batchOf(SIM_HANDLER, [
      { pe_id: 0, type: 'a', lps: 4, timed: 100, time: 1e-3 },
      { pe_id: 1, type: 'b', lps: 4, timed: 100, time: 1e-3 * times },
    ]),
  );

/** All stand still for this share of the time for want of memory. */
const short = (share: number) =>
  run(
    batchOf(
      PROCESS_PRESSURE,
      [0, 1, 2].map((k) => ({
        ...{ real_time: k, host: 'h1', resource: 'memory' },
        ...{ some: BigInt(Math.round(1e6 * k * share)), full: BigInt(Math.round(1e6 * k * share)) },
      })),
    ),
  );

/** By rule: the recording beyond, and the one short. */
const PAIRS: readonly (readonly [string, () => string, () => string])[] = [
  [
    'suspect-data',
    () => writeFolder(newPath('.tri'), { 'recording.json': recordingOf() }),
    () => run(COSTLY),
  ],
  ['instrumentation', () => waited(0.21), () => waited(0.19)],
  // 15 % of the time: of a run so short that is what starting takes.
  ['instrumentation', () => sampledFor(0.34), () => sampledFor(0.33)],
  ['stolen-cpu', () => stolen(0.06), () => stolen(0.04)],
  ['pause', () => still(0.5), () => still(0.3)],
  ['slow-link', () => apart(2.1), () => apart(1.9)],
  ['pause', () => still(1, 450), () => still(1, 550)],
  ['lookahead', () => conservative(2.1), () => conservative(1.9)],
  ['lookahead', () => inStep(9), () => inStep(11)],
  ['optimism', () => run(COSTLY, facts({ batch: 128 })), () => run(COSTLY, facts({ batch: 64 }))],
  ['too-many-kps', () => committingFor(1.1), () => committingFor(0.9)],
  ['slow-handlers', () => costly(3.1), () => costly(2.9)],
  ['memory-stall', () => short(0.11), () => short(0.09)],
  ['efficiency', () => run(peSamples(undone(205))), () => run(peSamples(undone(195)))],
  // A tenth undone, and undoing takes long.
  ['efficiency', () => run(undoing(100, 0.5, 0.16)), () => run(undoing(100, 0.5, 0.14))],
  ['rollback-culprits', () => culprit(170), () => culprit(150)],
  [
    'secondary-rollbacks',
    () => run(peSamples({ ...undone(200), total_rollbacks: 100, secondary_rollbacks: 51 })),
    () => run(peSamples({ ...undone(200), total_rollbacks: 100, secondary_rollbacks: 49 })),
  ],
  ['rollback-chains', () => cascade(26), () => cascade(24)],
  ['false-rollbacks', () => sharing(8), () => sharing(6)],
  ['false-rollbacks', () => onFewKps(105, 8), () => onFewKps(95, 8)],
  ['false-rollbacks', () => onFewKps(205, 16), () => onFewKps(195, 16)],
  [
    'imbalance',
    () => run(peSamples(undone(0), { events_processed: 590 })),
    () => run(peSamples(undone(0), { events_processed: 610 })),
  ],
  ['network-bound', () => messages(0.21), () => messages(0.19)],
  [
    'gvt-interval',
    () => run(peSamples({ ...undone(0), gvt_time: 0.11 })),
    () => run(peSamples({ ...undone(0), gvt_time: 0.09 })),
  ],
  ['gvt-interval', () => asked(0.74), () => asked(0.76)],
  ['network-bound', () => fromOthers(760, 0.7), () => fromOthers(740, 0.7)],
  ['network-bound', () => fromOthers(760, 0.74), () => fromOthers(760, 0.76)],
  ['memory-pressure', () => collecting(410), () => collecting(390)],
  ['memory-pressure', () => takenBack('optimistic'), () => takenBack('rollback-check')],
  ['memory-pressure', () => shortFor(6.1), () => shortFor(5.9)],
  ['optimism', () => farAhead(900), () => farAhead(1100)],
  ['catastrophe', () => stopping(8), () => stopping(7)],
  ['region-alignment', () => unaligned(1.79), () => unaligned(1.81)],
  ['energy-per-region', () => waiting(101), () => waiting(99)],
  ['energy-per-event', () => committing(99), () => committing(100)],
  ['low-frequency', () => report([ALIGNED], 89), () => report([ALIGNED], 91)],
  [
    'catastrophe',
    () => jobAt([CPU], { a: user(0, 6e3, 12e3, 18e3, 24e3, 24040, 24080, 24120, 24160) }),
    () => jobAt([CPU], { a: user(0, 6e3, 12e3, 18e3, 24e3, 24090, 24180, 24270, 24360) }),
  ],
  [
    'idle-nodes',
    () => jobAt([CPU], { a: user(0, 6000), b: user(0, 59) }),
    () => jobAt([CPU], { a: user(0, 6000), b: user(0, 61) }),
  ],
  ['high-cpi', () => cpi(100, 151), () => cpi(100, 149)],
  ['memory-bound', () => imc(5.05e10), () => imc(4.9e10)],
  ['wrong-interconnect', () => ethernet(1.01e7), () => ethernet(0.99e7)],
  ['metadata-storm', () => opens(10_100), () => opens(9900)],
  ['swap', () => swapped(1.05), () => swapped(0.95)],
  ['node-memory', () => inUse(91), () => inUse(89)],
  // A host 35 % behind the busiest is poor balance, one 25 % behind is fair.
  [
    'job-gauges',
    () => jobAt([CPU], { a: user(0, 6000), b: user(0, 3900) }),
    () => jobAt([CPU], { a: user(0, 6000), b: user(0, 4500) }),
  ],
  ['job-flags', () => cpi(100, 151), () => cpi(100, 149)],
  ...LIMIT_PAIRS,
  ...RANK_PAIRS,
  ...THREAD_PAIRS,
];

/** How it went is always told. */
const concerns = async (rule: string, path: string) =>
  (await findingsAt(path, rule)).filter(
    ({ severity }) => severity !== 'info' || ['energy-per-event', 'job-flags'].includes(rule),
  );

/** Every other rule says what turning its knob should bring, or why nobody can tell. */
const NOT_OF_SPEED = /^(?:energy-|suspect-data$|job-)/;
const SAYS_WHAT_IT_BRINGS =
  /times as fast: |How much faster that is cannot be told: |nothing gets faster/;

it('all rules are here', () => {
  // Those about hosts are in hosts.test.ts.
  const rules = [...PAIRS.map(([rule]) => rule), ...HOST_CASES.map(({ rule }) => rule)];
  expect([...new Set(rules)].sort()).toEqual(FINDINGS.map(({ name }) => name).sort());
});

it.each(PAIRS)(
  '%s fires beyond its threshold, and keeps silent short of it',
  async (rule, beyond, within) => {
    const found = await concerns(rule, beyond());
    expect(found).not.toEqual([]);
    if (!NOT_OF_SPEED.test(rule) && !JOB_RULES.some(({ name }) => name === rule)) {
      for (const { advice } of found) expect(advice).toMatch(SAYS_WHAT_IT_BRINGS);
    }
    expect(await concerns(rule, within())).toEqual([]);
  },
);

it('a job of less than a minute is not accused by a gauge', async () => {
  const poor = { a: user(0, 6000), b: user(0, 3900) };
  expect(await concerns('job-gauges', jobAt([CPU], poor, 60))).not.toEqual([]);
  expect(await concerns('job-gauges', jobAt([CPU], poor, 59))).toEqual([]);
});

it('a job shorter than the 15 minutes that a load is over is not called crowded by it', async () => {
  const loaded = (groups: number) =>
    jobAt([CPU, '!ps load_15'], {
      a: Array.from({ length: groups }, (_, k) => [`cpu 0 ${k * 6000} 0 0 0`, 'ps - 400']),
    });
  const crowded = async (path: string) =>
    (await concerns('job-gauges', path)).filter(({ sentence }) => sentence.includes('Not crowded'));
  expect(await crowded(loaded(15))).toEqual([]);
  const [{ sentence }] = await crowded(loaded(16));
  expect(sentence).toContain(
    'the gauge “Not crowded” is poor. The highest 15-minute load was 4.0 processes on 1 core',
  );
});
