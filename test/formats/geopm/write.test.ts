/** GEOPM's files as they are written: number text, escaping, fields and their order. */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  generalText,
  profileRowText,
  type Report,
  reportText,
  traceHeaderText,
  traceRowText,
} from '../../../src/formats/geopm/write.ts';
import { plain, quoted } from '../../../src/formats/geopm/yaml-text.ts';

describe('numbers', () => {
  it.each([
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [1.00005, '1.00005'],
    [3_000_000, '3e+06'],
    [999_999.5, '1e+06'],
    [6.25485e-5, '6.25485e-05'],
    [1e-4, '0.0001'],
    [2.08e9, '2.08e+09'],
    [-0.863553, '-0.863553'],
    [1e100, '1e+100'],
    [Number.NaN, 'nan'],
    [Number.POSITIVE_INFINITY, 'inf'],
    // Exactly between two: C takes the even digit.
    [1_000_002.5, '1e+06'],
    [100_000.5, '100000'],
    [100_001.5, '100002'],
    [0.5, '0.5'],
  ])('%d in six digits is %s', (value, text) => {
    expect(generalText(value)).toBe(text);
  });

  it('are those of C, in 6 and in 16 digits', () => {
    const values = fc.sample(
      fc.oneof(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.double({ min: -1e7, max: 1e7, noNaN: true }),
        // Halves and quarters are where rounding has ties.
        fc.integer({ min: -4e8, max: 4e8 }).map((n) => n / 4),
      ),
      3000,
    );
    // Numbers go to C as their bits, so that nothing depends on how they are read.
    const program =
      'import sys,struct\nfor l in sys.stdin:\n v=struct.unpack(">d",bytes.fromhex(l))[0]\n print("%.6g %.16g"%(v,v))';
    const bits = values.map((value) => {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleBE(value);
      return bytes.toString('hex');
    });
    const c = spawnSync('python3', ['-c', program], { input: `${bits.join('\n')}\n` });
    const expected = c.stdout.toString().trim().split('\n');
    const ours = values.map((value) => `${generalText(value)} ${generalText(value, 16)}`);
    expect(ours).toEqual(expected);
  });
});

describe('texts', () => {
  const yaml = (text: string) => parse(`key: ${text}\n`) as { key: unknown };

  it('in quotes are read back as they were, whatever is in them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const whole = Buffer.from(text).toString();
        expect(yaml(quoted(text)).key).toBe(whole);
        expect(JSON.parse(quoted(text))).toBe(whole);
        expect(quoted(text)).not.toContain('\n');
      }),
    );
  });

  it('without quotes are only those that stay texts', () => {
    for (const word of ['vm', 'node-1.example', 'power_governor']) expect(plain(word)).toBe(word);
    for (const word of ['yes', 'null', '12', 'a: b', '', '1e3', '-', 'NaN']) {
      expect(plain(word)).toBe(`"${word}"`);
    }
  });
});

const fields = (...pairs: [string, number][]) => new Map(pairs);

const REPORT: Report = {
  version: 'triscope-0.1.0',
  startTime: '2026-11-21T01:56:58.346487912+0000',
  profile: 'a "b"',
  agent: 'monitor',
  policy: '{}',
  hosts: [
    {
      name: 'vm',
      agent: new Map([['Frequency map', new Map([['0xd3d99e8b', 2e9]])]]),
      regions: [
        {
          name: 'solve "halo"\n',
          hash: 0x00c0ffee,
          fields: fields(['runtime (s)', 1.00005], ['count', 2.5], ['TIME@package-0', 3e6]),
        },
      ],
      unmarked: fields(['runtime (s)', 0.5], ['count', 0]),
      application: fields(['runtime (s)', 1.5], ['STUB::SAW', Number.NaN]),
      extra: { complete: true, processes: [{ pid: 7, name: 'x: y', regions: [] }, 3], none: {} },
    },
  ],
};

describe('a report', () => {
  it('has the lines of GEOPM’s', () => {
    expect(reportText(REPORT)).toBe(`GEOPM Version: triscope-0.1.0
Start Time: 2026-11-21T01:56:58.346487912+0000
Profile: "a \\"b\\""
Agent: monitor
Policy: {}

Hosts:
  vm:
    Frequency map: {0xd3d99e8b: 2000000000}
    Regions:
    -
      region: "solve \\"halo\\"\\n"
      hash: 0x00c0ffee
      runtime (s): 1.00005
      count: 2.5
      TIME@package-0: 3e+06
    Unmarked Totals:
      runtime (s): 0.5
      count: 0
    Application Totals:
      runtime (s): 1.5
      STUB::SAW: nan
    Triscope:
      complete: true
      processes:
        - pid: 7
          name: "x: y"
          regions: []
        - 3
      none: {}

`);
  });

  it('is YAML that reads back', () => {
    const read = parse(reportText(REPORT)) as {
      Hosts: { vm: { Regions: Record<string, unknown>[]; Triscope: unknown } };
      Profile: string;
    };
    expect(read.Profile).toBe('a "b"');
    expect(read.Hosts.vm.Regions).toEqual([
      {
        region: 'solve "halo"\n',
        hash: 0x00c0ffee,
        'runtime (s)': 1.00005,
        count: 2.5,
        'TIME@package-0': 3e6,
      },
    ]);
    expect(read.Hosts.vm.Triscope).toEqual(REPORT.hosts[0].extra);
  });
});

describe('traces', () => {
  it('have header lines, names, and values in the format of their signal', () => {
    const header = { version: '1', startTime: 't', profile: 'p "q"', host: 'vm', agent: 'monitor' };
    expect(traceHeaderText(header, ['TIME', 'REGION_HASH'])).toBe(
      '# geopm_version: 1\n# start_time: t\n# profile_name: "p \\"q\\""\n# node_name: vm\n# agent: monitor\nTIME|REGION_HASH\n',
    );
    const columns = [
      { name: 'TIME', format: 'double' },
      { name: 'REGION_PROGRESS', format: 'float' },
      { name: 'EPOCH_COUNT', format: 'integer' },
      { name: 'REGION_HASH', format: 'hex' },
      { name: 'REGION_HASH-cpu-1', format: 'hex' },
    ] as const;
    const values = Float64Array.of(0.009281729, 1 / 3, 12, 0x725e8066, Number.NaN);
    expect(traceRowText(columns, values)).toBe('0.009281729000000001|0.333333|12|0x725e8066|NAN\n');
    const entry = { time: 0.5, process: 77, event: 'REGION_ENTRY', signal: 0xd3d99e8b } as const;
    expect(profileRowText({ ...entry, thread: null })).toBe('0.5|77|REGION_ENTRY|0xd3d99e8b\n');
    expect(profileRowText({ ...entry, event: 'EPOCH_COUNT', signal: 3, thread: 78 })).toBe(
      '0.5|77|EPOCH_COUNT|3|78\n',
    );
  });
});
