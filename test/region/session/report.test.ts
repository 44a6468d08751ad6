/** Golden: rows and reports that GEOPM's own session wrote. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  headerText,
  Platform,
  parseRequest,
  requestedColumns,
  rowText,
  SessionReport,
  type SignalDeclaration,
  type WatchColumn,
} from 'triscope/signals';
import { describe, expect, it } from 'vitest';
import { Tree, TWO_BY_TWO } from '../signals/support/tree.ts';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const session = (file: string) => readFileSync(join(GOLDEN ?? '', 'geopm/session', file), 'utf8');

const column = (name: string, format: SignalDeclaration['format'] = 'double'): WatchColumn => ({
  name,
  signal: name,
  domain: 'board',
  index: 0,
  info: {
    name,
    description: '',
    unit: '',
    domain: 'board',
    behaviour: 'variable',
    aggregation: 'sum',
    format,
    provider: 'test',
    aliases: [],
  },
});

/** A report without what depends on the moment: its text between `metrics` and the end. */
const metricsOf = (yaml: string) => yaml.slice(yaml.indexOf('metrics:'));

describe.skipIf(GOLDEN === undefined)('GEOPM’s own session', () => {
  const [header, ...rows] = GOLDEN ? session('trace.csv').trimEnd().split('\n') : [''];
  const names = header.split(',').map((name) => name.slice(1, -1));
  const columns = names.map((name) => column(name));

  it('has our header and our number texts', () => {
    expect(headerText(columns, ',')).toBe(`${header}\n`);
    for (const row of rows)
      expect(rowText(columns, row.split(',').map(Number), ',')).toBe(`${row}\n`);
  });

  it('has our statistics of its rows, to every digit', () => {
    const report = new SessionReport('vm', columns);
    for (const row of rows) {
      const values = row.split(',').map(Number);
      report.add(values, values[0], 0);
    }
    const [ours, theirs] = [report.take('yaml'), session('report.yaml')];
    expect(metricsOf(ours)).toBe(metricsOf(theirs));
    const line = (text: string, key: string) => new RegExp(`^${key}: .*$`, 'm').exec(text)?.[0];
    for (const key of [
      'host',
      'sample-count',
      'sample-time-total',
      'sample-period-mean',
      'sample-period-std',
    ]) {
      expect(line(ours, key)).toBe(line(theirs, key));
    }
  });

  it('has our columns and documents where reports follow each other', () => {
    const report = new SessionReport('vm', [column('TIME'), column('STUB::SAW')]);
    const [csvHeader] = session('report-samples5.csv').split('\n');
    report.add([1, 2], 1, 0);
    expect(report.take('csv').split('\n')[0]).toBe(csvHeader);
    const key = (text: string) => text.replace(/: .*$/gm, ':');
    const yaml = new SessionReport('vm', [column('TIME'), column('STUB::SAW')]);
    const documents = [3, 2, 1].map((count) => {
      for (let k = 0; k < count; k++) yaml.add([k, k], k, 0);
      return yaml.take('yaml');
    });
    expect(key(documents.join(''))).toBe(key(session('report-multidoc.yaml')));
    expect(documents[2]).toContain('std: nan');
  });
});

describe('a report', () => {
  it('does not count what is absent', () => {
    const report = new SessionReport('vm', [column('A')]);
    for (const value of [1, Number.NaN, 3]) report.add([value], 0, 0);
    expect(report.take('yaml')).toContain('count: 2\n    first: 1\n    last: 3');
  });

  it('begins anew after each', () => {
    const report = new SessionReport('vm', [column('A')]);
    report.add([5], 0, 0);
    report.take('csv');
    report.add([7], 1, 0);
    expect(report.samples).toBe(1);
    expect(report.take('csv')).toMatch(/,1,0,0,1,7,7,7,7,7,nan\n$/);
  });

  it('says when the first sample was, to the nanosecond', () => {
    const report = new SessionReport('vm', [column('A')]);
    const wall = Date.UTC(2026, 10, 21, 2, 8, 34) + 25.25;
    report.add([5], 0, wall);
    const text = /sample-time-first: "(.*)"/.exec(report.take('yaml'))?.[1] ?? '';
    expect(text).toMatch(/^2026-11-2\dT\d\d:\d\d:34\.025250000[+-]\d{4}$/);
    expect(Date.parse(text.replace(/(\d\d)$/, ':$1'))).toBe(Math.floor(wall));
  });

  it('escapes names', () => {
    const report = new SessionReport('a"b', [column('odd "name"')]);
    report.add([5], 0, 0);
    const text = report.take('yaml');
    expect(text).toContain('host: "a\\"b"');
    expect(text).toContain('  "odd \\"name\\"":');
    expect(headerText([column('odd "name"')], ',')).toBe('"odd ""name"""\n');
  });
});

describe('rows', () => {
  it('are written as each signal’s format says', () => {
    const columns = (['double', 'integer', 'hex', 'float'] as const).map((f) => column(f, f));
    expect(rowText(columns, [0.1, 3, 0x4ad0cf31, 1 / 3], '|')).toBe('0.1|3|0x4ad0cf31|0.333333\n');
    expect(rowText(columns, Array(4).fill(Number.NaN), '|')).toBe('nan|nan|NAN|nan\n');
  });
});

describe('requests', () => {
  const platform = Platform.open({ root: new Tree(TWO_BY_TWO).root });
  const columnsOf = (...lines: string[]) =>
    requestedColumns(
      platform,
      lines.flatMap((line) => parseRequest(line) ?? []),
    ).map(({ name }) => name);

  it('name columns after the signal, and the place where it is not the board', () => {
    expect(columnsOf('TIME board 0', '# a comment', '  TIME   core 3')).toEqual([
      'TIME',
      'TIME-core-3',
    ]);
  });

  it('take * for all', () => {
    expect(columnsOf('TIME package *')).toEqual(['TIME-package-0', 'TIME-package-1']);
  });

  it.each([
    ['TIME board', "'TIME board' is not SIGNAL DOMAIN INDEX"],
    ['TIME board x', 'the index is a number, or * for all'],
    ['TIME gpu *', 'this machine has no gpu'],
    ['TIME nowhere 0', 'must be one of board'],
  ])('refuse %s', (line, message) => {
    expect(() => columnsOf(line)).toThrow(message);
  });
});
