/** `triscope node job` and `node jobs`, as a user calls them. */
import { copyFileSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  archiveOf,
  busy,
  CPU,
  MEM,
  NOON,
  rawFile,
  whole,
} from '../findings/job/support/archive.ts';
import { triscope, triscopeHere } from './support/run.ts';

let archive = '';
let accounting = '';

beforeAll(() => {
  const withMemory = (groups: ReturnType<typeof whole>) =>
    groups.map((group) => ({
      ...group,
      records: [...(group.records ?? []), 'mem 0 8388608 2097152 0 0'],
    }));
  archive = archiveOf({
    [`a.x/${NOON}.gz`]: rawFile({
      ...{ host: 'a.x', schemas: [CPU, MEM] },
      groups: [
        ...withMemory(whole(NOON, 50)),
        busy(NOON + 3600, 100_000, { jobs: '8', marks: ['begin 8'] }),
        busy(NOON + 4200, 160_000, { jobs: '8' }),
      ],
    }),
    [`b.x/${NOON}`]: rawFile({ host: 'b.x', groups: whole(NOON, 100) }),
    'b.x/junk': 'x',
  });
  accounting = join(archiveOf({}), 'acct');
  writeFileSync(
    accounting,
    [
      'JobID|User|Account|Start|End|Submit|Partition|Timelimit|JobName|State|NNodes|ReqCPUS|NodeList',
      `7|ada|acc|${NOON}|${NOON + 1200}|${NOON - 60}|normal|01:00:00|weather|COMPLETED|3|3|[a-b]`.replace(
        '[a-b]',
        'a,b,c',
      ),
      `8|bob|acc|${NOON + 3600}|${NOON + 4200}|${NOON}|normal|01:00:00|run|FAILED|1|1|a`,
      `5|eve|acc|1000000000|1000003600|1|normal|1|x|COMPLETED|1|1|a`,
      `5|eve|acc|1100000000|1100003600|1|normal|1|x|COMPLETED|1|1|a`,
    ].join('\n'),
  );
});

describe('node job', () => {
  it('prints hosts, metrics with inputs, flags and the course of each host', async () => {
    const { code, out, err } = await triscope([
      ...['node', 'job', '7', '--archive', archive, '--accounting', accounting],
    ]);
    expect(code).toBe(0);
    expect(out).toContain('user ada, account acc, queue normal, name weather, state COMPLETED');
    expect(out).toContain('missing: c has no folder in the archive');
    expect(out).toMatch(/b\.x +3 +12:00:00 +12:20:00 +1\.00 +0 %/);
    // a: 60,000 cs, b: 120,000 cs in 1200 s.
    expect(out).toMatch(/avg_cpuusage +0\.75 cores +cpu\.user 180000 cs/);
    expect(out).toMatch(/a\.x +▅▅\n +b\.x +██/);
    expect(out).toContain('not available: avg_gpuutil: lacks type nvidia_gpu');
    expect(out).toContain('CPU_Usage 75, flagged where <= 800');
    expect(err).toContain('junk: not read: its name is neither a time, a day, nor current');
  });

  it('prints one object with --json', async () => {
    const { code, out } = await triscopeHere(['node', 'job', '7', '--archive', archive, '--json']);
    expect(code).toBe(0);
    const job = JSON.parse(out);
    expect(Object.keys(job)).toEqual([
      ...['id', 'accounting', 'from', 'to', 'seconds', 'hosts', 'missing', 'metrics', 'flags'],
      ...['balance', 'times', 'tracks', 'processes', 'repairs', 'notes', 'oddities'],
      ...['findings', 'notExamined'],
    ]);
    expect(job).toMatchObject({ id: '7', from: '2026-03-01T12:00:00Z', seconds: 1200 });
    const found = job.metrics.find(({ name }: { name: string }) => name === 'avg_cpuusage');
    expect(found).toMatchObject({ value: 0.75, unit: 'cores', formula: 'Δuser / (100 T N)' });
  });

  it('prints the page of a type', async () => {
    const { out } = await triscopeHere(['node', 'job', '7', '--archive', archive, '--type', 'cpu']);
    expect(out).toMatch(/b\.x +all +user +120000 +100 +cs/);
    const wrong = await triscopeHere(['node', 'job', '7', '--archive', archive, '--type', 'net']);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.err).toContain('job 7 has no records of type net; it has cpu, mem');
  });

  it('takes hosts and times', async () => {
    const common = ['node', 'job', '7', '--archive', archive, '--json'];
    const one = await triscopeHere([
      ...common,
      '--hosts',
      'b,c[1-2]',
      '--to',
      '2026-03-01T12:10:00Z',
    ]);
    const { hosts, missing } = JSON.parse(one.out);
    expect(
      hosts.map(({ host, groups }: { host: string; groups: number }) => [host, groups]),
    ).toEqual([['b.x', 2]]);
    expect(missing).toHaveLength(2);
  });

  it.each([
    [['7'], 2, '--archive DIR is missing'],
    [['--archive', 'ARCHIVE'], 2, 'which job?'],
    [['77', '--archive', 'ARCHIVE'], 2, 'no record of job 77 (2 files read); its jobs are 7, 8'],
    [
      ['5', '--archive', 'ARCHIVE', '--accounting', 'ACCT'],
      2,
      'job 5 is ambiguous: it started 2001',
    ],
    [['7', '--archive', '/nowhere'], 3, '/nowhere: there is no such folder'],
    [
      ['7', '--archive', 'ARCHIVE', '--accounting', '/none'],
      3,
      '/none: there is no such file or folder',
    ],
    [['7', '--archive', 'ARCHIVE', '--from', 'noon'], 2, '--from noon: must be seconds since 1970'],
    [['7', '--archive', 'ARCHIVE', '--hosts', 'c[1'], 3, "host list 'c[1'"],
    [
      ['7', '--archive', 'ARCHIVE', '--typ', 'cpu'],
      2,
      'unknown option --typ; did you mean --type?',
    ],
  ])('%j ends with %i: %s', async (args, code, message) => {
    const words = args.map((word) => ({ ARCHIVE: archive, ACCT: accounting })[word] ?? word);
    const outcome = await triscopeHere(['node', 'job', ...words]);
    expect(outcome.code).toBe(code);
    expect(outcome.err).toContain(message);
    expect(outcome.err.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('from the collector to the job', () => {
  it('what begin, collect and end have written is one job with both marks', async () => {
    const root = archiveOf({});
    const log = join(root, 'log');
    const kept = join(root, 'archive');
    for (const words of [['begin', '7001'], ['collect'], ['end', '7001']]) {
      const { code } = await triscope(['node', ...words, '--dir', log, '--job', '7001']);
      expect(code).toBe(0);
    }
    mkdirSync(join(kept, hostname()), { recursive: true });
    for (const name of readdirSync(log).filter((file) => /^\d+$/.test(file))) {
      copyFileSync(join(log, name), join(kept, hostname(), name));
    }
    const { code, out } = await triscope(['node', 'job', '7001', '--archive', kept, '--json']);
    expect(code).toBe(0);
    const { hosts, oddities } = JSON.parse(out);
    expect(hosts).toHaveLength(1);
    expect(hosts[0].groups).toBe(3);
    expect([hosts[0].begin !== null, hosts[0].end !== null]).toEqual([true, true]);
    expect(oddities).toEqual([]);
  });
});

describe('node jobs', () => {
  const ids = async (...more: string[]) => {
    const { out } = await triscopeHere([
      ...['node', 'jobs', '--archive', archive, '--accounting', accounting, '--json'],
      ...more,
    ]);
    return JSON.parse(out).jobs.map(({ id }: { id: string }) => id);
  };

  it('lists jobs with metrics, and the marks that hosts lack', async () => {
    const { code, out } = await triscopeHere(['node', 'jobs', '--archive', archive]);
    expect(code).toBe(0);
    expect(out).toMatch(/ 7 .* 2026-03-01 12:00 +0\.33 +2 +0\.75 /);
    expect(out).toMatch(/ 8 .* 2026-03-01 13:00 +0\.17 +1 +1 end +1 /);
  });

  it('searches by user, time, flag and SQL', async () => {
    expect(await ids()).toEqual(['7', '8']);
    expect(await ids('--user', 'bob')).toEqual(['8']);
    expect(await ids('--from', String(NOON + 3000))).toEqual(['8']);
    expect(await ids('--flag', 'low-cpu,page-low-cpu')).toEqual(['7', '8']);
    expect(await ids('--flag', 'high-cpi')).toEqual([]);
    expect(
      await ids('--where', "hosts > 1 AND avg_cpuusage < 0.9 AND flags LIKE '%low-cpu%'"),
    ).toEqual(['7']);
    expect(await ids('--where', 'mem_hwm IS NULL')).toEqual(['8']);
    expect(await ids('--sort', 'avg_cpuusage:desc')).toEqual(['8', '7']);
    expect(await ids('--no-metrics')).toEqual(['7', '8']);
  });

  it.each([
    [['--user', 'ada'], '--user needs --accounting FILE'],
    [['--flag', 'high-cp'], '--flag high-cp: there is no such name; did you mean high-cpi?'],
    [['--where', 'cpi > 1'], 'there is no column cpi'],
    [
      ['--where', '1=1) ; DROP TABLE jobs; SELECT (1'],
      'there are 3 statements: give one at a time',
    ],
    [['--sort', 'age'], '--sort age: there is no such name'],
    [['7'], 'unexpected 7; node jobs takes only options'],
  ])('%j is refused: %s', async (args, message) => {
    const { code, err } = await triscopeHere(['node', 'jobs', '--archive', archive, ...args]);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it('says where an archive is empty', async () => {
    const empty = archiveOf({});
    mkdirSync(join(empty, 'host'));
    const { code, err } = await triscopeHere(['node', 'jobs', '--archive', empty]);
    expect(code).toBe(3);
    expect(err).toContain('no raw stats file in this archive');
  });
});

describe('node index', () => {
  it('changes no answer of node jobs and node job, adds sums, SQL and Parquet', async () => {
    const folder = archiveOf({});
    cpSync(archive, folder, { recursive: true });
    const told = async (...words: string[]) => {
      const { code, out, err } = await triscopeHere(words);
      expect([code, err.replace(/^.*junk.*\n/gm, '')]).toEqual([0, '']);
      return out;
    };
    const questions = [
      ['node', 'jobs', '--archive', folder, '--accounting', accounting, '--json'],
      ['node', 'jobs', '--archive', folder, '--where', 'hosts = 1', '--hosts', 'a', '--sort', 'id'],
      ['node', 'job', '8', '--archive', folder],
    ];
    const before = [];
    for (const words of questions) before.push(await told(...words));
    const needs = await triscopeHere(['node', 'jobs', '--archive', folder, '--by', 'user']);
    expect([needs.code, needs.err]).toEqual([2, expect.stringContaining('node index --archive')]);
    const parquet = join(folder, 'parquet');
    expect(
      await told(
        ...['node', 'index', '--archive', folder, '--accounting', accounting],
        ...['--parquet', parquet, '--cluster', 'c1'],
      ),
    ).toMatch(/^2 files \(2 read, .*\), 2 jobs \(2 measured\)$/m);
    expect(readdirSync(join(parquet, 'date=2026-03-01', 'cluster=c1'))).toHaveLength(1);
    rmSync(parquet, { recursive: true });
    for (const [k, words] of questions.entries()) {
      // The second is asked without accounting: the index has it, now.
      const now = await told(...words);
      if (k === 1) expect(now).toContain('bob');
      else expect(now).toBe(before[k]);
    }
    // 7: 2 hosts, 1200 s, CPU 0 of each half and wholly busy; 8: 600 s of one host.
    expect(
      JSON.parse(await told('node', 'jobs', '--archive', folder, '--by', 'user', '--json')),
    ).toEqual({
      by: 'user',
      groups: [
        {
          group: 'ada',
          jobs: 1,
          nodeHours: 2 / 3,
          efficiency: 0.75,
          flaggedJobs: 1,
          flaggedNodeHours: 2 / 3,
        },
        {
          group: 'bob',
          jobs: 1,
          nodeHours: 1 / 6,
          efficiency: 1,
          flaggedJobs: 1,
          flaggedNodeHours: 1 / 6,
        },
      ],
    });
    const sql = 'SELECT id, requested_cores, time_limit, application FROM jobs ORDER BY id';
    const query = ['query', join(folder, '.jobs.duckdb'), sql, '--json'];
    expect(JSON.parse(await told(...query))).toEqual([
      { id: '7', requested_cores: 3, time_limit: 3600, application: '' },
      { id: '8', requested_cores: 1, time_limit: 3600, application: '' },
    ]);
    // Each column of the index says what it is.
    const unsaid = `SELECT table_name, column_name FROM duckdb_columns()
      WHERE schema_name = 'main' AND (table_name LIKE 'job%' OR table_name = 'host_days') AND coalesce(comment, '') = ''`;
    expect(JSON.parse(await told(...query.slice(0, 2), unsaid, '--json'))).toEqual([]);
    const described = JSON.parse(await told(...query.slice(0, 2), 'DESCRIBE jobs', '--json'));
    expect(described.map((one: { comment: string }) => one.comment)).toContain(
      'GHz: nominal frequency × ΔCLOCKS_UNHALTED_CORE / ΔCLOCKS_UNHALTED_REF',
    );
  });
});
