/** Accounting files and host lists: who ran what, when, where. */
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandHosts, parseAccounting, readAccounting } from '../../../src/findings/job/index.ts';
import { archiveOf } from './support/archive.ts';

const sge = (id: string, task: string) =>
  [
    ...['normal', 'c1-101', 'users', 'ada', 'weather', id, 'sge', '0'],
    ...['1300000000', '1300000060', '1300003660', '0', '0', '3600'],
    ...Array.from({ length: 17 }, () => '0'),
    ...['TG-1', 'defaultdepartment', '16way', '32', task],
    ...Array.from({ length: 8 }, () => '0'),
  ].join(':');

describe('host lists', () => {
  it.each([
    ['c401-101', ['c401-101']],
    ['c[401-403]', ['c401', 'c402', 'c403']],
    ['n[008-011]', ['n008', 'n009', 'n010', 'n011']],
    [
      'c[401-402,410]-10[1-2]',
      ['c401-101', 'c401-102', 'c402-101', 'c402-102', 'c410-101', 'c410-102'],
    ],
    ['a[1-2].x,b c', ['a1.x', 'a2.x', 'b', 'c']],
    ['a,a,[1-2]', ['a', '1', '2']],
    ['None assigned', []],
    ['', []],
  ])('%s', (list, hosts) => {
    expect(expandHosts(list)).toEqual(hosts);
  });

  it.each(['c[1-2', 'c]1', 'c[a-b]', 'c[2-1]', 'c[1-999999999]', 'c[[1]]', 'c[1-400][1-400]'])(
    'refuses %s and says why',
    (list) => {
      expect(() => expandHosts(list)).toThrow(/^host list '/);
    },
  );

  it('never gives a host twice, whatever the ranges', () => {
    const range = fc.tuple(fc.nat(99), fc.nat(20)).map(([low, more]) => `${low}-${low + more}`);
    fc.assert(
      fc.property(fc.array(range, { minLength: 1, maxLength: 4 }), (ranges) => {
        const hosts = expandHosts(`n[${ranges.join(',')}]`);
        expect(new Set(hosts).size).toBe(hosts.length);
        expect(hosts.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe('accounting files', () => {
  it('reads SGE: 44 fields', () => {
    const { jobs, problems } = parseAccounting(`# comment\n${sge('42', '0')}\n${sge('43', '5')}\n`);
    expect(problems).toEqual([]);
    expect(jobs.map(({ id }) => id)).toEqual(['42', '43.5']);
    expect(jobs[0]).toMatchObject({
      ...{ user: 'ada', account: 'TG-1', queue: 'normal', name: 'weather', state: 'COMPLETED' },
      ...{ submitted: 1300000000, started: 1300000060, ended: 1300003660, cores: 32, hosts: null },
    });
  });

  it('reads SLURM with colons, also those in a job’s name', () => {
    const lines = [
      '20:1:PROJECT-X:no:1414794601:1414794880:0:normal:0:jobname-nehalem:COMPLETED:1:8',
      '35:9:P::1380663063:1380671326:1380663063:normal:360:co::no:COMPLETED:14:224',
    ];
    expect(parseAccounting(lines.join('\n')).jobs).toMatchObject([
      { id: '20', user: '1', name: 'jobname-nehalem', submitted: null, nodes: 1, cores: 8 },
      { id: '35', account: 'P', name: 'co::no', state: 'COMPLETED', nodes: 14, cores: 224 },
    ]);
  });

  it('reads sacct with its columns in any order, without steps', () => {
    const text = [
      'JobID|NodeList|User|Start|End|State|NNodes',
      '7_1|c[401-402]|ada|2026-03-01T12:00:00Z|Unknown|RUNNING|2',
      '7_1.batch|c401||2026-03-01T12:00:00Z|Unknown|RUNNING|1',
      '8|None assigned|bob|Unknown|Unknown|CANCELLED by 5|1',
    ].join('\n');
    expect(parseAccounting(text).jobs).toMatchObject([
      { id: '7_1', hosts: ['c401', 'c402'], user: 'ada', started: 1772366400, ended: null },
      { id: '8', hosts: [], state: 'CANCELLED', started: null },
    ]);
  });

  it('reads sacct without a header in the usual order', () => {
    const line =
      '9|ada|acc|1772366400|1772370000|1772366000|normal|01:00:00|run|COMPLETED|2|32|n[1-2]';
    expect(parseAccounting(line).jobs).toMatchObject([
      {
        id: '9',
        user: 'ada',
        queue: 'normal',
        name: 'run',
        nodes: 2,
        cores: 32,
        hosts: ['n1', 'n2'],
      },
    ]);
  });

  it('names lines that it cannot use and goes on', () => {
    const { jobs, problems } = parseAccounting(`nonsense\n${sge('42', '0')}\n1|2\n`, 'acct');
    expect(jobs).toHaveLength(1);
    expect(problems).toEqual([
      { place: 'acct: line 1', what: '1 fields: neither SGE (44), SLURM (13) nor sacct (|)' },
      { place: 'acct: line 3', what: '2 fields, its header has 13' },
    ]);
  });

  it('takes a folder of files a day', () => {
    const folder = archiveOf({
      '2026-03-01': '1|ada|a|1772366400|1772370000|1|q|t|n|COMPLETED|1|1|n1',
      '2026-03-02': '2|bob|a|1772366400|1772370000|1|q|t|n|COMPLETED|1|1|n1',
    });
    expect(readAccounting(folder).jobs.map(({ user }) => user)).toEqual(['ada', 'bob']);
  });

  it('says so where there is none, or nothing in it', () => {
    const folder = archiveOf({ empty: '' });
    expect(() => readAccounting(join(folder, 'none'))).toThrow('there is no such accounting file');
    expect(() => readAccounting(join(folder, 'empty'))).toThrow('no job in this accounting file');
  });
});
