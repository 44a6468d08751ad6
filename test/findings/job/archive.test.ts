/** Which files of an archive are read, and which records of them are a job's. */
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Work } from '../../../src/findings/job/host-files.ts';
import {
  type Job,
  type JobQuery,
  listJobs,
  measuredRows,
  metricsOf,
  openArchive,
  readJob,
} from '../../../src/findings/job/index.ts';
import { archiveOf, busy, CPU, MEM, NOON, rawFile, whole } from './support/archive.ts';

const read = (
  files: Readonly<Record<string, string>>,
  query: Partial<JobQuery> = {},
): Promise<Job> => readJob(openArchive(archiveOf(files)), { id: '7', ...query });

const CORE = '!intel_snb CTL0,C CTL1,C CTR0,E,W=48 CTR1,E,W=48';

const total = (job: Job, key = 'user') =>
  job.hosts.reduce((sum, { types }) => sum + (types.get('cpu')?.keys.get(key)?.total ?? 0n), 0n);

const EVERYTHING = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY, foreign: false };

describe('the files of an archive', () => {
  it('are those with a time, a day or current for a name, each once', () => {
    const text = rawFile({ host: 'a', groups: whole(NOON, 50) });
    const folder = archiveOf({
      [`a.x/${NOON}`]: text,
      [`a.x/${NOON + 9}.gz`]: text,
      'a.x/20260302': text,
      'a.x/notes.txt': 'junk',
      'b.x/current': text,
      'accounting.txt': '…',
    });
    linkSync(join(folder, `a.x/${NOON}`), join(folder, 'a.x/current'));
    const archive = openArchive(folder);
    expect(archive.files.map(({ host, from }) => [host, from])).toEqual([
      ['a.x', NOON],
      ['a.x', NOON + 9],
      ['a.x', Date.UTC(2026, 2, 2) / 1000],
      ['b.x', null],
    ]);
    expect(archive.skipped.map(({ why }) => why)).toEqual([
      'its name is neither a time, a day, nor current',
    ]);
  });

  it('are not looked for in loops of links', () => {
    const folder = archiveOf({ [`a/${NOON}`]: rawFile({ host: 'a', groups: whole(NOON, 50) }) });
    symlinkSync(folder, join(folder, 'self'));
    symlinkSync('b', join(folder, 'c'));
    symlinkSync('c', join(folder, 'b'));
    symlinkSync('/nowhere', join(folder, 'gone'));
    const archive = openArchive(folder);
    expect(archive.files).toHaveLength(1);
    expect(archive.skipped.map(({ why }) => why).sort()).toEqual([
      'a loop of symbolic links',
      'a loop of symbolic links',
      'a symbolic link that leads nowhere',
      'another name of a file that was already read',
    ]);
  });

  it('must be there', () => {
    const folder = archiveOf({ 'readme.txt': '' });
    expect(() => openArchive(folder)).toThrow('no raw stats file in this archive');
    expect(() => openArchive(join(folder, 'none'))).toThrow('there is no such folder');
    expect(() => openArchive(join(folder, 'readme.txt'))).toThrow('is not a folder');
  });

  it('may be damaged, binary or empty: the rest is read', async () => {
    const folder = archiveOf({
      [`a/${NOON}`]: rawFile({ host: 'a', groups: whole(NOON, 50) }),
      'a/1000000000': '\0\xff binary junk',
      'a/1000000001': '',
      [`a/${NOON + 5000}.gz`]: 'x',
    });
    writeFileSync(join(folder, `a/${NOON + 5000}.gz`), Buffer.from([0x1f, 0x8b, 8, 0, 1, 2]));
    mkdirSync(join(folder, `a/${NOON + 7000}`));
    const job = await readJob(openArchive(folder), { id: '7' });
    expect(total(job)).toBe(60_000n);
    expect(job.oddities.map(({ what }) => what)).toEqual([
      expect.stringContaining('not a raw stats file'),
      expect.stringContaining('empty'),
      expect.stringContaining('gzip'),
    ]);
  });
});

describe('a job’s records', () => {
  it('are subtracted: what it used is last less first', async () => {
    const job = await read({ [`a/${NOON}`]: rawFile({ host: 'a', groups: whole(NOON, 50) }) });
    expect(total(job)).toBe(60_000n);
    expect(job.hosts[0]).toMatchObject({ begin: NOON, end: NOON + 1200, reboots: 0 });
    const usage = metricsOf(job).find(({ metric }) => metric.name === 'avg_cpuusage');
    // 60,000 cs in 1200 s: half a core.
    expect(usage).toMatchObject({
      value: 0.5,
      inputs: [{ name: 'cpu.user', value: 60_000, unit: 'cs' }],
    });
  });

  it('are found in lists of jobs, beside those of others, which are named', async () => {
    const groups = [
      busy(NOON - 600, 0, { jobs: '6' }),
      busy(NOON, 1000, { jobs: '6,7', marks: ['begin 7'] }),
      busy(NOON + 600, 2000, { jobs: '7', marks: ['end 6'] }),
      busy(NOON + 1200, 3000, { jobs: '7', marks: ['end 7'] }),
      busy(NOON + 1800, 9000, { jobs: '-' }),
    ];
    const job = await read({ [`a/${NOON - 600}`]: rawFile({ host: 'a', groups }) });
    expect(job.hosts[0].times).toEqual([NOON, NOON + 600, NOON + 1200]);
    expect(total(job)).toBe(2000n);
    expect(job.hosts[0].others).toEqual(['6']);
  });

  it('begin and end with their marks, even in groups that name another job', async () => {
    const groups = [
      busy(NOON - 60, 500, { jobs: '7' }),
      busy(NOON, 1000, { jobs: '-', marks: ['begin 7'] }),
      busy(NOON + 600, 2000, { jobs: '8', marks: ['end 7'] }),
      busy(NOON + 1200, 3000, { jobs: '7' }),
    ];
    const job = await read({ [`a/${NOON}`]: rawFile({ host: 'a', groups }) });
    expect(job.hosts[0].times).toEqual([NOON, NOON + 600]);
    expect(total(job)).toBe(1000n);
    expect(job.oddities.map(({ what }) => what)).toEqual([
      '1 record group before the begin mark: left out',
      'a record group of job 7 after its end mark: left out',
    ]);
  });

  it('go on in the next file over midnight', async () => {
    const [first, second, third] = whole(NOON, 50);
    const job = await read({
      [`a/${NOON}`]: rawFile({ host: 'a', groups: [first, second] }),
      [`a/${NOON + 1200}.gz`]: rawFile({ host: 'a', uptime: 1e6 + 1200, groups: [third] }),
    });
    expect(total(job)).toBe(60_000n);
    expect(job.hosts[0].files).toHaveLength(2);
  });

  it('go on after a reboot, with counters that begin anew', async () => {
    const [first, second] = whole(NOON, 50);
    const after = busy(NOON + 1200, 3000, { marks: ['end 7'] });
    const job = await read({
      [`a/${NOON}`]: rawFile({ host: 'a', groups: [first, second] }),
      [`a/${NOON + 1200}`]: rawFile({ host: 'a', uptime: 100, groups: [after] }),
    });
    // 30,000 until the last record before, then what was counted since the start.
    expect(total(job)).toBe(33_000n);
    expect(job.hosts[0].reboots).toBe(1);
    expect(job.hosts[0].types.get('cpu')?.keys.get('user')?.verdicts).toMatchObject({
      ok: 1,
      reset: 1,
    });
  });

  it('are left out where another host wrote them, unless they are asked for', async () => {
    const groups = whole(NOON, 50);
    const files = {
      [`a.x/${NOON}`]: rawFile({ host: 'a', groups }),
      [`a.x/${NOON + 5000}`]: rawFile({ host: 'z.y', groups: [busy(NOON + 700, 5e6)] }),
    };
    const job = await read(files);
    expect(total(job)).toBe(60_000n);
    expect(job.oddities.map(({ what }) => what)).toEqual([
      'a record group of host z.y: left out in the folder of a.x',
    ]);
    const with_ = await read(
      { [`a.x/${NOON}`]: rawFile({ host: 'z.y', groups }) },
      { foreign: true },
    );
    expect(total(with_)).toBe(60_000n);
  });

  it('are told from those of a foreign group by its line’s third field too', async () => {
    const groups = whole(NOON, 50).map((group, k) => ({ ...group, host: k === 1 ? 'q' : 'a' }));
    const job = await read({ [`a/${NOON}`]: rawFile({ host: 'a', groups }) });
    expect(job.hosts[0].times).toEqual([NOON, NOON + 1200]);
  });

  it('count on every host, also on one without begin or end', async () => {
    const [first, second, third] = whole(NOON, 50);
    const job = await read({
      [`a/${NOON}`]: rawFile({ host: 'a', groups: [first, second, third] }),
      [`b/${NOON}`]: rawFile({ host: 'b', groups: [second, third] }),
      [`c/${NOON}`]: rawFile({ host: 'c', groups: [first, second] }),
    });
    expect(job.hosts.map(({ begin, end }) => [begin !== null, end !== null])).toEqual([
      [true, true],
      [false, true],
      [true, false],
    ]);
    expect(total(job)).toBe(120_000n);
  });

  it('are missing on hosts that should have them, and these are named', async () => {
    const accounted = {
      ...{
        id: '7',
        user: 'ada',
        account: '',
        queue: 'q',
        name: '',
        state: '',
        place: 'acct: line 1',
      },
      ...{ submitted: NOON, started: NOON, ended: NOON + 1200, nodes: 3, cores: 3 },
      ...{ timeLimit: null, hosts: ['a', 'b', 'd'] },
    };
    const job = await read(
      {
        [`a.x/${NOON}`]: rawFile({ host: 'a', groups: whole(NOON, 50) }),
        [`b.x/${NOON}`]: rawFile({ host: 'b', groups: [busy(NOON, 1, { jobs: '-' })] }),
        [`c.x/${NOON}`]: rawFile({ host: 'c', groups: whole(NOON, 50) }),
      },
      { accounted },
    );
    expect(job.hosts.map(({ host }) => host)).toEqual(['a.x']);
    expect(job.missing).toEqual([
      { host: 'd', why: 'has no folder in the archive' },
      { host: 'b.x', why: 'has no record of the job' },
    ]);
  });

  it('of another time are not taken', async () => {
    const job = await read(
      { [`a/${NOON}`]: rawFile({ host: 'a', groups: whole(NOON, 50) }) },
      { from: NOON + 1, to: NOON + 1000 },
    );
    expect(job.hosts[0].times).toEqual([NOON + 600]);
  });

  it('must be there: else the nearest jobs are named', async () => {
    const files = {
      [`a/${NOON}`]: rawFile({
        host: 'a',
        groups: ['1', '40', '41', '399'].map((jobs, k) => busy(NOON + k, 1, { jobs })),
      }),
    };
    await expect(read(files, { id: '42' })).rejects.toThrow(
      'no record of job 42 (1 file read); its jobs are 41, 40, 1, 399',
    );
  });

  it('of a second job of the same id are another part, which --from reads', async () => {
    const files = {
      [`a/${NOON}`]: rawFile({
        host: 'a',
        groups: [...whole(NOON, 50), ...whole(NOON + 9000, 10, 9e6)],
      }),
    };
    const first = await read(files);
    expect(total(first)).toBe(60_000n);
    expect(first.oddities[0].what).toBe(
      `job 7 begins again after its end and is left out; --from ${NOON + 9000} reads that part`,
    );
    expect(total(await read(files, { from: NOON + 9000 }))).toBe(12_000n);
  });

  it('list its processes, with the most that each had', async () => {
    const schema = '!proc Uid VmHWM,U=kB VmRSS,U=kB Threads';
    const groups = whole(NOON, 50).map((group, k) => ({
      ...group,
      records: [`proc a.out/${77 + (k % 2)}/0-3/0 1000 ${1024 * (k + 1)} ${512 * (3 - k)} ${k}`],
    }));
    const job = await read({ [`a/${NOON}`]: rawFile({ host: 'a', schemas: [schema], groups }) });
    expect(job.hosts[0].processes.list).toEqual([
      {
        ...{ name: 'a.out', pid: '77', cpus: '0-3', memory: '0', first: NOON, last: NOON + 1200 },
        ...{ highWater: 3 * 2 ** 20, resident: 1.5 * 2 ** 20, threads: 2 },
      },
      {
        ...{
          name: 'a.out',
          pid: '78',
          cpus: '0-3',
          memory: '0',
          first: NOON + 600,
          last: NOON + 600,
        },
        ...{ highWater: 2 ** 21, resident: 2 ** 20, threads: 1 },
      },
    ]);
  });

  it('survive a schema that changes, and say what that costs', async () => {
    const [first, second, third] = whole(NOON, 50);
    const job = await read({
      [`a/${NOON}`]: rawFile({ host: 'a', groups: [first, second] }),
      [`a/${NOON + 1200}`]: rawFile({
        ...{ host: 'a', uptime: 1e6 + 1200, schemas: [CPU.replace(' nice,E,U=cs', '')] },
        groups: [{ ...third, records: ['cpu 0 99000 0 0'] }],
      }),
    });
    expect(total(job)).toBe(30_000n);
    expect(job.oddities.map(({ what }) => what)).toEqual([
      'schema of cpu changed: its counts since the previous record are unknown',
    ]);
  });
});

describe('damaged files', () => {
  const sound = rawFile({
    ...{ host: 'a', schemas: [CPU, MEM, CORE] },
    groups: whole(NOON, 50).map((group, k) => ({
      ...group,
      records: [
        ...(group.records ?? []),
        'mem 0 8388608 2097152 0 0',
        `intel_snb 0 4424720 4391441 ${k * 10} ${k}`,
      ],
    })),
  });
  const folder = archiveOf({ [`a/${NOON}`]: sound });
  const bytes = Buffer.from(sound);

  it('give what they have, or say that the job is not there', async () => {
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255), fc.nat(40));
    await fc.assert(
      fc.asyncProperty(
        fc.array(change, { maxLength: 8 }),
        fc.nat(bytes.length),
        async (changes, cut) => {
          const damaged = Buffer.from(bytes);
          for (const [at, byte, length] of changes)
            damaged.fill(byte, at, Math.min(bytes.length, at + (length % 4) + 1));
          writeFileSync(join(folder, `a/${NOON}`), damaged.subarray(0, Math.max(cut, 300)));
          try {
            const job = await readJob(openArchive(folder), { id: '7' });
            for (const { value } of metricsOf(job)) expect(value).not.toBeNaN();
          } catch (error) {
            expect((error as Error).name).toBe('JobNotFoundError');
          }
        },
      ),
      { numRuns: Number(process.env.TRISCOPE_FUZZ ?? 200) },
    );
  }, 3_600_000);
});

describe('the list of jobs', () => {
  it('has every job with its hosts, times and marks', async () => {
    const archive = openArchive(
      archiveOf({
        [`a/${NOON}`]: rawFile({ host: 'a', groups: whole(NOON, 50) }),
        [`b/${NOON}`]: rawFile({
          host: 'b',
          groups: [busy(NOON + 5, 1), busy(NOON + 2000, 1, { jobs: '9,10' })],
        }),
      }),
    );
    const { jobs } = await listJobs(archive, EVERYTHING);
    expect(jobs.map(({ id, first, last, groups }) => [id, first, last, groups])).toEqual([
      ['7', NOON, NOON + 1200, 4],
      ['10', NOON + 2000, NOON + 2000, 1],
      ['9', NOON + 2000, NOON + 2000, 1],
    ]);
    expect([...jobs[0].hosts]).toEqual([
      ['a', { begin: true, end: true, groups: 3 }],
      ['b', { begin: false, end: false, groups: 1 }],
    ]);
  });
});

/** Jobs of one host one after the other, of ten minutes each, a day's in a file. */
function manyJobs(count: number): string {
  const files: Record<string, string> = {};
  for (let from = 0; from < count; from += 50) {
    const groups = Array.from({ length: Math.min(50, count - from) }, (_, k) => {
      const [id, time] = [from + k + 1, NOON + (from + k) * 600];
      const at = (more: number, mark: string) =>
        busy(time + more, 100 * (from + k) + more, { jobs: String(id), marks: [`${mark} ${id}`] });
      return [at(0, 'begin'), at(300 + (id % 7), 'end')];
    }).flat();
    files[`a/${NOON + from * 600}`] = rawFile({ host: 'a', groups });
  }
  return archiveOf(files);
}

describe('many jobs', () => {
  it('are read with the files’ lines, not with the files for each job', async () => {
    const works: Work[] = [];
    for (const count of [100, 200, 400]) {
      const { jobs } = await listJobs(openArchive(manyJobs(count)), EVERYTHING);
      const work = { lines: 0, records: 0 };
      const rows = await measuredRows(
        jobs.map((listed) => ({ listed, accounted: null })),
        { foreign: false, work },
      );
      expect(rows).toHaveLength(count);
      works.push(work);
    }
    expect(works[0].records).toBe(200);
    expect(works[0].lines).toBe(2 * (5 + 4 * 100));
    for (const [k, { lines, records }] of works.entries()) {
      expect([lines, records]).toEqual([2 ** k * works[0].lines, 2 ** k * works[0].records]);
    }
  });

  it('have the same metrics together, in batches of any size, and one by one', async () => {
    const shared = (host: string, k: number) =>
      rawFile({
        host,
        groups: Array.from({ length: 40 }, (_, n) => ({
          ...busy(NOON + 60 * n + k, 1000 * n * (k + 1) + 7 * n * n),
          // Jobs of one, two and three hosts, that meet in groups; 30 has no end.
          jobs: [
            10 + (n >> 2),
            ...(n % 3 > k ? [20 + (n >> 3)] : []),
            ...(n > 30 ? [30] : []),
          ].join(','),
          marks:
            n % 8 === 0 ? [`begin ${20 + (n >> 3)}`] : n % 8 === 7 ? [`end ${20 + (n >> 3)}`] : [],
        })),
      });
    const archive = openArchive(
      archiveOf(
        Object.fromEntries(['a', 'b', 'c'].map((host, k) => [`${host}/${NOON}`, shared(host, k)])),
      ),
    );
    const { jobs } = await listJobs(archive, EVERYTHING);
    const toRead = jobs.map((listed) => ({ listed, accounted: null }));
    const together = await measuredRows(toRead, { foreign: false });
    for (const parts of [1, 5]) {
      const limits = { parts, groups: 1000 };
      expect(await measuredRows(toRead, { foreign: false, limits })).toEqual(together);
    }
    expect(together.map(({ id, hosts }) => [id, hosts])).toContainEqual(['30', 3]);
    for (const { id, metrics } of together) {
      const { avg_cpuusage: usage } = metrics;
      const job = await readJob(archive, { id });
      const alone = metricsOf(job).find(({ metric }) => metric.name === 'avg_cpuusage');
      expect([id, usage]).toEqual([id, alone?.value]);
      expect(usage).not.toBeNull();
    }
  });
});
