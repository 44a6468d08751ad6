/** The job index: equal to what the files say, whichever way it grew. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type AccountedJob,
  accountedById,
  accountedFor,
  indexArrived,
  indexPath,
  listJobs,
  measuredRows,
  openArchive,
  openJobs,
  retain,
  updateIndex,
} from '../../../src/findings/job/index.ts';
import { tryLock } from '../../../src/os/flock.ts';
import { writeKept } from '../../../src/query/kept-file.ts';
import { archiveOf, CPU, type Group, MEM, NOON, rawFile } from './support/archive.ts';

const ALWAYS = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, foreign: false };
const DAY = 86_400;
const MIDNIGHT = NOON - DAY / 2;
const HOSTS = Array.from({ length: 20 }, (_, k) => `c${100 + k}`);

/** A day of a host: jobs of one host, and one of four hosts that goes on over midnight. */
function day(host: number, number: number): string {
  const groups: Group[] = [];
  for (let slot = 0; slot < 12; slot++) {
    const n = number * 12 + slot;
    const time = MIDNIGHT + n * (DAY / 12) + (host % 3);
    const own = slot % 4 === 3 ? `w${host >> 2}` : `${number}${slot >> 1}${host}`;
    const mark = slot % 2 === 0 ? `begin ${own}` : `end ${own}`;
    const busy = (own.startsWith('w') ? 50 : 10) * n * n * (host + 1);
    groups.push({
      time,
      jobs: own,
      marks: own.startsWith('w') ? [] : [mark],
      records: [`cpu 0 ${busy} 0 ${n} ${900 * n}`, `cpu 1 0 0 0 ${1000 * n}`, `mem 0 64 ${n} 1 1`],
    });
  }
  return rawFile({ host: HOSTS[host], schemas: [CPU, MEM], groups });
}

const pathOf = (host: string, number: number) => `${host}/${MIDNIGHT + number * DAY}`;

const accounted = (id: string, more: Partial<AccountedJob>): AccountedJob => ({
  ...{ id, user: 'ada', account: 'bio', queue: 'normal', name: 'n', state: 'COMPLETED' },
  ...{ submitted: null, started: null, ended: null, nodes: 1, cores: 2, timeLimit: 3600 },
  ...{ hosts: null, place: '' },
  ...more,
});

const ACCOUNTED = HOSTS.flatMap((_, k) => [
  accounted(`00${k}`, { user: k % 2 === 0 ? 'ada' : 'bob' }),
  accounted(`02${k}`, { queue: 'largemem', user: 'eve' }),
]);

/** What the files say, without an index. */
async function directly(folder: string, jobs: readonly AccountedJob[] = []) {
  const byId = accountedById(jobs);
  const { jobs: listed } = await listJobs(openArchive(folder), ALWAYS);
  return measuredRows(
    listed.map((one) => ({ listed: one, accounted: accountedFor(byId, one) })),
    { foreign: false },
  );
}

async function asked<T>(
  folder: string,
  question: (jobs: NonNullable<Awaited<ReturnType<typeof openJobs>>['jobs']>) => Promise<T>,
  jobs: readonly AccountedJob[] | null = null,
): Promise<T> {
  const { jobs: kept, note } = await openJobs(openArchive(folder), jobs);
  expect(note).toBeNull();
  if (kept === null) throw new Error('no index');
  try {
    return await question(kept);
  } finally {
    kept.close();
  }
}

describe('a job index', () => {
  const folder = archiveOf({});

  it('of 20 hosts and 2 days that grew day by day is equal to the files, and to one made at once', async () => {
    for (const number of [0, 1]) {
      for (const [k, host] of HOSTS.entries()) {
        mkdirSync(join(folder, host), { recursive: true });
        writeFileSync(join(folder, pathOf(host, number)), day(k, number));
      }
      const work = { lines: 0, records: 0 };
      const result = await updateIndex(openArchive(folder), { work, filesAtOnce: 7 });
      expect(result).toMatchObject({ read: 20, gone: 0, files: 20 * (number + 1) });
      // On day 2 nothing is read again but for the jobs that go on: one a host.
      expect(work.records).toBeLessThan(number === 0 ? 2000 : 3000);
    }
    const rows = await directly(folder);
    expect(rows).toHaveLength(2 * 20 * 6 + 5);
    expect(await asked(folder, (jobs) => jobs.rows())).toEqual(rows);
    expect(rows.find(({ id }) => id === 'w1')).toMatchObject({ hosts: 4, groups: 24 });
    await updateIndex(openArchive(folder), { rebuild: true });
    expect(await asked(folder, (jobs) => jobs.rows())).toEqual(rows);
  });

  it('notices each way in which files change, and reads what changed only', async () => {
    const [first, second] = [0, 1].map((n) => join(folder, pathOf(HOSTS[n], 1)));
    const more = (path: string, id: string) => {
      const time = MIDNIGHT + 2 * DAY + 60;
      appendFileSync(path, `\n${time} ${id}\ncpu 0 99999999 0 0 0\n`);
    };
    const changes: readonly (readonly [() => void, Readonly<Record<string, number>>])[] = [
      [() => more(first, 'new'), { read: 1, measured: 1 + 6 + 1 }],
      [() => utimesSync(first, 1, 1), { read: 1, measured: 1 + 6 + 1 }],
      [
        () => {
          // Another file of the same size and time.
          writeFileSync(`${second}.x`, readFileSync(second, 'utf8').replaceAll('cpu 0 ', 'cpu 7 '));
          utimesSync(second, 5, 5);
          utimesSync(`${second}.x`, 5, 5);
          renameSync(`${second}.x`, second);
        },
        { read: 1, measured: 6 + 1 },
      ],
      [() => rmSync(first), { read: 0, gone: 1, measured: 1, files: 39 }],
    ];
    for (const [change, counts] of changes) {
      change();
      const result = await updateIndex(openArchive(folder));
      expect(result).toMatchObject(counts);
    }
    expect(await asked(folder, (jobs) => jobs.rows())).toEqual(await directly(folder));
    // A question notices, too.
    more(second, 'newer');
    const ids = await asked(folder, async (jobs) => (await jobs.rows()).map(({ id }) => id));
    expect(ids).toContain('newer');
    expect(ids).not.toContain('new');
  });

  it('takes accounting: queues that rules go by, users, requested nodes, sums by any of them', async () => {
    const rows = await asked(folder, (jobs) => jobs.rows(), ACCOUNTED);
    expect(rows).toEqual(await directly(folder, ACCOUNTED));
    expect(rows.find(({ id }) => id === '025')?.flags).toContain('page-small-in-largemem');
    await asked(folder, async (jobs) => {
      const found = await jobs.rows({
        where: 'seconds > 3600 -- and so',
        user: 'eve',
        hosts: ['c105.x'],
      });
      expect(found.map(({ id }) => id)).toEqual(['025']);
      await expect(jobs.rows({ where: 'true); DROP TABLE x; --' })).rejects.toThrow();
      await expect(jobs.rows({ where: "id IN (FROM read_text('/etc/passwd'))" })).rejects.toThrow();
      const users = await jobs.by('user');
      // Each of theirs is two groups, two hours apart, on one host.
      expect(users.map(({ group, jobs: count, nodeHours }) => [group, count, nodeHours])).toEqual([
        ['', expect.any(Number), expect.any(Number)],
        ['eve', 20, 40],
        ['ada', 10, 20],
        ['bob', 10, 20],
      ]);
      const own = rows.filter(({ user }) => user === 'eve');
      const busy = own.reduce(
        (sum, { metrics, seconds }) => sum + Number(metrics.avg_cpuusage) * seconds,
        0,
      );
      const all = own.reduce((sum, { seconds }) => sum + 2 * seconds, 0);
      expect(users[1].efficiency).toBeCloseTo(busy / all, 12);
      const days = await jobs.by('day');
      const hours = (from: number) =>
        rows.reduce((sum, { first, last, hosts }) => {
          const within = Math.min(last, from + DAY) - Math.max(first, from);
          return sum + (Math.max(0, within) * hosts) / 3600;
        }, 0);
      expect(days.map(({ group }) => group)).toEqual(['2026-03-01', '2026-03-02', '2026-03-03']);
      for (const [k, { nodeHours }] of days.entries()) {
        expect(nodeHours).toBeCloseTo(hours(MIDNIGHT + k * DAY), 9);
      }
    });
  });

  it('stays as it was where a writer dies, and is made anew where it is damaged', async () => {
    const before = await asked(folder, (jobs) => jobs.rows());
    const path = indexPath(openArchive(folder));
    const { hostname } = await import('node:os');
    // What a writer left that is no longer there; 4194304 is no process.
    writeFileSync(`${path}.${hostname()}.4194304.tmp`, 'half');
    await expect(
      writeKept(path, {}, async (draft) => {
        await draft.run('DELETE FROM _measured');
        throw new Error('dies');
      }),
    ).rejects.toThrow('dies');
    expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([
      '.jobs.duckdb',
      '.jobs.duckdb.lock',
    ]);
    expect(await asked(folder, (jobs) => jobs.rows())).toEqual(before);
    writeFileSync(path, 'no database');
    const again = await asked(folder, (jobs) => jobs.rows(), ACCOUNTED);
    expect(again).toEqual(before);
  });

  it('takes no number beyond what it holds, and is no pipe or link', async () => {
    const strange = archiveOf({
      [`a/${NOON}`]: rawFile({
        host: 'a',
        groups: [{ time: NOON, jobs: '1', records: ['cpu 0 1 0 0 0'] }],
      }),
    });
    const archive = openArchive(strange);
    const path = indexPath(archive);
    await updateIndex(archive, { accounted: [accounted('1', { nodes: 1e20, cores: 1.5 })] });
    rmSync(path);
    execFileSync('mkfifo', [path]);
    await expect(updateIndex(archive, {})).rejects.toThrow(`${path}: is not a file; remove it`);
    expect((await openJobs(archive, null)).note).toContain('is not a file');
    rmSync(path);
    rmSync(`${path}.lock`);
    symlinkSync(join(strange, 'other'), `${path}.lock`);
    await expect(updateIndex(archive, {})).rejects.toThrow('ELOOP');
    expect(existsSync(join(strange, 'other'))).toBe(false);
  });

  it('is left to who writes it', async () => {
    const held = openSync(`${indexPath(openArchive(folder))}.lock`, 'r+');
    expect(tryLock(held)).toBe(true);
    appendFileSync(
      join(folder, pathOf(HOSTS[3], 1)),
      `\n${MIDNIGHT + 2 * DAY} late\ncpu 0 1 0 0 0\n`,
    );
    expect(await updateIndex(openArchive(folder), { patience: 0 })).toBeNull();
    closeSync(held);
    expect(await updateIndex(openArchive(folder), { patience: 0 })).toMatchObject({ read: 1 });
  });

  it('takes files as they come, and keeps jobs whose files are too old to be kept', async () => {
    const own = archiveOf({});
    for (const host of HOSTS.slice(0, 4)) mkdirSync(join(own, host), { recursive: true });
    const put = (number: number) =>
      HOSTS.slice(0, 4).map((host, k) => {
        writeFileSync(join(own, pathOf(host, number)), day(k, number));
        return pathOf(host, number);
      });
    // Without an index nothing is made.
    await indexArrived(own, put(0));
    expect(readdirSync(own)).not.toContain('.jobs.duckdb');
    await updateIndex(openArchive(own));
    await indexArrived(own, put(1));
    const rows = await directly(own);
    expect(await asked(own, (jobs) => jobs.rows())).toEqual(rows);
    // Those files began years ago.
    const days = (Date.now() / 1000 - MIDNIGHT) / DAY - 0.5;
    expect(await retain(openArchive(own), days)).toBe(4);
    expect(await asked(own, (jobs) => jobs.rows())).toEqual(rows);
    const path = join(own, pathOf(HOSTS[0], 2));
    writeFileSync(path, day(0, 2));
    await updateIndex(openArchive(own), { rebuild: true });
    const ids = (all: readonly { id: string }[]) => new Set(all.map(({ id }) => id));
    const all = await asked(own, (jobs) => jobs.rows());
    // The job that goes on is what it was: what is left of its files would not be it.
    expect(all.filter(({ id }) => ids(rows).has(id))).toEqual(rows);
    expect(all.length).toBe(rows.length + 6);
    expect(await updateIndex(openArchive(own), { keep: false })).toMatchObject({ files: 5 });
    expect(ids(await asked(own, (jobs) => jobs.rows()))).toEqual(ids(await directly(own)));
  });
});
