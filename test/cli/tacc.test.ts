/** `triscope info`, `read` and `query` on raw stats files, as a user calls them. */
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder, triscope, triscopeHere } from './support/run.ts';

const ROOT = temporaryFolder();
const ARCHIVE = join(ROOT, 'archive');
const HOST = join(ARCHIVE, 'c401-101.test.example');
const FIRST = join(HOST, '1307509201');
const SECOND = join(HOST, '1307595601.gz');

const HEADER = `$tacc_stats 2.3.5
$hostname c401-101.test.example
$uptime 5000
!cpu user,E,U=cs iowait,E,U=cs
!lnet rx_bytes,E,U=B
`;
const TEXT = `${HEADER}
1307509201 -

1307509801.5 1981063,1981064 c401-101
%begin 1981063
%note, of more "words"
cpu 0 1000 7
cpu 1 2000 7
lnet - 9007199254740993

1307510401.5 1981063 c401-101
cpu 0 1600 5
cpu 1 2600 7
lnet - 9007199254740999
lines of nobody
`;
const NEXT = `${HEADER.replace('5000', '91400')}
1307595601 -
cpu 0 5000 7
cpu 1 6000 7
lnet - 9007199254741000
`;

beforeAll(() => {
  mkdirSync(HOST, { recursive: true });
  writeFileSync(FIRST, TEXT);
  linkSync(FIRST, join(HOST, 'current'));
  writeFileSync(SECOND, gzipSync(NEXT));
  symlinkSync('..', join(HOST, 'loop'));
});

const objects = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

interface Info {
  readonly files: readonly {
    readonly path: string;
    readonly format: string;
    readonly era: string;
    readonly records: Record<string, number>;
    readonly entities: Record<string, number>;
    readonly from: { readonly time: string } | null;
    readonly to: { readonly time: string } | null;
    readonly suspect: readonly { where: string; what: string; kind: string }[];
    readonly oddities: Record<string, number>;
    readonly counters: Record<string, number>;
  }[];
}

async function infoOf(...paths: string[]): Promise<[number | null, Info['files']]> {
  const { code, out } = await triscopeHere(['info', '--json', ...paths]);
  return [code, (JSON.parse(out) as Info).files];
}

describe('read', () => {
  it('prints one JSON object per record, exact, and one per group without records', async () => {
    const { code, out, err } = await triscope(['read', FIRST, '--format', 'json']);
    expect(code).toBe(0);
    expect(err).toMatch(/1307509201: line 20: unknown type: lines of nobody; left out/);
    const rows = objects(out);
    expect(rows[0]).toEqual({
      time: '1307509201',
      jobids: ['-'],
      host: 'c401-101.test.example',
      marks: [],
      type: null,
      device: null,
      values: {},
    });
    expect(rows[3]).toEqual({
      time: '1307509801.5',
      jobids: ['1981063', '1981064'],
      host: 'c401-101',
      marks: ['begin 1981063', 'note, of more "words"'],
      type: 'lnet',
      device: '-',
      values: { rx_bytes: '9007199254740993' },
    });
    expect(rows).toHaveLength(7);
    expect(Object.keys(rows[1])).toEqual(Object.keys(rows[0]));
  });

  it.each([
    [['--type', 'cpu'], 4],
    [['--type', 'cpu,lnet', '--device', '-'], 2],
    [['--job', '1981064'], 3],
    [['--host', 'c401-101'], 6],
    [['--from', '1307510000'], 3],
    [['--from=2011-06-08T05:10:00Z', '--to=2011-06-08T05:15:00Z'], 3],
    [['--kind', 'group'], 1],
  ])('takes only what is asked for: %j', async (options, count) => {
    const { code, out } = await triscopeHere(['read', FIRST, '--json', ...options]);
    expect([code, objects(out).length]).toEqual([0, count]);
  });

  it('reads a folder: each file once, whatever its names', async () => {
    const { out } = await triscopeHere([
      'read',
      ARCHIVE,
      '--json',
      '--type',
      'cpu',
      '--device',
      '0',
    ]);
    expect(objects(out).map(({ time }) => time)).toEqual([
      '1307509801.5',
      '1307510401.5',
      '1307595601',
    ]);
  });

  it('prints text and CSV too', async () => {
    const text = await triscopeHere(['read', SECOND]);
    expect(text.out.split('\n')[0]).toBe(
      'cpu time=1307595601 jobids=[-] host=c401-101.test.example marks=[] type=cpu device=0 user=5000 iowait=7',
    );
    const csv = await triscopeHere(['read', SECOND, '--format', 'csv']);
    expect(csv.out.split('\n').slice(0, 2)).toEqual([
      'time,jobids,host,marks,type,device,user,iowait,rx_bytes',
      '1307595601,-,c401-101.test.example,,cpu,0,5000,7,',
    ]);
  });

  it('refuses a time that is none', async () => {
    const { code, err } = await triscopeHere(['read', FIRST, '--from', 'noon']);
    expect([code, err]).toEqual([
      2,
      'triscope: --from=noon: must be a number, or a date such as 2026-11-21T10:00Z\n',
    ]);
  });
});

describe('info', () => {
  it('says what a file is, what is in it, what is strange and what counters did', async () => {
    const [code, [file]] = await infoOf(FIRST);
    expect(code).toBe(0);
    expect(file).toMatchObject({
      path: FIRST,
      format: 'tacc',
      era: 'tacc_stats 2.3.5',
      records: { cpu: 4, lnet: 2 },
      entities: { hosts: 2, jobs: 2, devices: 3 },
      from: { time: '1307509201' },
      to: { time: '1307510401.5' },
      groups: 3,
      marks: 2,
      hostname: 'c401-101.test.example',
      uptime: '5000',
      oddities: { unknown_type: 1 },
      counters: { dip: 1 },
      damaged: false,
    });
    expect(file.suspect).toEqual([
      {
        where: 'line 17',
        what: 'cpu 0 iowait: fell by 2: compared with 7 from here on',
        kind: 'dip',
      },
      { where: 'line 20', what: 'unknown type: lines of nobody', kind: 'unknown_type' },
    ]);
    const { out } = await triscopeHere(['info', FIRST]);
    expect(out).toMatch(/oddities {2}unknown_type: 1/);
    expect(out).toMatch(/2011-06-08T05:00:01Z to 2011-06-08T05:20:01Z/);
  });

  it('tells a file in the folder of another host', async () => {
    const folder = join(ARCHIVE, 'c401-102.test.example');
    mkdirSync(folder);
    writeFileSync(join(folder, '1307509201'), TEXT);
    const [, [file]] = await infoOf(join(folder, '1307509201'));
    expect(file.oddities.foreign_file).toBe(1);
    expect(file.suspect.at(-1)?.what).toMatch(/c401-101.test.example, the folder c401-102/);
  });
});

describe('input that is damaged', () => {
  const write = (name: string, content: string | Uint8Array) => {
    const path = join(ROOT, name);
    writeFileSync(path, content);
    return path;
  };

  it('is read up to a last line that was cut, which is told', async () => {
    const path = write('cut', TEXT.slice(0, TEXT.indexOf('lnet - 9007199254740999') + 12));
    const { code, out, err } = await triscopeHere(['read', path, '--json']);
    expect([code, objects(out).length]).toEqual([3, 6]);
    expect(err).toMatch(/cut: line 19: cut off: no newline at the end: lnet - 90071\n$/);
    const [infoCode, [file]] = await infoOf(path);
    expect([infoCode, file.oddities]).toEqual([3, { cut: 1 }]);
  });

  it('is read up to where its gzip is damaged', async () => {
    const packed = gzipSync(HEADER + TEXT.slice(HEADER.length).repeat(500));
    const path = write('1307509201.gz', packed.subarray(0, packed.length / 2));
    const { code, out, err } = await triscopeHere(['read', path, '--json', '--type', 'lnet']);
    expect(code).toBe(3);
    expect(err).toMatch(/damaged gzip/);
    expect(objects(out).length).toBeGreaterThan(100);
    const [infoCode, [file]] = await infoOf(path);
    expect([infoCode, file.oddities.unreadable]).toEqual([3, 1]);
  });

  it('may have lost its header', async () => {
    const path = write('headless', TEXT.slice(TEXT.indexOf('!cpu')));
    const [code, [file]] = await infoOf(path);
    expect([code, file.records, file.oddities.no_header]).toEqual([0, { cpu: 4, lnet: 2 }, 1]);
  });

  it.each([
    ['text', 'hello\nworld\n'],
    ['empty', ''],
    ['packed text', gzipSync('hello\n'.repeat(100))],
    ['numbers', '1 2\n3 4\n5 6\n'],
  ])('that is none is refused: %s', async (name, content) => {
    const { code, err, out } = await triscopeHere(['read', write(name, content), '--json']);
    expect([code, out]).toEqual([3, '']);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
  });
});

describe('query', () => {
  it('has a table for each type and one of marks, of all files of an archive', async () => {
    const rows = async (sql: string) => {
      const { out, err, code } = await triscope(['query', HOST, sql, '--json']);
      expect([code, err.replace(/^triscope: .*line 20: unknown type[^\n]*\n/, '')]).toEqual([
        0,
        '',
      ]);
      return JSON.parse(out) as unknown;
    };
    expect(await rows('SELECT time, device, "user" FROM node_cpu ORDER BY time, device')).toEqual([
      { time: 1307509801.5, device: '0', user: 1000 },
      { time: 1307509801.5, device: '1', user: 2000 },
      { time: 1307510401.5, device: '0', user: 1600 },
      { time: 1307510401.5, device: '1', user: 2600 },
      { time: 1307595601, device: '0', user: 5000 },
      { time: 1307595601, device: '1', user: 6000 },
    ]);
    expect(await rows('SELECT jobids, mark FROM node_mark')).toEqual([
      { jobids: '1981063,1981064', mark: 'begin 1981063' },
      { jobids: '1981063,1981064', mark: 'note, of more "words"' },
    ]);
    expect(await rows('SELECT max(rx_bytes)::VARCHAR AS most FROM node_lnet')).toEqual([
      { most: '9007199254741000' },
    ]);
  });
});
