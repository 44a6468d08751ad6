/** MPI traces that terminals of a network replay: times counted by hand, matching, and mistakes told with their line. */
import '../support/small-machine.ts';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulate } from 'triscope/sim';
import { afterAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'triscope-trace-'));
afterAll(() => rmSync(folder, { recursive: true }));

let made = 0;
function trace(lines: readonly string[], head = 'triscope-trace 1'): string {
  const path = join(folder, `${made++}.trace`);
  writeFileSync(path, [head, ...lines, ''].join('\n'));
  return path;
}

/** All terminals at one switch: a packet's head is 5 + 1 + 5 on its way, its tail as many flits later. */
const SWITCH = { n: 1, k: 8 };
const HEAD = 11;

async function totalsOf(lines: readonly string[], options: Record<string, number | string> = {}) {
  const run = await simulate('fattree', {
    synch: 'sequential',
    end: 100_000,
    options: { ...SWITCH, trace: trace(lines), ...options },
  });
  return { ...run.results.totals, ...run.results.maxima };
}

const all = (words: string, ranks: number) =>
  Array.from({ length: ranks }, (_, rank) => `${rank} ${words}`);

describe('The time of a program', () => {
  test.each<readonly [string, readonly string[], number]>([
    ['a message of two flits', ['0 compute 10', '0 send 1 64', '1 recv 0'], 10 + HEAD + 2],
    // 25 packets of four flits, one behind the other.
    ['a message of 100 flits', ['0 send 1 3200', '1 recv 0'], 96 + HEAD + 4],
    ['an empty message: a flit', ['0 send 1 0', '1 recv 0'], HEAD + 1],
    [
      'there and back, three times',
      [...Array(3).fill(['0 send 1 96', '0 recv 1', '1 recv 0', '1 send 0 96']).flat()],
      6 * (HEAD + 3),
    ],
    // Tags: the later message is waited for first.
    [
      'messages by tag',
      ['0 send 1 32 1', '0 compute 50', '0 send 1 32 2', '1 recv 0 2', '1 recv 0 1'],
      50 + HEAD + 1,
    ],
    // It computes while the message comes.
    ['work meanwhile', ['0 send 1 32', '1 compute 40 # work', '1 recv 0'], 40],
    ['a message to oneself', ['0 send 0 32', '0 recv 0', '1 compute 1'], HEAD + 1],
    // log2 8 = 3 rounds of one flit (Hensgen, Finkel and Manber, 1988); of five ranks ⌈log2 5⌉ = 3.
    ['a barrier of 8', all('barrier', 8), 3 * (HEAD + 1)],
    ['a barrier of 5', all('barrier', 5), 3 * (HEAD + 1)],
    ['a barrier after unequal work', ['0 compute 70', ...all('barrier', 2)], 70 + HEAD + 1],
    ['an allreduce of 8', all('allreduce 128', 8), 3 * (HEAD + 4)],
    ['an exchange of all of 4', all('alltoall 96', 4), 3 * (HEAD + 3)],
    // The root sends two, the second once the first has left: 4 + HEAD + 4; its child and that one's child: as long.
    ['a broadcast to 4', all('bcast 2 128', 4), 2 * (HEAD + 4)],
    ['a reduction of 4', all('reduce 1 128', 4), 2 * (HEAD + 4)],
  ])('%s', async (_name, lines, time) => {
    const { programTime, ranks, ranksEnded, uncredited } = await totalsOf(lines);
    expect(programTime).toBeCloseTo(time, 9);
    expect(ranksEnded).toBe(ranks);
    expect(uncredited).toBe(0);
  });

  test('ranks that wait for each other in a circle are told as not ended', async () => {
    const lines = ['0 recv 1', '0 send 1 8', '1 recv 0', '1 send 0 8', '2 compute 1'];
    expect(await totalsOf(lines)).toMatchObject({ ranks: 3, ranksEnded: 1 });
  });
});

test('messages that are cut into packets on several ways come whole, on any number of PEs', async () => {
  const lines = all('alltoall 2000', 6).flatMap((line, rank) => [
    line,
    `${rank} compute ${rank}`,
    `${rank} barrier`,
  ]);
  const options = { p: 1, a: 2, h: 1, routing: 'valiant', trace: trace(lines), buffer: 1 };
  const [one, two] = await Promise.all([
    simulate('dragonfly', { synch: 'sequential', end: 5000, options }),
    simulate('dragonfly', { synch: 'optimistic', pes: 2, end: 5000, options }),
  ]);
  expect(one.results.totals).toMatchObject({ ranks: 6, ranksEnded: 6, inBuffers: 0 });
  // 63 flits to each of five others, and three rounds of a flit: packets of four.
  expect(one.results.totals.delivered).toBe(6 * (5 * 16 + 3));
  expect(two.results).toEqual(one.results);
  expect(two.eventDigest).toBe(one.eventDigest);
});

describe('A trace is refused', () => {
  test.each<readonly [string, readonly string[], RegExp]>([
    ['a receive without a message', ['0 compute 1', '1 recv 0'], /:3: rank 0 sends no message/],
    ['a message without a receive', ['0 send 1 8', '1 recv 0 4'], /:2: rank 1 has no receive/],
    ['no number', ['0 send x 8'], /:2: rank x must be a whole number from 0 to 0/],
    ['a rank that there is not', ['0 send 1 8'], /:2: rank 1 must be a whole number/],
    ['no bytes', ['0 send 0'], /:2: must be: RANK send TO BYTES \[TAG\]/],
    ['a negative time', ['0 compute -1'], /:2: time -1 must be a number from 0 on/],
    ['an unknown operation', ['0 scan 8'], /:2: no such operation: scan; there are compute, send/],
    [
      'a rank that misses a barrier',
      ['0 barrier', '1 compute 1'],
      /collective operation 1 of rank 1 is missing; that of rank 0 is barrier/,
    ],
    [
      'other sizes',
      ['0 allreduce 8', '1 allreduce 9'],
      /of rank 1 is allreduce, 9 bytes; that of rank 0 is allreduce, 8 bytes/,
    ],
    ['nothing', [], /has no operations/],
    ['more ranks than terminals', ['8 compute 1'], /it has 9 ranks, and the network 8 terminals/],
  ])('%s', async (_name, lines, message) => {
    await expect(totalsOf(lines)).rejects.toThrow(message);
  });

  test('another file, or none', async () => {
    const run = (path: string) => simulate('fattree', { end: 10, options: { trace: path } });
    await expect(run(trace(['0 compute 1'], 'otf2'))).rejects.toThrow(
      /:1: must begin with the line "triscope-trace 1"/,
    );
    await expect(run(join(folder, 'none'))).rejects.toThrow(/there is no such file/);
  });
});

describe('What dumpi2ascii prints', () => {
  const script = join(import.meta.dirname, '../../examples/dumpi-to-trace.py');
  const call = (name: string, from: number, to: number, ...fields: string[]) => [
    `${name} entering at walltime ${from}, cputime 0.1 seconds in thread 0.`,
    ...fields,
    `${name} returning at walltime ${to}, cputime 0.1 seconds in thread 0.`,
  ];
  const world = 'MPI_Comm comm=2 (MPI_COMM_WORLD)';
  const convert = (...ranks: readonly (readonly string[][])[]) => {
    const files = ranks.map((calls, rank) => {
      const path = join(folder, `dumpi-${made++}-${rank}.txt`);
      writeFileSync(path, `${calls.flat().join('\n')}\n`);
      return path;
    });
    const { stdout, stderr } = spawnSync('python3', [script, '--unit=1e-3', ...files], {
      encoding: 'utf8',
    });
    return { stdout, stderr };
  };

  test.skipIf(spawnSync('python3', ['--version']).status !== 0)(
    'becomes a trace: receives where they are waited for, sizes by datatype (needs python3)',
    async () => {
      const zero = [
        call('MPI_Init', 10, 10),
        call(
          'MPI_Isend',
          ...([10.5, 10.5] as const),
          ...['int count=8', 'MPI_Datatype datatype=29 (user-defined-datatype)', 'int dest=1'],
          ...['int tag=7', world, 'MPI_Request request=[3]'],
        ),
        call('MPI_Waitall', 10.5, 10.5, 'int count=1', 'MPI_Request requests=[3]'),
        call(
          'MPI_Allreduce',
          ...([10.5, 10.6] as const),
          ...[
            'int count=2',
            'MPI_Datatype datatype=12 (MPI_DOUBLE)',
            'MPI_Op op=3 (MPI_SUM)',
            world,
          ],
        ),
        ['Datatype 29 (user-defined-datatype) has size 12'],
      ];
      const one = [
        call('MPI_Init', 10, 10),
        call(
          'MPI_Irecv',
          ...([10, 10] as const),
          ...['int count=96', 'MPI_Datatype datatype=2 (MPI_CHAR)', 'int source=0', 'int tag=7'],
          ...[world, 'MPI_Request request=[5]'],
        ),
        call('MPI_Wait', 10.25, 10.5, 'MPI_Request request=[5]', 'MPI_Status status=<IGNORED>'),
        call(
          'MPI_Allreduce',
          ...([10.5, 10.6] as const),
          ...[
            'int count=2',
            'MPI_Datatype datatype=12 (MPI_DOUBLE)',
            'MPI_Op op=3 (MPI_SUM)',
            world,
          ],
        ),
      ];
      const { stdout, stderr } = convert(zero, one);
      expect(stderr).toBe('');
      const lines = stdout.trim().split('\n');
      expect(lines).toEqual([
        'triscope-trace 1',
        ...['0 compute 500', '0 send 1 96 7', '0 allreduce 16'],
        ...['1 compute 250', '1 recv 0 7', '1 allreduce 16'],
      ]);
      // Rank 1 has the 3 flits at 500 + 11 + 3, then sends a flit of the allreduce to rank 0.
      expect((await totalsOf(lines.slice(1))).programTime).toBeCloseTo(514 + HEAD + 1, 9);

      const any = call(
        'MPI_Recv',
        ...([1, 2] as const),
        ...['int count=1', 'MPI_Datatype datatype=2 (MPI_CHAR)', 'int source=-1 (MPI_ANY_SOURCE)'],
        ...['int tag=7', world],
      );
      expect(convert([any]).stderr).toMatch(/-0\.txt:7: MPI_Recv of any source or tag/);
      expect(convert([call('MPI_Scan', 1, 2)]).stderr).toContain('MPI_Scan cannot be written');
    },
  );
});
