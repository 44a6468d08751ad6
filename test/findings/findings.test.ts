/** Findings from hand-made recordings: what was put in is what is said. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Finding, findAll } from '../../src/findings/index.ts';
import type { Batch } from '../../src/model/metric.ts';
import type { Recording } from '../../src/model/recording.ts';
import { ROSS_PE, ROSS_ROLLBACK } from '../../src/model/schemas/ross.ts';
import { SIM_PROCESS, SIM_THREAD } from '../../src/model/schemas/sim.ts';
import { openHere } from '../query/support/open-here.ts';
import {
  batchOf,
  framesOf,
  NOON,
  placeOf,
  rawStats,
  recordingOf,
  writeFolder,
} from '../query/support/recording.ts';

const folder = mkdtempSync(join(tmpdir(), 'findings-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SECONDS = [1, 2, 3, 4];

/** Each PE handles 1000 events a second and rolls back as many of them as given. */
const samples = (...rolledBack: number[]): Batch =>
  batchOf(
    ROSS_PE,
    SECONDS.flatMap((real_time) =>
      rolledBack.map((events_rolled_back, pe_id) => ({
        ...{ pe_id, real_time, mode: 'gvt', events_processed: 1000, events_rolled_back },
        total_rollbacks: 1,
      })),
    ),
  );

/** CPUs that are in user mode all the time but for what is stolen: shares. */
const node = (...steal: number[]): string =>
  rawStats(
    'h1',
    [0, ...SECONDS].map((second) => ({
      time: NOON + second,
      cpus: steal.map((share) => {
        const stolen = Math.round(100 * second * share);
        return { user: 100 * second - stolen, steal: stolen };
      }),
    })),
  );

/** Threads that run all the time but for what they wait: shares. */
const threads = (...waiting: number[]): Batch =>
  batchOf(
    SIM_THREAD,
    [0, ...SECONDS].flatMap((real_time) =>
      waiting.map((share, pe_id) => ({
        ...{ pe_id, real_time },
        cpu_time: BigInt(Math.round(real_time * (1 - share) * 1e9)),
        run_queue_wait: BigInt(Math.round(real_time * share * 1e9)),
      })),
    ),
  );

/** A process that uses so many CPUs in all. */
const whole = (cpus: number): Batch =>
  batchOf(
    SIM_PROCESS,
    [0, ...SECONDS].map((real_time) => ({
      ...{ pe_id: 0, real_time },
      cpu_time: BigInt(Math.round(real_time * cpus * 1e9)),
    })),
  );

let made = 0;
async function findingsOf(
  batches: readonly Batch[],
  cpus: string | null,
  more: Partial<Recording> = {},
): Promise<Finding[]> {
  const path = writeFolder(join(folder, `${++made}.tri`), {
    'recording.json': recordingOf(more),
    'extra.frames': framesOf(...batches),
    ...(cpus !== null && { 'node/h1/1': cpus }),
  });
  const recording = await openHere(path);
  try {
    return await findAll(recording);
  } finally {
    await recording.close();
  }
}

const sentences = (found: readonly Finding[]) =>
  found.map(({ severity, sentence }) => `${severity}: ${sentence}`);

describe('efficiency', () => {
  it('tells the share rolled back, and the worst PE', async () => {
    expect(sentences(await findingsOf([samples(100, 300)], null))).toEqual([
      'notice: 8,000 events were handled and 20 % of them rolled back: efficiency 75 %; PE 1 is the worst with 30 % rolled back.',
    ]);
  });

  it('has no advice where all is well', async () => {
    const [found] = await findingsOf([samples(0, 8)], node(0, 0));
    expect(found).toMatchObject({ rule: 'efficiency', severity: 'info', advice: '' });
    expect(found.sentence).toBe(
      '8,000 events were handled and 0.4 % of them rolled back: efficiency 99.6 %.',
    );
  });

  it('is a problem where more than a third is undone, with its evidence', async () => {
    const [found] = await findingsOf([samples(600)], null, { pes: [placeOf({ pe: 0 })] });
    expect(found.severity).toBe('problem');
    expect(found.sentence).toContain('60 % of them rolled back: efficiency −50 %');
    expect(found.advice).toMatch(/--batch/);
    expect(found.evidence.rows).toEqual([{ pe_id: 0, processed: 4000, rolled_back: 2400 }]);
    expect(found.evidence.sql).toContain('FROM ross_pe');
  });

  it('of a run without samples says nothing', async () => {
    expect(await findingsOf([batchOf(ROSS_PE, [])], null)).toEqual([]);
  });
});

describe('a stolen CPU', () => {
  const about = async (...of: Parameters<typeof findingsOf>) =>
    (await findingsOf(...of)).filter(({ rule }) => rule === 'stolen-cpu');

  it('is told with what it does to the PE itself', async () => {
    const [found, ...more] = await about([samples(20, 400)], node(0, 0.3));
    expect(more).toEqual([]);
    expect(found.severity).toBe('problem');
    expect(found.sentence).toBe(
      'PE 1 could not run for 30 % of the time (other PEs: 0 %): 30 % of CPU 1 of h1 was stolen by the hypervisor; it rolls back 40 % of its events, the others 2 %.',
    );
    expect(found.advice).toMatch(/^Give the virtual machine CPUs of its own/);
    expect(found.evidence.rows).toHaveLength(2);
    // The one spoken of first.
    expect(found.evidence.rows[0]).toMatchObject({ pe_id: 1, cpu: 1, steal: expect.closeTo(0.3) });
  });

  it('names the part of the run that has the loss, as its evidence does', async () => {
    const stolen = (second: number) => 60 * Math.max(0, second - SECONDS.length / 2);
    const stats = rawStats(
      'h1',
      [0, ...SECONDS].map((second) => ({
        time: NOON + second,
        cpus: [0, stolen(second)].map((steal) => ({ user: 100 * second - steal, steal })),
      })),
    );
    const [found] = await about([samples(20, 400)], stats);
    const [, from, to] = /, from ([\d.]+) to ([\d.]+) s:/.exec(found.sentence) ?? [];
    const row = { pe_id: 1, from: expect.closeTo(Number(from)), to: expect.closeTo(Number(to)) };
    expect(found.evidence.rows[0]).toMatchObject(row);
  });

  it('is told with what the PE’s late events do to others', async () => {
    const rollbacks = batchOf(ROSS_ROLLBACK, [
      { pe_id: 0, real_time: 1, cause: 'straggler', source_pe: 1, events_undone: 90 },
      { pe_id: 1, real_time: 2, cause: 'straggler', source_pe: 0, events_undone: 10 },
      { pe_id: 0, real_time: 2, cause: 'straggler', source_pe: 0, events_undone: 500 },
    ]);
    const [found] = await about([samples(100, 50), rollbacks], node(0, 0.1));
    expect(sentences([found])).toEqual([
      'problem: PE 1 could not run for 10 % of the time (other PEs: 0 %): 10 % of CPU 1 of h1 was stolen by the hypervisor; 90 % of the events that PEs undo because of other PEs are undone because of its late events.',
    ]);
  });

  it('is a wait for a CPU that others use, where threads were watched', async () => {
    const [found] = await about([samples(300, 50), threads(0, 0.25)], node(0, 0));
    expect(found.sentence).toBe(
      'PE 1 could not run for 25 % of the time (other PEs: 0 %): it waited 25 % of the time for CPU 1 of h1, of which other threads and processes used 25 %; it falls behind: the others roll back 30 % of their events, it 5 %.',
    );
    expect(found.advice).toMatch(/^Keep other work off the CPUs/);
  });

  it('is nobody’s fault where the process’s own compiler and recorder take it', async () => {
    const waiting = [samples(10, 10), threads(0, 0.25)];
    expect(await about([...waiting, whole(2)], node(0, 0))).toEqual([]);
    const [{ sentence }] = await about([...waiting, whole(1.75)], node(0, 0));
    expect(sentence).toMatch(/^PE 1 could not run for 25 % of the time/);
  });

  it('is told with the wait for threads of the own process, which tables have too', async () => {
    const [{ sentence }] = await about(
      [samples(10, 10), threads(0, 0.25), whole(1.85)],
      node(0, 0),
    );
    expect(sentence).toMatch(
      /^PE 1 could not run for 15 % of the time because of others \(other PEs: 0 %\): it waited 15 % of the time for CPU 1 of h1, of which other threads and processes used 25 %, and another 10 % while threads of its own process ran there/,
    );
  });

  it('is told of the time in which others take it, after its own compiler has ended', async () => {
    // For two seconds a compiler of its own takes half of both CPUs; then others take half of CPU 1.
    const own = (t: number) => Math.min(t, 2);
    const waits = [(t: number) => own(t) / 2, (t: number) => t / 2];
    const at = [0, ...SECONDS];
    const ns = (seconds: number) => BigInt(Math.round(seconds * 1e9));
    const watched = batchOf(
      SIM_THREAD,
      at.flatMap((t) =>
        waits.map((wait, pe_id) => ({
          ...{ pe_id, real_time: t },
          cpu_time: ns(t - wait(t)),
          run_queue_wait: ns(wait(t)),
        })),
      ),
    );
    const process = batchOf(
      SIM_PROCESS,
      at.map((t) => ({
        ...{ pe_id: 0, real_time: t },
        cpu_time: ns(2 * t - waits[0](t) - waits[1](t) + own(t)),
      })),
    );
    const [found, ...more] = await about([samples(10, 10), watched, process], node(0, 0));
    expect(more).toEqual([]);
    expect(found.sentence).toMatch(
      /^PE 1 could not run for 25 % of the time because of others \(other PEs: 0 %\)/,
    );
  });

  it('of all PEs alike is one finding', async () => {
    expect(sentences(await about([samples(10, 10)], node(0.2, 0.22)))).toEqual([
      'problem: PEs 0 and 1 could not run for 20 % to 22 % of the time: on average 21 % was stolen by the hypervisor.',
    ]);
  });

  it('is a notice where it is little and harms nobody; noise is nothing', async () => {
    expect(sentences(await about([samples(10, 10)], node(0, 0.07)))).toEqual([
      'notice: PE 1 could not run for 7 % of the time (other PEs: 0 %): 7 % of CPU 1 of h1 was stolen by the hypervisor.',
    ]);
    expect(await about([samples(10, 400)], node(0.01, 0.03))).toEqual([]);
  });

  it('is shared where two PEs are bound to it', async () => {
    const places = { pes: [placeOf({ pe: 0, cpu: 1 }), placeOf({ pe: 1, cpu: 1 })] };
    expect(
      sentences(await about([samples(10, 10), threads(0.5, 0.5)], node(0, 0), places)),
    ).toEqual(['problem: PEs 0 and 1 share CPU 1 of h1: each has at most 50 % of it.']);
  });

  it('has advice for who binds PEs: the simulator, or the launcher of ranks', async () => {
    const advice = async (ranks: readonly number[]) => {
      const pes = ranks.map((rank, pe) => placeOf({ pe, rank, cpu: 1 }));
      const [found] = await about([samples(10, 10), threads(0.5, 0.5)], node(0, 0), { pes });
      return /\((.*?)\)/.exec(found.advice)?.[1];
    };
    expect(await advice([0, 0])).toBe('--pin');
    expect(await advice([0, 1])).toBe('mpirun --bind-to core');
  });
});
