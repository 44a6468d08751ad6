/** What is said of a recorded command's threads, and of whom not enough is known to say it. */
import { afterAll, expect, it } from 'vitest';
import { findAll } from '../../src/findings/index.ts';
import { openHere } from '../query/support/open-here.ts';
import { findingsAt, removeFolder, said } from './support/findings.ts';
import { rankReport, tracedRanks } from './support/ranks.ts';
import { command } from './support/threads.ts';

afterAll(removeFolder);

it('the view joins a thread to its rank and to what its CPU did', async () => {
  const path = command([{ rank: 2, running: 0.5, waiting: 0.25, cpu: () => 0 }], {
    used: 0.8,
    stolen: 0.12,
  });
  const recording = await openHere(path);
  const rows = await recording.query(
    `SELECT rank, process_id, thread, cpu, t0, t, round(seconds, 6) AS seconds, round(running, 6) AS running, round(waiting, 6) AS waiting,
      round(others, 6) AS others, round(steal, 6) AS steal, samples, blocked, cpus FROM rank_on_node ORDER BY t0`,
  );
  await recording.close();
  const window = {
    ...{
      rank: 2,
      process_id: 100,
      thread: 'app0',
      cpu: 0,
      seconds: 1,
      running: 0.5,
      waiting: 0.25,
    },
    ...{ others: 0.3, steal: 0.12, samples: 10, blocked: 0, cpus: 1 },
  };
  expect(rows).toEqual([0, 1, 2].map((t0) => ({ ...window, t0, t: t0 + 1 })));
});

it('sentences name who, how much, why, and on which CPU', async () => {
  const waits = command(
    [
      { running: 0.7, waiting: 0.3 },
      { running: 0.7, waiting: 0.3, cpu: () => 1 },
      { running: 0.7 },
    ],
    { used: 0.95 },
  );
  expect(said(await findingsAt(waits, 'waiting-threads'))).toEqual([
    'problem: Process 100 (app0) and process 101 (app1) could not run for up to 30 % of the time: the command’s threads need 2.7 CPUs, but h1 has 2 CPUs; other threads and processes used 25 % of CPU 0.',
  ]);
  const late = command(
    [
      { rank: 0, running: 1, cpu: () => 1 },
      { rank: 1, running: 0.6, waiting: 0.4 },
    ],
    { used: 1 },
  );
  expect(said(await findingsAt(late, 'late-rank'))).toEqual([
    'problem: Rank 1 (app1, process 101) could not run for 40 % of the time on CPU 0 of h1, of which others used 40 %; the other ranks for 0 % on average: where they meet in MPI, they wait for it.',
  ]);
  const quota = command([{}], { quota: { periods: 30, throttled: 15 } });
  expect(said(await findingsAt(quota, 'cpu-quota'))).toEqual([
    'problem: Control group /job of h1 may use 1.5 CPUs and used up this quota in 50 % of its periods: its threads were kept from running for 3 s, summed over CPUs.',
  ]);
  const since = command([{}], { quota: { periods: 30, throttled: 15, from: 2 } });
  const [found] = await findingsAt(since, 'cpu-quota');
  expect(found.sentence).toContain('in 50 % of its periods, from 2.00 to 3.00 s: its threads');
  expect(found.evidence.rows[0]).toMatchObject({ from: 2, to: 3 });
  const blocked = command([{ blocked: 15 }]);
  expect(said(await findingsAt(blocked, 'device-wait'))).toEqual([
    'problem: Process 100 (app0) was blocked by a device in 50 % of its samples; process 100 moved the most data: 9 MB to devices, 0 B from them.',
  ]);
  const again = command([{ blocked: 15 }], { reads: { bytes: 4e6, again: 732 } });
  expect(said(await findingsAt(again, 'memory-stall'))).toEqual([
    'problem: Memory is short on h1: control group /job, which may have 1000 B, dropped at least 8.99 MB to make room and read it again, and processes of the command read 12 MB from devices; a thread was blocked for it in about 37 % of its samples.',
  ]);
  const reads = command([{ major: 100 }]);
  expect(said(await findingsAt(reads, 'page-faults'))).toEqual([
    'problem: Process 100 (app0) waited for 100 pages a second that had to be read from a device.',
  ]);
  const room = (charged: number) =>
    findingsAt(command([{ major: 100 }], { charged }), 'page-faults');
  expect(said(await room(960))[0]).toContain(
    'from a device: control group /job has 96 % of its 1000 B in use, with the page cache, so that pages',
  );
  expect(said(await room(940))[0]).toMatch(/from a device\.$/);
});

it('a hypervisor that steals is named; a thread that sleeps loses nothing by it', async () => {
  const cpu = { used: 0.5, stolen: 0.3 };
  expect(
    said(await findingsAt(command([{ running: 0.5, waiting: 0.2 }], cpu), 'waiting-threads'))[0],
  ).toContain('30 % of CPU 0 was stolen by the hypervisor');
  const asleep = { rank: 0, running: 0.01 };
  const other = { rank: 1, running: 0.9, cpu: () => 1 };
  for (const rule of ['waiting-threads', 'late-rank']) {
    expect([rule, ...said(await findingsAt(command([asleep, other], cpu), rule))]).toEqual([rule]);
  }
});

it('nobody is accused on less than a second, or on one window', async () => {
  const bad = {
    rank: 0,
    running: 0.1,
    waiting: 0.9,
    blocked: 30,
    minor: 1e6,
    major: 1e3,
    cpu: (k: number) => k % 2,
  };
  const path = command([bad, { rank: 1, running: 1 }], { samples: 9 });
  const quota = command([{}], { quota: { periods: 7, throttled: 7 } });
  const rules = ['waiting-threads', 'late-rank', 'device-wait', 'migrating-threads', 'page-faults'];
  for (const rule of rules) expect([rule, ...said(await findingsAt(path, rule))]).toEqual([rule]);
  expect(said(await findingsAt(quota, 'cpu-quota'))).toEqual([]);
});

it('the rank that the others wait for is named with its region and their call; ranks that differ anyhow accuse nobody', async () => {
  const work = (solve: number) => ({ MPI_Barrier: 1, MPI_Allreduce: 8 - solve, solve, other: 1 });
  const late = rankReport(work(2), work(2), work(6));
  expect(said(await findingsAt(late, 'rank-imbalance'))).toEqual([
    'problem: The other ranks wait for rank 2 for 40 % of their time, mostly in MPI_Allreduce: region solve takes it 6 s, the others 2 s.',
  ]);
  const spread = rankReport(work(1), work(2), work(3), work(3.3));
  expect(said(await findingsAt(spread, 'rank-imbalance'))).toEqual([]);
});

it('of ranks it is told when they were in MPI; their starts are none of it', async () => {
  const [calm, busy, start]: [number, string][] = [
    [0.1, 'solve'],
    [0.9, 'MPI_Barrier'],
    [1, 'MPI_Init'],
  ];
  const seconds = [start, calm, calm, calm, busy, busy, busy, calm, calm, calm];
  const ranks = [
    { MPI_Barrier: 3.4, solve: 4 },
    { MPI_Barrier: 3.4, solve: 4 },
  ];
  const [share] = await findingsAt(tracedRanks(ranks, seconds), 'mpi-share');
  expect(share.sentence).toMatch(/34 % in MPI_Barrier: 3\.4 s each, from 4\.00 to 7\.00 s\.$/);
  expect(share.evidence.rows[0]).toMatchObject({ region: 'MPI_Barrier', from: 4, to: 7 });
  const skewed = [
    { MPI_Barrier: 3.4, solve: 4 },
    { MPI_Barrier: 0.4, solve: 7 },
  ];
  const [late] = await findingsAt(tracedRanks(skewed, seconds), 'rank-imbalance');
  expect(late.sentence).toMatch(
    /^The other ranks wait for rank 1 for 30 % of their time, from 4\.00 to 7\.00 s, mostly in/,
  );
  const even = tracedRanks(ranks, Array(10).fill(busy));
  expect(said(await findingsAt(even, 'mpi-share'))[0]).toMatch(/: 3\.4 s each\.$/);
});

it('who waits for a device because pages are read from it again is told after the page faults', async () => {
  const severities = async (major: number) => {
    const recording = await openHere(command([{ blocked: 15, major }]));
    const found = await findAll(recording);
    await recording.close();
    return Object.fromEntries(found.map(({ rule, severity }) => [rule, severity]));
  };
  expect(await severities(51)).toMatchObject({ 'page-faults': 'problem', 'device-wait': 'notice' });
  const short = await severities(49);
  expect([short['page-faults'], short['device-wait']]).toEqual([undefined, 'problem']);
});
