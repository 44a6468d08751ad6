/** PHOLD against genuine runs of ROSS: the same counts, the same events, in the same order. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunResult, type Settings, simulate } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import traced, { type Committed, committed, parseLine } from './support/traced-phold.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const golden = (...path: string[]) => join(GOLDEN ?? '', 'ross', ...path);

/** As in phold-counts.json. */
interface Configuration {
  readonly total_lps: number;
  readonly start_events: number;
  readonly end: number;
  readonly mean: number;
  readonly lookahead: number;
  readonly remote: number;
  readonly stagger: number;
  readonly net_events: number;
  readonly events_past_end: number;
}

const CONFIGURATIONS: readonly Configuration[] = GOLDEN
  ? JSON.parse(readFileSync(golden('phold-counts.json'), 'utf8'))
  : [];

const MEMORY = 2 ** 28;

function phold(c: Configuration, settings: Settings): Promise<RunResult> {
  return simulate('phold', {
    maxMemory: MEMORY,
    end: c.end,
    lookahead: c.lookahead,
    options: {
      'total-lps': c.total_lps,
      'start-events': c.start_events,
      mean: c.mean,
      remote: c.remote,
      stagger: c.stagger !== 0,
    },
    ...settings,
  });
}

const VARIANTS: readonly Settings[] = [
  { synch: 'sequential' },
  { synch: 'conservative', pes: 2 },
  { synch: 'optimistic', pes: 2 },
];
/** One more of these for each configuration, in turn. */
const MORE: readonly Settings[] = [
  { synch: 'optimistic', pes: 2, nkp: 4, batch: 64, gvtInterval: 8 },
  { synch: 'optimistic', pes: 1, nkp: 1, batch: 1, gvtInterval: 64 },
  { synch: 'optimistic', pes: 2, nkp: 64, batch: 2, gvtInterval: 128 },
  { synch: 'conservative', pes: 1 },
];
/** Runs of more events than this are made once sequentially and once in parallel. */
const MANY = 100_000;
const FEW: readonly Settings[] = [
  { synch: 'sequential' },
  { synch: 'optimistic', pes: 2, nkp: 16, batch: 16, gvtInterval: 64 },
];

const words = (settings: Settings) =>
  Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

describe.skipIf(!GOLDEN)("PHOLD's committed counts (needs TRISCOPE_GOLDEN)", () => {
  it('are those of ten configurations', () => {
    expect(CONFIGURATIONS.length).toBe(10);
  });

  describe.each(CONFIGURATIONS)(
    '$total_lps LPs x $start_events, end $end, lookahead $lookahead, remote $remote',
    (configuration) => {
      const more = MORE[CONFIGURATIONS.indexOf(configuration) % MORE.length] as Settings;
      const variants = configuration.net_events > MANY ? FEW : [...VARIANTS, more];
      it.each(variants.map((v) => [words(v), v] as const))('%s', async (_name, settings) => {
        const run = await phold(configuration, settings);
        expect([run.netEvents, run.eventsPastEnd]).toEqual([
          configuration.net_events,
          configuration.events_past_end,
        ]);
        expect(run.lps).toBe(configuration.total_lps);
        expect(run.finished).toBe(true);
        expect(run.eventsProcessed - run.eventsRolledBack).toBe(run.netEvents);
      });
    },
  );
});

/** Records of a `--event-trace` file: u32 source, u32 destination, f32 send, f32 receive, f32 real, u32 n. */
function readTrace(run: string): Committed[] {
  const bytes = readFileSync(golden(run, 'ross-stats-evtrace.bin'));
  const records: Committed[] = [];
  for (let at = 0; at < bytes.length; at += 24) {
    expect(bytes.readUInt32LE(at + 20)).toBe(0);
    records.push({
      source: bytes.readUInt32LE(at),
      destination: bytes.readUInt32LE(at + 4),
      sendTime: bytes.readFloatLE(at + 8),
      receiveTime: bytes.readFloatLE(at + 12),
    });
  }
  return records;
}

/** As the file has it: times as 32-bit floats. */
const rounded = ({ source, destination, sendTime, receiveTime }: Committed): Committed => ({
  source,
  destination,
  sendTime: Math.fround(sendTime),
  receiveTime: Math.fround(receiveTime),
});

const byAll = (a: Committed, b: Committed) =>
  a.receiveTime - b.receiveTime ||
  a.sendTime - b.sendTime ||
  a.source - b.source ||
  a.destination - b.destination;

const sorted = (events: readonly Committed[]) => events.map(rounded).sort(byAll);

/** Runs the traced PHOLD in this thread and returns what it committed, in order. */
async function tracedHere(settings: Settings): Promise<Committed[]> {
  committed.length = 0;
  await simulate(traced, { maxMemory: MEMORY, ...settings });
  return committed.slice();
}

/** --nlp=4 on two processes, --lookahead=0.1 --end=200 --nkp=2. */
const M = { end: 200, lookahead: 0.1, options: { lps: 8 } } as const;
/** --nlp=6 --lookahead=0.2 --end=150 --start-events=2. */
const V8 = { end: 150, lookahead: 0.2, options: { lps: 6, 'start-events': 2 } } as const;

describe.skipIf(!GOLDEN)("PHOLD's committed events (needs TRISCOPE_GOLDEN)", () => {
  it.each([
    ['m-seq-ev1', M, 1617],
    ['v8-seq-ev1', V8, 1815],
  ] as const)('come in the order of the sequential trace %s', async (run, settings, count) => {
    const want = readTrace(run);
    expect(want.length).toBe(count);
    const got = await tracedHere({ synch: 'sequential', ...settings });
    expect(got.map(rounded)).toEqual(want);
  });

  it.each([
    { synch: 'sequential' },
    { synch: 'optimistic', nkp: 2 },
    { synch: 'optimistic', nkp: 1 },
    { synch: 'optimistic', nkp: 8, batch: 1, gvtInterval: 1 },
    { synch: 'conservative' },
    { synch: 'optimistic-debug' },
    { synch: 'rollback-check' },
  ] as Settings[])('are those of the optimistic trace m-opt2-ev3: %j', async (settings) => {
    const want = readTrace('m-opt2-ev3');
    expect(want.length).toBe(1617);
    const got = await tracedHere({ ...M, ...settings });
    expect(sorted(got)).toEqual(sorted(want));
  });

  it.each([
    { synch: 'optimistic', nkp: 2 },
    { synch: 'optimistic', nkp: 2, batch: 1, gvtInterval: 4 },
    { synch: 'optimistic-realtime', nkp: 4, gvtInterval: 1 },
    { synch: 'conservative' },
  ] as Settings[])('are those of m-opt2-ev3 with two PEs: %j', async (settings) => {
    const lines: string[] = [];
    const run = await simulate(
      fileURLToPath(new URL('support/traced-phold.ts', import.meta.url)),
      {
        ...M,
        ...settings,
        pes: 2,
        maxMemory: MEMORY,
        options: { ...M.options, print: true },
      },
      { onOutput: (more) => lines.push(...more.map((line) => line.text)) },
    );
    expect(run.netEvents).toBe(1617);
    expect(sorted(lines.map(parseLine))).toEqual(sorted(readTrace('m-opt2-ev3')));
  });

  it('differ with another seed', async () => {
    const got = await tracedHere({ ...M, synch: 'sequential', seeds: [1, 2, 3, 4] });
    expect(sorted(got)).not.toEqual(sorted(readTrace('m-seq-ev1')));
  });
});
