/** Reading GEOPM's files: old text, odd values, damage. */
import fc from 'fast-check';
import { batchesOf, FormatError, GEOPM, identify } from 'triscope/formats';
import { describe, expect, it } from 'vitest';
import { rowsInText, textSource } from './support.ts';

const TEXT_REPORT = `##### geopm 0.6.0 #####
Start Time: Thu May 30 14:38:17 2019
Profile: test
Agent: monitor
Policy: {}

Host: node7
Region stream (0x00000000d691da00):
\truntime (sec): 1.25
\tsync-runtime (sec): 1.2
\tpackage-energy (joules): 60.5
\tcount: 10
Region unmarked-region (0x00000000725e8066):
\truntime (sec): 0.5
Epoch Totals:
\truntime (sec): 2
Application Totals:
\truntime (sec): 3.5
\tgeopmctl memory HWM: 8784 kB
`;

const HEADER =
  'GEOPM Version: 3.1.0\nStart Time: now\nProfile: "p"\nAgent: monitor\nPolicy: {}\n\nHosts:\n';
const TRACE = '# geopm_version: 3.1.0\n# node_name: vm\nTIME|EPOCH_COUNT|REGION_HASH\n';

describe('reports', () => {
  it('as text, before 1.1: regions and totals with their own keys', () => {
    const { rows } = rowsInText(TEXT_REPORT);
    expect(rows.map(({ kind }) => kind)).toEqual(['region', 'unmarked', 'epoch', 'application']);
    expect(rows[0].values).toEqual({
      host: 'node7',
      section: 'region',
      region: 'stream',
      hash: '0x00000000d691da00',
      'runtime (sec)': 1.25,
      'sync-runtime (sec)': 1.2,
      'package-energy (joules)': 60.5,
      count: 10,
    });
    expect(rows[3].values['geopmctl memory HWM']).toBe('8784 kB');
  });

  it('read nan, inf and numbers without a point as numbers', () => {
    const text = `${HEADER}  h:\n    Application Totals:\n      a: nan\n      b: 3e+06\n      c: -inf\n      d: .5\n      e: NAN\n      f: 1e\n`;
    const [{ values }] = rowsInText(text).rows;
    expect(values).toMatchObject({
      a: Number.NaN,
      b: 3e6,
      c: -Infinity,
      d: 0.5,
      e: Number.NaN,
      f: '1e',
    });
  });

  it('read names escaped as YAML has it, and as GEOPM leaves them', () => {
    const region = (name: string) => `    -\n      region: ${name}\n      hash: 0x1\n`;
    const names = ['"a\\"b"', '"a"b"', '"a\\b"', 'plain', '"tab\\tx"'].map(region).join('');
    const { rows } = rowsInText(`${HEADER}  h:\n    Regions:\n${names}`);
    expect(rows.map(({ values }) => values.region)).toEqual([
      'a"b',
      'a"b',
      'a\b',
      'plain',
      'tab\tx',
    ]);
  });

  it('read several documents, several hosts, sections without values', () => {
    const host = (name: string) => `  ${name}:\n    Application Totals:\n      runtime (s): 1\n`;
    const one = HEADER + host('a') + host('b');
    const { rows } = rowsInText(`${one}---\n${HEADER}${host('c')}`);
    expect(rows.map(({ values }) => values.host)).toEqual(['a', 'b', 'c']);
    expect(rowsInText(`${HEADER}  h:\n    Regions:\n`).rows).toEqual([]);
  });

  it('never fail on a report that is cut off: what is whole is delivered', () => {
    const whole = `${HEADER}  h:\n    Regions:\n    -\n      region: "A"\n      hash: 0xd3d99e8b\n      runtime (s): 1.5\n`;
    fc.assert(
      fc.property(fc.integer({ min: 24, max: whole.length }), (length) => {
        const { rows } = rowsInText(whole.slice(0, length));
        expect(rows.length).toBeLessThanOrEqual(1);
      }),
    );
  });
});

describe('a report that is cut off', () => {
  const whole = `${HEADER}  h:
    Regions:
    -
      region: "A"
      hash: 0xd3d99e8b
      runtime (s): 12.5
    Application Totals:
      runtime (s): 20.75
`;
  const told = (length: number) =>
    rowsInText(whole.slice(0, length)).damages.map(({ line, what }) => `line ${line}: ${what}`);

  it('says that its last value may be, and that totals are missing', () => {
    expect(told(whole.length)).toEqual([]);
    expect(told(whole.length - 2)).toEqual([
      'line 15: the line has no end: its last value may be cut off',
    ]);
    expect(told(whole.indexOf('.5'))).toEqual([
      'line 13: the line has no end: its last value may be cut off',
      'line 13: ends before the Application Totals of h',
    ]);
    expect(told(whole.indexOf('    Application'))).toEqual([
      'line 13: ends before the Application Totals of h',
    ]);
  });

  it('is not called damaged: what is there was read', () => {
    const info = GEOPM.open(textSource(whole.slice(0, -2))).info();
    expect(info.damaged).toBe(false);
    expect(info.suspect).toHaveLength(1);
  });
});

describe('what our reports say beside GEOPM’s fields', () => {
  const text = `${HEADER}  vm:
    Application Totals:
      runtime (s): 2
    Triscope:
      complete: false
      incomplete: "the application was ended by SIGKILL"
      processes:
        - pid: 7
          name: "app"
          runtime (s): 2.0
          unmarked (s): 0.5
          epochs: 3
          regions:
            - region: "step"
              count: 4
              runtime (s): 1.5
        - pid: 8
          name: "idle"
          runtime (s): 1.0
          unmarked (s): 1.0
          events lost: 76788
          regions: []
      regions:
        - region: "step"
          count: 4
          runtime (s): 1.5
          inside:
            - region: "walk: \\"a\\""
              count: 9
              runtime (s): 1.25
        - region: "fs"
          count: 1
          runtime (s): 0.1
          overlapping: true
`;

  it('is rows of their own: processes, and regions inside regions', () => {
    const { rows } = rowsInText(text);
    expect(rows.map(({ kind }) => kind)).toEqual([
      ...['application', 'process', 'process', 'inside', 'inside', 'inside'],
    ]);
    expect(rows[1].values).toEqual({
      ...{ host: 'vm', section: 'process', pid: 7, process: 'app', rank: null, region: 'step' },
      ...{ count: 4, 'runtime (s)': 1.5, 'process runtime (s)': 2, 'unmarked (s)': 0.5, epochs: 3 },
    });
    expect(rows[2].values).toMatchObject({ pid: 8, region: null, 'unmarked (s)': 1, epochs: null });
    expect(rows[4].values).toEqual({
      ...{ host: 'vm', section: 'inside', region: 'walk: "a"', path: 'step / walk: "a"' },
      ...{ depth: 2, count: 9, 'runtime (s)': 1.25, overlapping: 0 },
    });
    expect(rows[5].values).toMatchObject({ region: 'fs', overlapping: 1 });
  });

  it('is tables beside that of the regions', () => {
    const { parts } = GEOPM.open(textSource(text));
    expect(parts.map(({ schema }) => schema.name)).toEqual([
      'geopm_region',
      'geopm_process',
      'geopm_inside',
    ]);
  });

  it('a report that was not written at the end of the run, and lost events, are suspect', () => {
    const info = GEOPM.open(textSource(text)).info();
    expect(info.entities).toEqual({ hosts: 1, processes: 2, regions: 0 });
    expect(info.suspect).toEqual([
      { where: 'host vm', what: 'incomplete: the application was ended by SIGKILL' },
      {
        where: 'host vm',
        what: 'process 8 (idle): 76788 events were overwritten before they were read: its trace and timeline lack them',
      },
    ]);
  });
});

describe('tables', () => {
  it('keep hashes as text and make missing values null', () => {
    const { rows } = rowsInText(`${TRACE}0.5|0|0x725e8066\n1|nan|NAN\n`);
    expect(rows.map(({ values }) => values)).toEqual([
      { TIME: 0.5, EPOCH_COUNT: 0, REGION_HASH: '0x725e8066' },
      { TIME: 1, EPOCH_COUNT: null, REGION_HASH: null },
    ]);
  });

  it('take names that end in #, values in quotes, and Windows lines', () => {
    const { rows } = rowsInText('"TIME","MSR::PERF_CTL:FREQ#"\r\n1,2\r\n3,4\r\n');
    expect(rows.map(({ values }) => values)).toEqual([
      { TIME: 1, 'MSR::PERF_CTL:FREQ#': 2 },
      { TIME: 3, 'MSR::PERF_CTL:FREQ#': 4 },
    ]);
  });

  it('deliver all rows before damage, then name the line; salvage goes on', () => {
    const text = `${TRACE}1|0|0x1\n2|0\n3|0|0x3\n4|`;
    expect(() => rowsInText(text)).toThrow(FormatError);
    expect(() => rowsInText(text)).toThrow('file: line 5: 2 values where there are 3 names');
    const { rows, damages } = rowsInText(text, { salvage: true });
    expect(rows.map(({ values }) => values.TIME)).toEqual([1, 3]);
    expect(damages.map(({ line }) => line)).toEqual([5, 7]);
  });

  it('a last line without an end counts, and is told', () => {
    const text = `${TRACE}1|0|0x1\n2|0|0x2`;
    expect(rowsInText(text).damages).toMatchObject([{ line: 5, kept: true }]);
    const info = GEOPM.open(textSource(text)).info();
    expect(info.records).toEqual({ trace: 2 });
    expect(info.suspect).toEqual([
      { where: 'line 5', what: 'the line has no end: its last value may be cut off' },
    ]);
    expect(info.damaged).toBe(false);
  });

  it('become columns: time, hashes as numbers, hints by name', () => {
    const text = `# geopm_version: 3\n# node_name: vm\nTIME|REGION_HASH|REGION_HINT|CPU_ENERGY-package-0\n0.5|0xcce45a1e|0x00000002|7.5\n1|NAN|NAN|nan\n`;
    const [batch] = GEOPM.open(textSource(text)).parts.flatMap((part) => [...batchesOf(part)]);
    expect(batch.schema.name).toBe('geopm_trace');
    expect(batch.schema.metrics.map(({ key, unit }) => [key, unit])).toEqual([
      ['host', ''],
      ['real_time', 's'],
      ['region_hash', ''],
      ['region_hint', ''],
      ['cpu_energy_package_0', 'J'],
    ]);
    expect(batch.columns.map((column) => [...column])).toEqual([
      ['vm', 'vm'],
      [0.5, 1],
      [0xcce45a1e, 0],
      ['compute', 'inactive'],
      [7.5, Number.NaN],
    ]);
  });
});

describe('recognition', () => {
  it('other texts and bytes are not GEOPM’s', () => {
    const known = (text: string) => identify(textSource(text), [GEOPM]);
    for (const text of ['', 'hello', '$tacc_stats 1.0.2\n', 'a,b\n1,2\n', '\0\0\0\0', '{"a": 1}']) {
      expect(known(text)).toBeNull();
    }
  });

  it('any bytes are read or refused with one line, never more', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 200 }),
        fc.constantFrom(HEADER, TRACE, '"TIME"\n', TEXT_REPORT),
        (tail, head) => {
          try {
            rowsInText(head + tail, { salvage: true });
          } catch (error) {
            expect(error).toBeInstanceOf(FormatError);
            expect((error as Error).message).not.toContain('\n');
          }
        },
      ),
    );
  });
});

const told = (text: string) => {
  const { rows, damages } = rowsInText(text, { salvage: true });
  return { rows, told: damages.map(({ line, what }) => `${line}: ${what}`) };
};

describe('damage that leaves a file readable', () => {
  it('in a trace: values that are none are left out; what stands twice or goes back is kept; each is told', () => {
    const found = told(`${TRACE}0.1|1|0x1\n0.1|1|0x1\n0.3|garb|0x1\n0.2|2|0x2\n0.4|nan|NAN\n`);
    expect(found.told).toEqual([
      '5: the same as the line before',
      '6: EPOCH_COUNT is not a number: garb',
      '7: TIME goes back from 0.3 to 0.2',
    ]);
    expect(found.rows.map(({ values }) => [values.TIME, values.EPOCH_COUNT])).toEqual([
      [0.1, 1],
      [0.1, 1],
      [0.3, null],
      [0.2, 2],
      [0.4, null],
    ]);
  });

  it('tells the first places of a kind, and counts the rest', () => {
    const rows = Array.from({ length: 30 }, (_, k) => `${k}|x|0x1\n`).join('');
    const found = told(TRACE + rows);
    expect(found.told).toHaveLength(21);
    expect(found.told.at(-1)).toBe(
      '33: 10 more lines up to here have a value that is not a number',
    );
  });

  it('is in info, with its place', () => {
    const source = textSource(`${TRACE}0.3|1|0x1\n0.2|2|0x2\n`);
    expect(GEOPM.open(source).info().suspect).toEqual([
      { where: 'line 5', what: 'TIME goes back from 0.3 to 0.2' },
    ]);
  });

  it('in a report: sections that stand there twice, values that are none', () => {
    const totals = '    Application Totals:\n      runtime (s): ga!b\n      count: inf\n';
    const region = '    -\n      region: "a"\n      hash: 0x00000001\n      count: 1\n';
    const source = textSource(`${HEADER}  h:\n    Regions:\n${region}${region}${totals}`);
    expect(
      GEOPM.open(source)
        .info()
        .suspect.map(({ where, what }) => `${where}: ${what}`),
    ).toEqual([
      'line 18: h, application: runtime (s) is not a number: ga!b',
      'line 18: h, application: count is infinite',
      'line 15: region a of h a second time',
    ]);
    const twice = told(
      `${HEADER}  h:\n    Regions:\n${region}      region: "b"\n      hash: 0x2\n`,
    );
    expect(twice.rows[0].values).toMatchObject({ region: 'a', hash: '0x00000001' });
    expect(twice.told.slice(0, 2)).toEqual(
      ['region', 'hash'].map((key, k) => `${14 + k}: ${key} a second time: the first is kept`),
    );
  });

  it('in a report: what lies below a line that has a value changes no value', () => {
    const totals = (below: string) =>
      `${HEADER}  h:\n    Epoch Totals:\n      runtime (s): 2\n      A::B: 0\n${below}    Application Totals:\n      runtime (s): 1\n`;
    const whole = told(totals(''));
    const lines = [
      '            Application Totals:',
      '        x',
      '\n         "y": 1',
      '       - 1',
    ];
    for (const line of lines) {
      const found = told(totals(`${line}\n`));
      expect(found.rows.map(({ values }) => values)).toEqual(
        whole.rows.map(({ values }) => values),
      );
      expect(found.told, line).toHaveLength(1);
      expect(found.told[0]).toMatch(/^1[23]: lies below a line that has a value: left out$/);
    }
  });

  it('in a text report: values below a damaged heading are never those of the section before', () => {
    const damaged = TEXT_REPORT.replace('Region unmarked-region (', 'nan unmarked-region (');
    const found = told(damaged);
    expect(found.rows[0].values).toMatchObject({ region: 'stream', 'runtime (sec)': 1.25 });
    expect(found.told).toEqual(['14: runtime (sec) stands below no heading: left out']);
    const twice = told(TEXT_REPORT.replace('\tcount: 10', '\truntime (sec): 7\n\tcount: 10'));
    expect(twice.rows[0].values['runtime (sec)']).toBe(1.25);
    expect(twice.told).toEqual(['12: runtime (sec) a second time: the first is kept']);
  });

  it('in a session’s report: documents that run together keep the first values', () => {
    const one = (count: number) => `host: h\nsample-time-first: now\nsample-count: ${count}\n`;
    const found = told(one(1) + one(2));
    expect(found.rows.map(({ values }) => values['sample-count'])).toEqual([1]);
    expect(found.told).toEqual([
      '4: host a second time: the first is kept',
      '5: sample-time-first a second time: the first is kept',
      '6: sample-count a second time: the first is kept',
    ]);
  });
});

describe('a report made to be slow', () => {
  const START = `${HEADER}  h:\n    Application Totals:\n      runtime (s): 1\n`;
  const FORMS: readonly (readonly [string, (bytes: number) => string])[] = [
    ['open brackets', (n) => `x: ${'['.repeat(n)}\n`],
    ['open brackets on lines of their own', (n) => '[\n'.repeat(n / 2)],
    ['open braces', (n) => '{a: '.repeat(n / 4)],
    ['lists in lists', (n) => '- '.repeat(n / 2)],
    ['keys of keys', (n) => '? '.repeat(n / 2)],
    ['blanks in a key', (n) => `      a${' '.repeat(n)}b: 1\n`],
    ['blanks in a name', (n) => `region: "${' '.repeat(n)}x\n`],
    ['lines of blanks', (n) => '\t\n'.repeat(n / 2)],
    ['carriage returns', (n) => '\r'.repeat(n)],
    ['digits', (n) => `      a: ${'1'.repeat(n)}x\n`],
    ['a heading of blanks', (n) => `Region ${' '.repeat(n)}x\n`],
  ];

  it.each(FORMS)('with %s takes time as its length, and keeps what was before', (_, form) => {
    const seconds = (bytes: number) => {
      const source = textSource(START + form(bytes));
      const start = process.cpuUsage();
      const { records } = GEOPM.open(source).info();
      const { user, system } = process.cpuUsage(start);
      expect(records).toEqual({ application: 1 });
      return (user + system) / 1e6;
    };
    seconds(1 << 12);
    const [one, , four] = [1 << 15, 1 << 16, 1 << 17].map(seconds);
    // What grows with the square takes 16 times as long, and seconds.
    expect(four).toBeLessThan(8 * Math.min(one, 0.1) + 0.7);
  });
});
