/** The reader on small texts: what is delivered, what is reported, and that pieces of any size give the same. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { batchOf, FormatError, openFile } from 'triscope/formats';
import { RawParser, type RawVisitor, readRaw, TACC } from 'triscope/formats/tacc';
import { describe, expect, it } from 'vitest';
import { ArrivingBytes } from '../../../src/formats/source.ts';
import { openingRaw } from '../../../src/formats/tacc/open.ts';

const HEADER = `$tacc_stats 1.0.2
$hostname i101-101.ranger.tacc.utexas.edu
$uname Linux x86_64 2.6.18-194.32.1.el5_TACC #18 SMP Mon Mar 14 22:24:19 CDT 2011
$uptime 4753669
!cpu user,E,U=cs idle,E,U=cs
!ps ctxt,E load_1
`;
const GROUP = `
1307509201 1981063
%begin 1981063
cpu 11 429720418 43516346
ps - 18446744073709551615 1600
`;

interface Told {
  readonly lines: string[];
  readonly visitor: RawVisitor;
}

/** Everything that is told, as one text a piece. */
function listener(): Told {
  const lines: string[] = [];
  return {
    lines,
    visitor: {
      property: (name, value, line) => lines.push(`${line} $${name}=${value}`),
      schema: ({ type, keys }, line) => lines.push(`${line} !${type} ${keys.length}`),
      group: ({ time, jobIds, host, line }) => lines.push(`${line} @${time} ${jobIds} ${host}`),
      mark: (text, line) => lines.push(`${line} %${text}`),
      record: ({ type }, device, values, line) =>
        lines.push(`${line} ${type} ${device} ${[...values].join(' ')}`),
      problem: ({ line, reason, text }) => lines.push(`${line} ?${reason}: ${text}`),
    },
  };
}

function told(text: string): string[] {
  const { lines, visitor } = listener();
  const parser = new RawParser(visitor);
  parser.push(Buffer.from(text));
  parser.end();
  return lines;
}

const groupsOf = (text: string) => told(HEADER + text).slice(6);

describe('a raw stats file', () => {
  it('is told in its order, with 64-bit values exact', () => {
    expect(told(HEADER + GROUP)).toEqual([
      '1 $tacc_stats=1.0.2',
      '2 $hostname=i101-101.ranger.tacc.utexas.edu',
      '3 $uname=Linux x86_64 2.6.18-194.32.1.el5_TACC #18 SMP Mon Mar 14 22:24:19 CDT 2011',
      '4 $uptime=4753669',
      '5 !cpu 2',
      '6 !ps 2',
      '8 @1307509201 1981063 null',
      '9 %begin 1981063',
      '10 cpu 11 429720418 43516346',
      '11 ps - 18446744073709551615 1600',
    ]);
  });

  it('has times with microseconds, several jobs, and the host, since 2.0', () => {
    expect(groupsOf('\n1795226192.368273 4001,4002 c101-001\n')).toEqual([
      '8 @1795226192.368273 4001,4002 c101-001',
    ]);
  });

  it.each([
    ['\n1 -\ncpu 0 1\n', '9 ?1 values, its schema has 2: cpu 0 1'],
    ['\n1 -\ncpu 0 1 2 3\n', '9 ?3 values, its schema has 2: cpu 0 1 2 3'],
    ['\n1 -\ncpu 0 1 -2\n', "9 ?'-2' is not a number of 64 bits: cpu 0 1 -2"],
    ['\n1 -\ncpu 0 1 18446744073709551616\n', 'not a number of 64 bits'],
    ['\n1 -\nmem 0 1\n', '9 ?unknown type: mem 0 1'],
    ['\n1 -\nlines\n', '9 ?unknown type: lines'],
    ['\n1 -\n12 monkeys x y\n', 'neither a time with job ids nor a record'],
    ['cpu 0 1 2\n', '7 ?a record before any time'],
    ['\n1 -\ncpu 0 1 2', '9 ?cut off: no newline at the end: cpu 0 1 2'],
    ['\n1 -\ncpu\n', '9 ?no device'],
  ])('%j: the bad line is reported, none is made up', (text, expected) => {
    const lines = groupsOf(text);
    expect(lines.at(-1)).toContain(expected);
    expect(lines.filter((line) => /^\d+ cpu/.test(line))).toHaveLength(0);
  });

  it('goes on after a bad line', () => {
    expect(groupsOf('\n1 -\ncpu 0 x 2\ncpu 1 1 2\n').at(-1)).toBe('10 cpu 1 1 2');
  });

  it('tolerates comments, devices, carriage returns, more blanks, and headers within', () => {
    expect(
      groupsOf(
        '# c\r\n@cpu 0\r\n\r\n1 -\r\ncpu  0  1 2 \r\n$x y\r\n!cpu a\r\n\r\n2 -\r\ncpu 0 9\r\n',
      ),
    ).toEqual([
      '10 @1 - null',
      '11 cpu 0 1 2',
      '12 $x=y',
      '13 !cpu 1',
      '15 @2 - null',
      '16 cpu 0 9',
    ]);
  });

  it('is the same in pieces of any size', () => {
    const text = Buffer.from(HEADER + GROUP + GROUP.replace('cpu', 'gpu'));
    const whole = told(text.toString());
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const { lines, visitor } = listener();
        const parser = new RawParser(visitor);
        const ends = [...cuts, text.length].sort((a, b) => a - b);
        let from = 0;
        for (const end of ends) {
          // One buffer for all: the parser must not keep the caller's memory.
          const piece = Buffer.from(text.subarray(from, end));
          parser.push(piece);
          piece.fill(0x78);
          from = end;
        }
        parser.end();
        expect(lines).toEqual(whole);
      }),
    );
  });

  it('gives every 64-bit number exactly', () => {
    const text = (v: bigint) => `!t a\n1 -\nt - ${v}\n`;
    fc.assert(
      fc.property(fc.bigInt(0n, 2n ** 64n - 1n), (value) => {
        expect(told(text(value)).at(-1)).toBe(`3 t - ${value}`);
      }),
    );
    for (const bits of [32n, 47n, 53n, 63n, 64n]) {
      expect(told(text(2n ** bits - 1n)).at(-1)).toBe(`3 t - ${2n ** bits - 1n}`);
    }
  });
});

describe('readRaw', () => {
  const folder = mkdtempSync(join(tmpdir(), 'triscope-raw-'));
  const file = (name: string, content: Uint8Array | string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  /** Each row: its table, its cells with texts for labels, and of a record the values side by side. */
  const rowsOf = async (path: string, types?: readonly string[]) => {
    const rows: unknown[][] = [];
    const take: Parameters<typeof readRaw>[1] = (part, row) => {
      const { schema, rows: length, columns } = batchOf(part, row);
      expect(length).toBe(1);
      rows.push([schema.name, ...columns.map(([cell]) => cell), [...part.values]]);
    };
    const read = readRaw(path, take, types && { types });
    const lines = await read.then(({ lines }) => lines).catch((error: Error) => error.message);
    return { rows, lines };
  };

  it('tells the rows of all tables in the order of the file, plain and gzip', async () => {
    const place = [1307509201, 'i101-101.ranger.tacc.utexas.edu', '1981063'];
    const second = GROUP.replace('09201 ', '09801 ').replace('%begin', '%end');
    const later = [1307509801, ...place.slice(1)];
    const group = (at: unknown[], line: number) => ['node_group', ...at, 1302755532, line, []];
    const cpu = [429720418n, 43516346n];
    const ps = [2n ** 64n - 1n, 1600n];
    const marks = [
      [group(place, 8), ['node_mark', ...place, 'begin 1981063', []]],
      [group(later, 13), ['node_mark', ...later, 'end 1981063', []]],
    ];
    const records = (at: unknown[]) => [
      ['node_cpu', ...at, '11', ...cpu, cpu],
      ['node_ps', ...at, '-', ...ps, ps],
    ];
    const text = HEADER + GROUP + second;
    for (const path of [file('p', text), file('p.gz', gzipSync(text))]) {
      const rows = [...marks[0], ...records(place), ...marks[1], ...records(later)];
      expect(await rowsOf(path)).toEqual({ lines: 16, rows });
      expect(await rowsOf(path, [])).toEqual({ lines: 16, rows: marks.flat() });
    }
  });

  it('gives the rows that its tables have, which may be read again', async () => {
    const path = file('again', HEADER + GROUP + GROUP.replace('09201 ', '09801 '));
    const { rows } = await rowsOf(path);
    const source = openFile(path);
    const opened = openingRaw(source, { inOrder: true });
    let step = opened.next();
    while (step.done !== true) step = opened.next();
    for (const part of step.value.parts) {
      const of = rows.filter(([name]) => name === part.schema.name).map((row) => row.slice(1, -1));
      const read = [...part.read([...part.schema.metrics.keys()])].map((row) => batchOf(part, row));
      const cells = read.flatMap(({ rows: length, columns }) =>
        Array.from({ length }, (_, row) => columns.map((column) => column[row])),
      );
      expect(cells).toEqual(of);
    }
    source.close();
  });

  it('delivers what a damaged gzip still holds, then says where it ends', async () => {
    const text = HEADER + GROUP.repeat(2000).replaceAll('cpu 11', 'cpu 12');
    const packed = gzipSync(text);
    const path = file('cut.gz', packed.subarray(0, packed.length - 9));
    const { rows, lines } = await rowsOf(path);
    expect(lines).toMatch(/cut\.gz: after line \d+: damaged gzip/);
    expect(rows.length).toBeGreaterThan(1000);
  });

  it.each([
    ['empty', '', /line 1: empty/],
    ['other', 'hello\n', /line 1: not a raw stats file/],
  ])('refuses a file that is none: %s', async (name, content, expected) => {
    const read = readRaw(file(name, content), () => {});
    await expect(read).rejects.toThrow(expected);
    await expect(readRaw(join(folder, 'nowhere'), () => {})).rejects.toThrow(FormatError);
  });
});

describe('bytes that arrive piece by piece', () => {
  it('are tables as they come', () => {
    const found: unknown[] = [];
    const source = new ArrivingBytes('arriving');
    const opened = TACC.open(source, { growing: true });
    const text = Buffer.from(HEADER + GROUP);
    for (let at = 0; at < text.length; at += 50) {
      source.push(text.subarray(at, at + 50));
      opened.grow?.((part, rows) => {
        const { schema, rows: length, columns } = batchOf(part, rows);
        const all = Array.from({ length }, (_, k) => columns.map((column) => column[k]));
        found.push(...all.map((row) => [schema.name, ...row]));
      });
    }
    const host = 'i101-101.ranger.tacc.utexas.edu';
    expect(found).toEqual([
      ['node_mark', 1307509201, host, '1981063', 'begin 1981063'],
      ['node_cpu', 1307509201, host, '1981063', '11', 429720418n, 43516346n],
      ['node_ps', 1307509201, host, '1981063', '-', 2n ** 64n - 1n, 1600n],
    ]);
    expect(source.read(0, new Uint8Array(9))).toBe(0);
  });
});
