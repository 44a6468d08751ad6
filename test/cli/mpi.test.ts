/** `mpirun -np N triscope sim run`: what it prints, how it fails, how it is interrupted. */

import type { ChildProcess } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRecording } from '../../src/model/recording.ts';
import type { VerifyRow } from '../../src/sim/verify.ts';
import { HAS_MPI, NEEDS_MPI, ranksOf } from '../sim/support/mpirun.ts';
import { until } from '../support/until.ts';
import { BIN, fixture, temporaryFolder, triscope } from './support/run.ts';

const MISBEHAVE = fixture('misbehave.ts');
const SMALL = ['sim', 'run', 'phold', '--end=100', '--total-lps=8'];
/** Byte of the PE's number in a sample of ROSS v7: type, size, two times, PE. */
const PE_AT = 24;
/** Bytes of a sample of a PE, its head among them. */
const PE_SAMPLE = 128;
/** Longer than any test waits. */
const LONG = ['sim', 'run', 'phold', '--end=1e9', '--total-lps=64'];

/** Ids of the processes that `mpirun` has started, once they are so many and have had time to start. */
async function ranksUnder(job: ChildProcess, count: number): Promise<number[]> {
  for (;;) {
    const children = readFileSync(`/proc/${job.pid}/task/${job.pid}/children`, 'utf8');
    const ids = children.split(' ').filter(Boolean).map(Number);
    // MPI is loaded last of all.
    const started = ids.filter((id) => /libmpi\.so/.test(readFileSync(`/proc/${id}/maps`, 'utf8')));
    if (started.length === count) return started;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Not dead, nor waiting for whoever has started it to hear of its death. */
const lives = (id: number) =>
  existsSync(`/proc/${id}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${id}/status`, 'utf8'));

/** Clock ticks that a process has run. */
const ticksOf = (id: number) =>
  readFileSync(`/proc/${id}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).map(Number);

/** The run is under way: every rank has handled events for a while, as one that has run for so long since it was started has. */
async function underWay(ranks: readonly number[]): Promise<void> {
  const busy = (id: number) => ticksOf(id).reduce((sum, ticks) => sum + ticks, 0);
  const before = ranks.map(busy);
  await until(() => ranks.every((id, k) => busy(id) > before[k] + 40));
}

describe.skipIf(!HAS_MPI)(`under mpirun${NEEDS_MPI}`, () => {
  it('there is one PE per rank, and rank 0 prints one report', async () => {
    const { code, out, err } = await ranksOf(2, SMALL);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.match(/phold: optimistic, 2 PEs, 8 LPs/g)).toHaveLength(1);
    expect(out).toMatch(/Total Remote \(shared mem\) Events Processed +[1-9]/);
    expect(out).toMatch(/Total Remote \(network\) Events Processed +0\n/);
    expect(out).not.toContain('MPI AllReduce');
  });

  it('without memory that they share, events go through MPI', async () => {
    const { code, out, err } = await ranksOf(2, [...SMALL, '--mpi-shared=0']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/Total Remote \(shared mem\) Events Processed +0\n/);
    expect(out).toMatch(/Total Remote \(network\) Events Processed +[1-9]/);
    expect(out).toContain('TW GVT Statistics: MPI AllReduce');
  });

  it('the result is that of a sequential run, and one JSON object', async () => {
    const over = await ranksOf(2, [...SMALL, '--json']);
    const alone = await triscope([...SMALL, '--json']);
    const [a, b] = [over, alone].map(({ out }) => JSON.parse(out));
    expect([a.transport, a.sharedMemory, a.batches]).toEqual(['mpi', 'all', 0]);
    expect([a.eventDigest, a.stateDigest, a.netEvents]).toEqual([
      b.eventDigest,
      b.stateDigest,
      b.netEvents,
    ]);
    expect(a.perPe.map((pe: { lps: number }) => pe.lps)).toEqual([4, 4]);
  });

  it('threads may still be asked for: then each rank runs by itself', async () => {
    const { code, out } = await ranksOf(2, [...SMALL, '--transport=threads']);
    expect(code).toBe(0);
    expect(out.match(/phold: sequential, 1 PE, 8 LPs/g)).toHaveLength(2);
  });

  it('each rank prints what its LPs print', async () => {
    const { code, out } = await ranksOf(2, ['sim', 'run', MISBEHAVE, '--what=output']);
    expect(code).toBe(0);
    expect(out.match(/^LP 2 at /gm)?.length).toBeGreaterThan(5);
  });

  it.each([
    ['throw', 'LP 2', 1],
    ['nobody', 'LP 2', 1],
  ])(
    'a model that fails (%s) on one rank ends all, with a line that names LP and rank',
    async (what, text, expected) => {
      const { code, err } = await ranksOf(2, [
        'sim',
        'run',
        MISBEHAVE,
        `--what=${what}`,
        '--synch=3',
      ]);
      expect(code).toBe(expected);
      const lines = err.split('\n').filter((line) => line.startsWith('triscope:'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(text);
      expect(lines[0]).toContain('(rank 1)');
    },
  );

  it('all ranks record into one folder, the blocks of rank 0 first', async () => {
    const folder = join(temporaryFolder(), 'both.tri');
    const args = [...SMALL, `--record=${folder}`, '--engine-stats=1', '--event-trace=1'];
    const { code, out } = await ranksOf(2, [...args, '--json']);
    expect(code).toBe(0);
    const result = JSON.parse(out);
    const recording = checkRecording(
      JSON.parse(readFileSync(join(folder, 'recording.json'), 'utf8')),
    );
    expect(recording.state).toBe('finished');
    expect(recording.pes.map(({ pe, rank }) => [pe, rank])).toEqual([
      [0, 0],
      [1, 1],
    ]);
    const size = (file: string) => statSync(join(folder, 'stats-output', file)).size;
    // An event of ROSS's trace has 24 bytes and PHOLD's 4, and every event handled is in it.
    expect(size('ross-stats-evtrace.bin')).toBe(28 * result.eventsProcessed);
    const gvt = readFileSync(join(folder, 'stats-output', 'ross-stats-gvt.bin'));
    // Not every GVT counts for samples, but those that do are sampled on both.
    const samples = gvt.length / PE_SAMPLE;
    expect(samples % 2).toBe(0);
    const pes = Array.from({ length: samples }, (_, k) => gvt.readUInt32LE(k * PE_SAMPLE + PE_AT));
    expect(pes).toEqual([...pes].sort());
    expect(new Set(pes)).toEqual(new Set([0, 1]));
    expect(result.streams.map((s: { pe: number }) => s.pe).sort()).toEqual([0, 0, 0, 1, 1, 1]);
  });

  it('a rank that is killed ends all', async () => {
    let shared = '';
    const { code, err } = await ranksOf(2, LONG, async (job) => {
      const ranks = await ranksUnder(job, 2);
      await underWay(ranks);
      const [, second] = ranks;
      shared = readFileSync(`/proc/${second}/maps`, 'utf8').match(/\/dev\/shm\/#.*/)?.[0] ?? '';
      process.kill(second, 'SIGKILL');
    });
    expect(code).not.toBe(0);
    // What they share has no name, so that nothing is left.
    expect(shared).toMatch(/ \(deleted\)$/);
    expect(err).toMatch(/signal 9/);
  });

  it('Ctrl-C reaches all ranks', async () => {
    let ranks: number[] = [];
    const { code } = await ranksOf(2, LONG, async (job) => {
      ranks = await ranksUnder(job, 2);
      job.kill('SIGINT');
    });
    // mpirun's own code. Ranks have a second to print statistics, which a busy machine may not give them.
    expect(code).not.toBe(0);
    await until(() => !ranks.some(lives));
  });

  it('SIGUSR2, which mpirun passes on, ends it as Ctrl-C does, with all the time it needs', async () => {
    const { code, out } = await ranksOf(2, LONG, async (job) => {
      await underWay(await ranksUnder(job, 2));
      job.kill('SIGUSR2');
    });
    expect(code).toBe(130);
    expect(out).toMatch(/^Interrupted at virtual time \d+/);
    expect(out).toMatch(/Net Events Processed +[1-9]/);
  });

  it('so does a signal to one rank, also where none shares memory', async () => {
    const { code, out } = await ranksOf(2, [...LONG, '--mpi-shared=0'], async (job) => {
      const ranks = await ranksUnder(job, 2);
      await underWay(ranks);
      const [, second] = ranks;
      process.kill(second, 'SIGINT');
    });
    expect(code).toBe(130);
    expect(out).toMatch(/^Interrupted at virtual time \d+/);
  });

  it('ranks that were started differently do not run', async () => {
    const other = [':', '-np', '1', process.execPath, BIN, ...SMALL, '--lookahead=0.5'];
    const { code, err } = await ranksOf(1, [...SMALL, '--lookahead=0.1', ...other]);
    expect(code).toBe(2);
    expect(err).toContain(
      'triscope: rank 1 was started with --lookahead=0.5 but rank 0 with --lookahead=0.1: all ranks must run the same command (rank 0)',
    );
  });

  // Mostly waiting, so together.
  it.concurrent.each([
    ['--pes=3', '--pes=3: over MPI there is one PE per rank, here 2; leave --pes out'],
    ['--stream=-', '--stream does not work over MPI: use --transport=threads, on one machine'],
    [
      '--synch=1',
      '--synch=sequential runs on one PE, but there are 2 ranks: start it without mpirun',
    ],
    ['--nlp=x', '--nlp=x: must be an integer of at least 1'],
    ['--node-stats=50', '--node-stats needs --record=NAME: its output is part of a recording'],
  ])('%s ends with 2 and says why', async (option, message) => {
    const { code, err } = await ranksOf(2, [...SMALL, option]);
    expect(code).toBe(2);
    expect(err).toContain(`triscope: ${message}`);
  });
});

describe.skipIf(!HAS_MPI)(`sim verify over MPI${NEEDS_MPI}`, () => {
  it('starts jobs of 2 and 4 ranks, and compares them with what threads do', async () => {
    const args = ['sim', 'verify', 'phold', '--nlp=8', '--end=5', '--transport=mpi', '--json'];
    const { code, out } = await triscope(args);
    const { same, runs } = JSON.parse(out) as { same: boolean; runs: VerifyRow[] };
    expect({ code, same }).toEqual({ code: 0, same: true });
    const names = runs.map(({ name }) => name);
    expect(names[0]).toBe('sequential');
    for (const name of [
      'optimistic, 2 PEs',
      'conservative, 2 ranks',
      'optimistic, 4 ranks, nothing shared',
    ]) {
      expect(names).toContain(name);
    }
    // Ten for each number of ranks, four of them with next to no room on the way.
    expect(names.filter((name) => /[24] ranks/.test(name))).toHaveLength(20);
    expect(new Set(runs.map(({ eventDigest }) => eventDigest)).size).toBe(1);
  });

  it('under mpirun it runs on those ranks; a model that remembers differs, and it says where', async () => {
    const { code, out } = await ranksOf(2, ['sim', 'verify', fixture('remembers.ts'), '--end=10']);
    expect(code).toBe(1);
    expect(out).toMatch(
      /optimistic, 2 ranks: same events; LP 0 \(remembers\): state\.calls is \d+ in sequential and \d+ in optimistic, 2 ranks/,
    );
    expect(out).not.toContain('2 PEs');
  });

  it('without a launcher it ends with 4 and says what to install', async () => {
    const { code, err } = await triscope(['sim', 'verify', 'phold', '--transport=mpi'], {
      env: { TRISCOPE_MPIRUN: '/nowhere/mpirun' },
    });
    expect(code).toBe(4);
    expect(err).toBe(
      'triscope: cannot run /nowhere/mpirun: there is no such command: apt-get install openmpi-bin; or set TRISCOPE_MPIRUN to your launcher\n',
    );
  });
});

describe('without MPI', () => {
  it('--transport=mpi ends with 4 and says what to install', async () => {
    const { code, out, err } = await triscope([...SMALL, '--transport=mpi'], {
      env: { TRISCOPE_LIBMPI: '/nowhere/libmpi.so' },
    });
    expect({ code, out }).toEqual({ code: 4, out: '' });
    expect(err).toBe(
      'triscope: no MPI library (/nowhere/libmpi.so): apt-get install openmpi-bin libopenmpi3, or the MPI of your cluster; or set TRISCOPE_LIBMPI to its path\n',
    );
  });
});
