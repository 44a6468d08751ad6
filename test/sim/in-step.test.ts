/** Two threads in step: the same results, samples as often as the user asked, nothing but what is final. */
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OutputLine, type RunResult, type Settings, simulate } from 'triscope/sim';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, triscope } from '../cli/support/run.ts';
import { record } from './support/recorded.ts';

const HERE = dirname(fileURLToPath(import.meta.url));

/** PHOLD with 40 events of a PE in a lookahead, or the tenfold: short and long steps. */
const phold = (lps: number, end: number) => ({
  end,
  lookahead: 0.25,
  options: { 'total-lps': lps },
});
/** With one CPU, threads wait for each other’s turns and ask for GVTs. */
const ALONE = availableParallelism() < 2;
const LOPSIDED = join(HERE, 'support', 'lopsided.ts');
const WAVES = join(HERE, 'support', 'waves.ts');
const folder = temporaryFolder();
const two = { pes: 2, pin: true } as const;
const BOTH = ['optimistic', 'conservative'] as const;

/** The run on two threads, which must have the digests of a sequential one. */
async function sameAsOne(model: string, settings: Settings): Promise<RunResult> {
  const one = await simulate(model, { ...settings, synch: 'sequential' });
  const run = await simulate(model, { ...settings, ...two });
  expect([run.eventDigest, run.stateDigest]).toEqual([one.eventDigest, one.stateDigest]);
  return run;
}

describe.each(BOTH)('two %s threads in step', (synch) => {
  it.each([
    ['short', 320, 600],
    ['long', 3200, 60],
  ])(
    'with %s steps have the digests of a sequential run, and undo next to nothing',
    async (_, lps, end) => {
      const run = await sameAsOne('phold', { ...phold(lps, end), synch });
      expect(run.eventsRolledBack / run.eventsProcessed).toBeLessThan(0.05);
    },
  );

  it.each([1e-4, 0.01, 0.25])(
    'have them with few events in a lookahead of %d',
    async (lookahead) => {
      await sameAsOne('phold', { synch, lookahead, end: 50, options: { 'total-lps': 16 } });
    },
  );

  it.each([0, 60])(
    'have them where one has hardly any events, and may stop the run: %d',
    async (stop) => {
      const { stoppedAt } = await sameAsOne(LOPSIDED, { synch, options: { stop } });
      expect(stoppedAt === null).toBe(stop === 0);
    },
  );

  it('have steps where all times are multiples of the lookahead', async () => {
    const options = { 'total-stations': 128 };
    await sameAsOne('queueing', { synch, end: 3000, lookahead: 1, options });
  });

  it('have the same effects where there are many events, few, and many again', async () => {
    const effects = async (settings: Settings) => {
      const lines: string[] = [];
      const onOutput = (more: readonly OutputLine[]) => lines.push(...more.map((o) => o.text));
      const run = await simulate(WAVES, settings, { onOutput });
      return {
        digests: [run.eventDigest, run.stateDigest],
        lines: lines.sort(),
        results: run.results,
      };
    };
    const want = await effects({ synch: 'sequential' });
    expect(want.lines.length).toBeGreaterThan(100);
    expect(Object.keys(want.results.statistics)).toEqual(['delays']);
    expect(await effects({ synch, ...two })).toEqual(want);
  });

  it.each(['fails', 'suspends'])('end with the error of an event that %s', async (how) => {
    const options = { [how]: 100 };
    await expect(simulate(WAVES, { synch, ...two, options })).rejects.toThrow(
      /LP \d+ .*virtual time 100\..*as was asked/,
    );
  });

  it('make checkpoints of one time, from which a run goes on to the same end', async () => {
    const settings = { ...phold(320, 20), synch };
    const one = await simulate('phold', { ...settings, synch: 'sequential' });
    for (let k = 1; k <= 12; k++) {
      const file = `${folder}/${synch}-${k}.checkpoint`;
      const checkpoint = { file, at: [k * 1.5] };
      const run = await simulate('phold', { ...settings, ...two }, { checkpoint, sizedFor: 2 });
      const again = await simulate('phold', { synch: 'sequential', pes: 1 }, { restart: file });
      const digests = [run, again].map(({ eventDigest, stateDigest }) => [
        eventDigest,
        stateDigest,
      ]);
      const whole = [one.eventDigest, one.stateDigest];
      expect(digests, `checkpoint at ${k * 1.5}`).toEqual([whole, whole]);
    }
  });

  it.skipIf(ALONE)('have far fewer GVTs than steps where nobody needs them', async () => {
    const run = await simulate('phold', { ...phold(320, 2000), ...two, synch });
    // 8,000 steps; one GVT in 256 events of a PE before they go in step.
    expect(run.gvtComputations).toBeLessThan(4000);
  });
});

describe.skipIf(ALONE)('samples of threads in step', () => {
  interface Sample {
    readonly pe_id: number;
    readonly gvt: number;
    readonly gvt_index: number;
    readonly events: number;
  }

  const recorded = async <Row>(name: string, settings: readonly string[], sql: string) => {
    const { out, code } = await triscope([
      ...['sim', 'run', 'phold', '--lookahead=0.25', ...settings, '--json'],
      `--record=${folder}/${name}`,
    ]);
    expect(code).toBe(0);
    const rows = await triscope(['query', `${folder}/${name}.tri`, sql, '--json']);
    return {
      gvts: JSON.parse(out).gvtComputations as number,
      rows: JSON.parse(rows.out) as readonly Row[],
    };
  };
  const sampled = (name: string, settings: readonly string[]) =>
    recorded<Sample>(
      name,
      ['--pes=2', '--engine-stats=gvt', ...settings],
      'SELECT pe_id, gvt, gvt_index, events_processed::INTEGER - events_rolled_back::INTEGER AS events FROM ross_pe ORDER BY real_time',
    );

  it('are as many turns apart as the user asked, and need hardly a GVT', async () => {
    const samples = async (every: number) => {
      const { gvts, rows } = await sampled(`every-${every}`, [
        ...['--total-lps=320', '--end=1000', '--synch=optimistic', `--num-gvt=${every}`],
      ]);
      return { gvts, n: rows.filter((row) => row.pe_id === 0).length };
    };
    const [each, tenth] = [await samples(1), await samples(10)];
    // 160,000 events of a PE; 256 in 16 turns.
    expect(each.n).toBeGreaterThan(400);
    expect(each.n).toBeLessThan(900);
    expect(tenth.n).toBeGreaterThan(each.n / 15);
    expect(tenth.n).toBeLessThan(each.n / 6);
    expect(each.gvts).toBeLessThan(each.n / 2);
  });

  it.each(BOTH.flatMap((synch) => [320, 3200].map((lps) => [synch, lps] as const)))(
    'count at each point all events before it and no others: %s, %d LPs',
    async (synch, lps) => {
      const end = 64_000 / lps;
      const settings = [`--total-lps=${lps}`, `--end=${end}`];
      const trace = await recorded<{ readonly time: number }>(
        `trace-${synch}-${lps}`,
        [...settings, '--synch=sequential', '--event-trace=committed'],
        'SELECT virtual_recv_time AS time FROM ross_event ORDER BY time',
      );
      const times = trace.rows.map(({ time }) => time);
      const { rows } = await sampled(`points-${synch}-${lps}`, [...settings, `--synch=${synch}`]);
      const seen = [0, 1].map((pe) => rows.filter((row) => row.pe_id === pe));
      const points = seen.map((samples) => {
        let events = 0;
        return new Map(
          samples.map((row) => {
            events += row.events;
            return [row.gvt, { events, index: row.gvt_index }] as const;
          }),
        );
      });
      const [zero, one] = points as [(typeof points)[0], (typeof points)[0]];
      // GVTs are times of events; points are fractions of the lookahead, a power of two here.
      const both = [...zero.keys()].filter((gvt) => Number.isInteger(gvt * 4096) && gvt < end);
      expect(both.length).toBeGreaterThan(50);
      for (const gvt of both) {
        const [a, b] = [zero.get(gvt), one.get(gvt)];
        // Traces have times of 24 bits: one just before a point may have been rounded to it.
        const counted = (a?.events ?? 0) + (b?.events ?? 0);
        const [before, upTo] = [
          times.filter((time) => time < gvt).length,
          times.filter((time) => time <= gvt).length,
        ];
        expect(counted, `events before ${gvt}`).toBeGreaterThanOrEqual(before);
        expect(counted, `events before ${gvt}`).toBeLessThanOrEqual(upTo);
        expect(a?.index).toBe(b?.index);
      }
      for (const samples of seen) {
        const gvts = samples.map(({ gvt }) => gvt);
        expect(gvts).toEqual(gvts.toSorted((x, y) => x - y));
        const numbers = samples.slice(0, -1).map((row) => row.gvt_index);
        expect(new Set(numbers).size).toBe(numbers.length);
      }
    },
  );

  it.each(BOTH)('do so under chaos, and are numbered alike: %s', async (synch) => {
    const before = new Map<number, number>();
    let shared = 0;
    for (let seed = 1; seed <= 8; seed++) {
      const { result, rows } = await record(
        'phold',
        {
          ...{ ...phold(96, 60), ...two, synch, batch: 4, gvtInterval: 4 },
          instrument: { engine: { gvt: true, rt: false, vt: false }, numGvt: 1 },
        },
        true,
        { chaos: { seed } },
      );
      const samples = rows.get('ross_pe') ?? [];
      expect(samples.reduce((n, row) => n + Number(row.events_processed), 0)).toBe(
        result.eventsProcessed,
      );
      const seen = [0, 1].map((pe) => {
        let events = 0;
        return new Map(
          samples
            .filter((row) => Number(row.pe_id) === pe)
            .map((row) => {
              events += Number(row.events_processed) - Number(row.events_rolled_back);
              return [Number(row.gvt), { events, index: row.gvt_index }] as const;
            }),
        );
      });
      for (const [gvt, { events, index }] of seen[0] ?? []) {
        const other = seen[1]?.get(gvt);
        if (other === undefined || !Number.isInteger(gvt * 4096) || gvt >= 60) continue;
        const all = events + other.events;
        expect(all, `seed ${seed}, events before ${gvt}`).toBe(before.get(gvt) ?? all);
        expect(other.index, `seed ${seed}, number of ${gvt}`).toBe(index);
        before.set(gvt, all);
        shared++;
      }
    }
    // Chaos withholds promises of many runs, so that their samples are taken at GVTs.
    expect(shared).toBeGreaterThan(1.5 * before.size);
  });
});

it('one optimistic PE, whose turns are long, has as many samples at GVTs as a sequential run', async () => {
  const samples = async (synch: string, every: number) => {
    const name = `${folder}/${synch}-${every}`;
    const { code } = await triscope([
      ...['sim', 'run', 'phold', '--total-lps=64', '--end=2000', '--pes=1', `--synch=${synch}`],
      ...['--engine-stats=gvt', `--num-gvt=${every}`, `--record=${name}`],
    ]);
    expect(code).toBe(0);
    const sql = 'SELECT count(*)::INTEGER AS n FROM ross_pe';
    const { out } = await triscope(['query', `${name}.tri`, sql, '--json']);
    return JSON.parse(out)[0].n as number;
  };
  for (const every of [1, 7]) {
    const want = await samples('sequential', every);
    expect(want).toBeGreaterThan(50);
    expect(Math.abs((await samples('optimistic', every)) - want)).toBeLessThanOrEqual(2);
  }
});
