/**
 * The reader against a plain one, which splits texts into words, on texts that nobody wrote: made by a grammar, and
 * genuine ones with damage. TRISCOPE_FUZZ=100000 for the long way.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { bytesSource, FormatError } from 'triscope/formats';
import { parseSchema, RawParser, TACC } from 'triscope/formats/tacc';
import { describe, expect, it } from 'vitest';

const GOLDEN = process.env.TRISCOPE_GOLDEN;
const RUNS = Number(process.env.TRISCOPE_FUZZ ?? 300);
const OPTIONS = { numRuns: RUNS, timeout: 3_600_000 };

/** Groups and records as the grammar says, one text each. */
function plainly(text: string): string[] {
  const told: string[] = [];
  const lengths = new Map<string, number>();
  let groups = 0;
  const lines = text.split('\n');
  lines.pop();
  for (const whole of lines) {
    const line = whole.replace(/\r+$/, '');
    const first = line.charAt(0);
    if (line === '' || first === '#' || first === '@' || first === '$') continue;
    if (first === '%') {
      if (groups > 0) told.push(line);
    } else if (first === '!') {
      const schema = parseSchema(line.slice(1));
      if (typeof schema !== 'string') lengths.set(schema.type, schema.keys.length);
    } else if (first >= '0' && first <= '9') {
      const words = line.split(/\s+/).filter(Boolean);
      if (words.length > 3 || !/^\d+(\.\d+)?$/.test(words[0])) continue;
      groups++;
      told.push(`@${words[0]} ${(words[1] ?? '').split(',').filter(Boolean)} ${words[2] ?? null}`);
    } else if (groups > 0) {
      const [type, device, ...values] = line.split(/[ \t]+/);
      if (values.at(-1) === '') values.pop();
      if (!device || lengths.get(type) !== values.length) continue;
      const isRight = (v: string) => /^\d+$/.test(v) && BigInt(v) < 2n ** 64n;
      if (values.every(isRight))
        told.push(`${type} ${device} ${values.map((v) => BigInt(v)).join(' ')}`);
    }
  }
  return told;
}

/** The same by the reader, which gets the text in pieces. */
function byReader(bytes: Uint8Array, piece: number): string[] {
  const told: string[] = [];
  let lost = 0;
  const parser = new RawParser({
    group: ({ time, jobIds, host }) => told.push(`@${time} ${jobIds} ${host}`),
    mark: (text) => told.push(`%${text}`),
    record: ({ type }, device, values) => told.push(`${type} ${device} ${[...values].join(' ')}`),
    problem: ({ text, reason, line }) => {
      lost++;
      expect(line).toBeGreaterThan(0);
      expect(reason).not.toBe('');
      expect(text.length).toBeLessThan(500);
    },
  });
  for (let at = 0; at < bytes.length; at += piece) {
    parser.push(Uint8Array.from(bytes.subarray(at, at + piece)));
  }
  const summary = parser.end();
  expect(summary.problems).toBe(lost);
  return told;
}

const number = fc.oneof(
  { weight: 6, arbitrary: fc.nat(2_000_000_000).map(String) },
  { weight: 3, arbitrary: fc.bigInt(0n, 2n ** 64n - 1n).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '-1',
      '1e3',
      '18446744073709551616',
      '0'.repeat(30),
      '007',
      '1.5',
      '0x1',
    ),
  },
);
const gap = fc.oneof(
  { weight: 9, arbitrary: fc.constant(' ') },
  fc.constantFrom('  ', '\t', ' \t '),
);
const type = fc.constantFrom('cpu', 'mem', 'ib', 'cpux', 'c', 'gpu');
const device = fc.constantFrom('0', '1', 'mlx4_0.1', '-', 'é', 'a/b:c', '10');
const record = fc
  .tuple(
    type,
    device,
    fc.array(fc.tuple(gap, number), { maxLength: 5 }),
    gap,
    fc.constantFrom('', '', '', ' ', '\r'),
  )
  .map(
    ([t, d, values, between, end]) =>
      t + between + d + values.map((v) => v.join('')).join('') + end,
  );
const schema = fc
  .tuple(
    type,
    fc.array(fc.constantFrom('a,E', 'b', 'c,W=32,E', 'd,C', 'e,,E', 'f,U=KB'), { maxLength: 4 }),
  )
  .map(([t, keys]) => `!${[t, ...keys].join(' ')}`);
const group = fc
  .tuple(
    fc.oneof(fc.nat(2_000_000_000).map(String), fc.constantFrom('1.5', '1.', '1.2.3')),
    fc.constantFrom('', ' -', ' 1,2 c1', ' 3 c1 x', '  4'),
  )
  .map((parts) => parts.join(''));
const line = fc.oneof(
  { weight: 8, arbitrary: record },
  { weight: 2, arbitrary: schema },
  { weight: 3, arbitrary: group },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '\r',
      '%begin 1',
      '#x',
      '@y',
      '$hostname c1',
      '$',
      '!',
      'word',
      '%',
    ),
  },
  { weight: 1, arbitrary: fc.string() },
);
const piece = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constant(1 << 20));

describe('texts made by a grammar', () => {
  it('are read as plainly', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), piece, fc.boolean(), (lines, size, whole) => {
        const text = `!cpu a b\n!mem x\n${lines.join('\n')}${whole ? '\n' : ''}`;
        expect(byReader(Buffer.from(text), size)).toEqual(plainly(Buffer.from(text).toString()));
      }),
      OPTIONS,
    );
  }, 3_600_000);
});

const SAMPLE = `$tacc_stats 2.3.5
$hostname c1
$uptime 100
!cpu user,E,U=cs idle,E,U=cs
!ib rx,E,W=32 tx,E,W=32
!mem MemTotal,U=KB
${Array.from({ length: 12 }, (_, k) => `\n${1000 + k}.5 7 c1\ncpu 0 ${k * 1000} 18446744073709551${600 + k}\ncpu 1 5 ${k}\nib m/1 0 429496729${k % 10}\nmem 0 8000000000\n`).join('')}`;

function genuine(): Buffer[] {
  if (GOLDEN === undefined) return [Buffer.from(SAMPLE)];
  const root = join(GOLDEN, 'tacc_stats');
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\/\d+(\.gz)?$/.test(path))
    .sort()
    .map((path) => {
      const bytes = readFileSync(join(root, path));
      return path.endsWith('.gz') ? gunzipSync(bytes) : bytes;
    });
}

const FILES = genuine();

interface Damage {
  readonly at: number;
  readonly much: number;
  readonly how: 'cut' | 'flip' | 'insert' | 'repeat' | 'zero' | 'swap';
  readonly bytes: Uint8Array;
}

function damaged(bytes: Buffer, { at, much, how, bytes: other }: Damage): Buffer {
  const place = Math.floor(at * bytes.length);
  const before = bytes.subarray(0, place);
  const part = bytes.subarray(place, place + much);
  const rest = bytes.subarray(place + much);
  if (how === 'cut') return Buffer.concat([before, rest]);
  if (how === 'insert') return Buffer.concat([before, other, bytes.subarray(place)]);
  if (how === 'repeat') return Buffer.concat([before, part, part, rest]);
  if (how === 'swap') return Buffer.concat([rest, before, part]);
  return Buffer.concat([before, part.map((byte) => (how === 'zero' ? 0 : byte ^ 0x15)), rest]);
}

const damage = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  much: fc.integer({ min: 1, max: 60 }),
  how: fc.constantFrom('cut', 'flip', 'insert', 'repeat', 'zero', 'swap'),
  bytes: fc.uint8Array({ maxLength: 12 }),
}) as fc.Arbitrary<Damage>;

/** A part of a file: its header, then some kilobytes from somewhere. */
const part = fc
  .tuple(
    fc.nat(FILES.length - 1),
    fc.double({ min: 0, max: 1, noNaN: true }),
    fc.integer({ min: 100, max: 4000 }),
  )
  .map(([file, from, length]) => {
    const bytes = FILES[file];
    const header = bytes.indexOf('\n\n') + 1;
    const at = header + Math.floor(from * (bytes.length - header));
    return Buffer.concat([bytes.subarray(0, header), bytes.subarray(at, at + length)]);
  });

describe('genuine texts with damage', () => {
  it('are read as plainly, and `info`, `read` and tables take them or say where they stop', () => {
    fc.assert(
      fc.property(
        part,
        fc.array(damage, { minLength: 1, maxLength: 4 }),
        piece,
        (whole, damages, size) => {
          const bytes = damages.reduce(damaged, whole);
          const told = byReader(bytes, size);
          expect(told).toEqual(plainly(bytes.toString()));
          const source = bytesSource('damaged', bytes);
          const opened = TACC.open(source);
          const info = opened.info();
          const records = Object.values(info.records).reduce((sum, count) => sum + count, 0);
          expect(records).toBe(told.filter((text) => !/^[@%]/.test(text)).length);
          let rows = 0;
          for (const part of opened.parts) {
            if (part.schema.name === 'node_mark') continue;
            for (const step of part.read([])) rows += step.rows;
          }
          expect(rows).toBe(records);
        },
      ),
      OPTIONS,
    );
  }, 3_600_000);

  it('have nothing in what is told of them that a terminal obeys', () => {
    const text =
      '$hostname c1\n!cpu a,E i\u0000\u001b[2J,E\n\n1000 -\ncpu 0 1 5\n\n1001 -\ncpu 0 2 2\n';
    const source = bytesSource('c1/1000', Buffer.from(text));
    const { suspect } = TACC.open(source, { counters: true }).info();
    expect(suspect.map(({ what }) => what).join()).toContain('i\\x00\\x1b[2J: fell from 5 to 2');
  });

  it('do not make a counter suspect that rolled over', () => {
    const text =
      '$hostname c1\n!x a,E,W=48 b,E c,E\n\n1000 -\nx 0 281474976710600 9 5\n\n1001 -\nx 0 50 1 6\n';
    const info = TACC.open(bytesSource('c1/1000', Buffer.from(text)), { counters: true }).info();
    expect(info.suspect.map(({ where, what }) => `${where}: ${what}`)).toEqual([
      expect.stringMatching(/^line 8: x 0 b: /),
    ]);
    expect(info.more).toMatchObject({ counters: { wrapped: 1 } });
  });

  it('packed, are read up to the damage, and the damage is told', () => {
    fc.assert(
      fc.property(part, damage, (whole, one) => {
        const packed = gzipSync(whole);
        const bytes = damaged(packed, { ...one, at: Math.max(one.at, 11 / packed.length) });
        const source = bytesSource('1000.gz', bytes);
        const info = TACC.open(source).info();
        const found: string[] = [];
        try {
          TACC.open(source, { records: (block) => found.push(block.kind(0).name) });
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError);
          expect(info.damaged).toBe(true);
        }
        const records = Object.values(info.records).reduce((sum, count) => sum + count, 0);
        expect(found.filter((name) => name !== 'group')).toHaveLength(records);
      }),
      // Each starts two threads that unpack.
      { ...OPTIONS, numRuns: Math.ceil(RUNS / 15) },
    );
  }, 3_600_000);
});
