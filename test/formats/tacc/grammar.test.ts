/** Every edge of the grammar: what is told, by kind, and that nothing strange changes a number silently. */
import { Buffer } from 'node:buffer';
import {
  KEPT,
  LOST,
  ODDITIES,
  type OddityKind,
  RawParser,
  RawRecords,
  type RawVisitor,
} from 'triscope/formats/tacc';
import { describe, expect, it } from 'vitest';

interface Read {
  readonly records: string[];
  readonly odd: string[];
  readonly marks: string[];
  readonly boots: (number | null)[];
  readonly counts: Readonly<Partial<Record<OddityKind, number>>>;
}

function read(text: string): Read {
  const records: string[] = [];
  const odd: string[] = [];
  const marks: string[] = [];
  const boots: (number | null)[] = [];
  let time = '';
  const visitor: RawVisitor = {
    group: (group) => {
      time = group.time;
      boots.push(group.boot);
    },
    mark: (mark) => marks.push(mark),
    record: ({ type }, device, values) =>
      records.push(`${time} ${type} ${device} ${[...values].join(' ')}`),
    problem: ({ kind, line }) => odd.push(`${line} ${kind}`),
    oddity: ({ kind, line }) => odd.push(`${line} ${kind}`),
  };
  const parser = new RawParser(visitor);
  parser.push(Buffer.from(text));
  return { records, odd, marks, boots, counts: parser.end().oddities };
}

const HEAD = '$tacc_stats 2.3.5\n$hostname c1.x\n$uptime 100\n!cpu user,E idle,E\n';

const CASES: [OddityKind, string, string, string[]][] = [
  ['unknown_type', `${HEAD}\n1000 -\ngpu 0 1\ncpu 0 1 2\n`, '7 unknown_type', ['1000 cpu 0 1 2']],
  [
    'bare_text',
    `${HEAD}\n1000 -\n%two\nlines\n%lines\ncpu 0 1 2\n`,
    '8 bare_text',
    ['1000 cpu 0 1 2'],
  ],
  ['value_count', `${HEAD}\n1000 -\ncpu 0 1\ncpu 1 1 2\n`, '7 value_count', ['1000 cpu 1 1 2']],
  ['not_a_number', `${HEAD}\n1000 -\ncpu 0 1 -2\n`, '7 not_a_number', []],
  ['not_a_number', `${HEAD}\n1000 -\ncpu 0 18446744073709551616 2\n`, '7 not_a_number', []],
  ['not_a_number', `${HEAD}\n1000 -\ncpu a b/1 5 2\n`, '7 not_a_number', []],
  ['no_device', `${HEAD}\n1000 -\ncpu\n`, '7 no_device', []],
  ['before_time', `${HEAD}cpu 0 1 2\n`, '5 before_time', []],
  ['before_time', `${HEAD}%begin 1\n`, '5 before_time', []],
  ['time_line', `${HEAD}\n12 a b c\n1.2.3 -\n`, '6 time_line', []],
  ['schema', `${HEAD}!mem a,W=99\n`, '5 schema', []],
  ['not_text', `${HEAD}\n1000 -\nx\u0000y 1 2\n`, '7 not_text', []],
  ['cut', `${HEAD}\n1000 -\ncpu 0 1 2\ncpu 1 1 2`, '8 cut', ['1000 cpu 0 1 2']],
  ['no_header', '!cpu user,E\n1000 -\ncpu 0 1\n', '2 no_header', ['1000 cpu 0 1']],
  [
    'schema_option',
    `${HEAD}!ib a,E,,W=32 b,X=1\n\n1000 -\nib m 1 2\n`,
    '5 schema_option',
    ['1000 ib m 1 2'],
  ],
  [
    'schema_change',
    `${HEAD}\n1000 -\ncpu 0 1 2\n!cpu user,E\n\n1001 -\ncpu 0 5\n`,
    '8 schema_change',
    ['1000 cpu 0 1 2', '1001 cpu 0 5'],
  ],
  [
    'same_time',
    `${HEAD}\n1000 -\ncpu 0 1 2\n\n1000 -\ncpu 0 2 3\n`,
    '9 same_time',
    ['1000 cpu 0 1 2', '1000 cpu 0 2 3'],
  ],
  ['backward_time', `${HEAD}\n1000 -\n\n900 -\ncpu 0 2 3\n`, '8 backward_time', ['900 cpu 0 2 3']],
  [
    'repeated_device',
    `${HEAD}\n1000 -\ncpu 0 1 2\ncpu 0 1 2\n`,
    '8 repeated_device',
    ['1000 cpu 0 1 2', '1000 cpu 0 1 2'],
  ],
  [
    'other_host',
    `${HEAD}\n1000 - c1\ncpu 0 1 2\n\n1001 - c2\n`,
    '9 other_host',
    ['1000 cpu 0 1 2'],
  ],
  [
    'reboot',
    `${HEAD}\n1000 -\ncpu 0 100 100\n$uptime 30\n\n1600 -\ncpu 0 1 2\n`,
    '10 reboot',
    ['1000 cpu 0 100 100', '1600 cpu 0 1 2'],
  ],
  ['blank_lines', `${HEAD}\n\n\n1000 -\n`, '6 blank_lines', []],
  ['carriage_return', `${HEAD}\n1000 -\ncpu 0 1 2\r\n`, '7 carriage_return', ['1000 cpu 0 1 2']],
  ['comment', `${HEAD}# hello\n`, '5 comment', []],
  ['devices', `${HEAD}@cpu 0 1\n`, '5 devices', []],
];

describe('the grammar of raw stats files', () => {
  it.each(CASES)('%s', (kind, text, first, records) => {
    const told = read(text);
    expect(told.odd[0]).toBe(first);
    expect(told.counts[kind]).toBeGreaterThan(0);
    expect(told.records).toEqual(records);
  });

  it('has a case for every kind of oddity but those of files', () => {
    const cases = new Set(CASES.map(([kind]) => kind));
    const missing = Object.keys(ODDITIES).filter((kind) => !cases.has(kind as OddityKind));
    expect(missing.sort()).toEqual(['foreign_file', 'long_line', 'unreadable']);
    expect(Object.keys({ ...LOST, ...KEPT })).toEqual(Object.keys(ODDITIES));
  });

  it('finds nothing strange in what is written as it should be', () => {
    for (const text of [
      '$hpcperfstats 2.4\n$hostname c1\n$unknown property\n!cpu user,E,U=cs,W=32\n\n1.5 1,2 c1\n%a\n%b\ncpu 0 1\n\n2.5 - c1.x.org\ncpu 0 1\n',
      '$tacc_stats 1.0.2\n!cpu user,E\n!mem\n\n1\ncpu 0 1\n\n2 1_2\nmem -\ncpu 0 2\n\n3 1+0\n',
    ]) {
      expect(read(text).odd).toEqual([]);
    }
  });

  it('takes options in any order and case, and passes over what it does not know', () => {
    const keys: unknown[] = [];
    const parser = new RawParser({ schema: (schema) => keys.push(...schema.keys) });
    parser.push(Buffer.from('!t a,W=0x20,e,U=4B b,c c,,E d,u=KB,w=48,E\n'));
    expect(keys).toEqual([
      { name: 'a', kind: 'event', bits: 32, unit: '4B' },
      { name: 'b', kind: 'control', bits: 64, unit: '' },
      { name: 'c', kind: 'event', bits: 64, unit: '' },
      { name: 'd', kind: 'event', bits: 48, unit: 'KB' },
    ]);
  });

  it('says when the host was started, so that a reboot between files can be told', () => {
    expect(read(`${HEAD}\n1000 -\n\n1600 -\n$uptime 1100\n\n2000 -\n`).boots).toEqual([
      900, 900, 900,
    ]);
    expect(read('!cpu a\n\n1000 -\n').boots).toEqual([null]);
    // A clock that was set is no reboot: the host was there before.
    expect(read(`${HEAD}\n1000 -\n$uptime 100\n\n1300 -\n`).counts.reboot).toBe(1);
    expect(
      read(`${HEAD}\n1000 -\n\n5000 -\n$uptime 4000\n\n5100 -\n`).counts.reboot,
    ).toBeUndefined();
  });

  it('keeps devices apart when their order changes from group to group', () => {
    const groups = ['0 1 2', '2 1 0', '1', '0 0 2', '2 0 1'];
    const text = groups.map(
      (order, k) =>
        `\n${k} -\n${order
          .split(' ')
          .map((d) => `cpu ${d} ${k} 7\n`)
          .join('')}`,
    );
    expect(read(HEAD + text.join('')).records).toEqual(
      groups.flatMap((order, k) => order.split(' ').map((d) => `${k} cpu ${d} ${k} 7`)),
    );
  });

  it('passes over a line of 17 MB, and reads one of 10 MB as any other', () => {
    const long = 'x'.repeat(17 * 2 ** 20);
    const { records, odd } = read(`${HEAD}\n1 -\n${long}\ncpu 0 1 2\n`);
    expect(odd).toEqual(['7 long_line']);
    expect(records).toEqual(['1 cpu 0 1 2']);
    const wide = read(`${HEAD}\n1 -\ncpu 0 ${'1 '.repeat(5 * 2 ** 20)}\ncpu 0 1 2\n`);
    expect([wide.odd, wide.records]).toEqual([['7 value_count'], ['1 cpu 0 1 2']]);
  });

  it('reads a type with 10,000 keys', () => {
    const keys = Array.from({ length: 10_000 }, (_, k) => `k${k},E`).join(' ');
    const values = Array.from({ length: 10_000 }, (_, k) => k);
    const { records } = read(`$tacc_stats 2\n!wide ${keys}\n\n1 -\nwide - ${values.join(' ')}\n`);
    expect(records).toEqual([`1 wide - ${values.join(' ')}`]);
  });

  it('gives each group without records once', () => {
    const lines: string[] = [];
    const records = new RawRecords((block) => {
      const { name, keys } = block.kind(0);
      lines.push(
        `${name} ${keys.map((_, k) => JSON.stringify(String(block.cell(0, k)))).join(' ')}`,
      );
      return undefined;
    });
    const parser = new RawParser(records);
    parser.push(Buffer.from(`${HEAD}\n1 7,8\n%begin 7\n\n2 -\ncpu 0 1 2\n\n3 -\n`));
    parser.end();
    records.end();
    expect(lines).toEqual([
      'group "1" "7,8" "c1.x" "begin 7" "null" "null"',
      'cpu "2" "-" "c1.x" "" "cpu" "0" "1" "2"',
      'group "3" "-" "c1.x" "" "null" "null"',
    ]);
  });
});
