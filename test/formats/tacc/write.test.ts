/** What is written is the seed's text, and what the reader gives back. */
import fc from 'fast-check';
import { RawParser, type RawStyle, RawWriter } from 'triscope/formats/tacc';
import { describe, expect, it } from 'vitest';

const CPU = {
  type: 'cpu',
  keys: [
    { name: 'user', kind: 'event' as const, bits: 64, unit: 'cs' },
    { name: 'CTR0', kind: 'event' as const, bits: 48, unit: '' },
  ],
};
const HEADER = {
  hostname: 'i101-101.ranger.tacc.utexas.edu',
  uname: 'Linux x86_64 2.6.18 #18 SMP',
  uptime: 4753669.9,
  schemas: [CPU],
};

function written(style: RawStyle, write: (writer: RawWriter) => void): string {
  let text = '';
  const sink = (bytes: Uint8Array) => {
    text += Buffer.from(bytes).toString();
  };
  write(new RawWriter(HEADER, sink, style));
  return text;
}

describe('the writer', () => {
  it('writes a file of 1.0 as the original does', () => {
    const text = written('1.0', (w) => {
      w.header();
      w.group(1307509201_999999, ['1981063']);
      w.mark('begin 1981063');
      w.record('cpu', '11');
      w.bigint(429720418n);
      w.number(1685980);
      expect(w.endRecord(2)).toBe(true);
      w.flush();
    });
    expect(text).toBe(`$tacc_stats 1.0.2
$hostname i101-101.ranger.tacc.utexas.edu
$uname Linux x86_64 2.6.18 #18 SMP
$uptime 4753669
!cpu user,E,U=cs CTR0,E,W=48

1307509201 1981063
%begin 1981063
cpu 11 429720418 1685980
`);
  });

  it('writes groups of 2.3 with microseconds and host, - for no job', () => {
    const text = written('2.3', (w) => {
      w.group(1795226192_000042, []);
      w.flush();
    });
    expect(text).toBe('\n1795226192.000042 - i101-101.ranger.tacc.utexas.edu\n');
  });

  it('keeps one mark a line, and blanks out of devices', () => {
    const text = written('1.0', (w) => {
      w.group(1e6, ['a,b']);
      w.mark('two\nlines');
      w.record('cpu', 'a b');
      w.digits(Buffer.from('x123y'), 1, 4);
      w.number(0);
      w.endRecord(2);
      w.flush();
    });
    expect(text).toBe('\n1 a,b\n%two\n%lines\ncpu a_b 123 0\n');
  });

  it('takes back a record that is not whole', () => {
    const text = written('1.0', (w) => {
      w.group(1e6, []);
      w.record('cpu', '0');
      w.number(1);
      expect(w.endRecord(2)).toBe(false);
      w.record('cpu', '1');
      w.number(1);
      w.dropRecord();
      w.flush();
    });
    expect(text).toBe('\n1 -\n');
  });

  it('writes what the reader reads', () => {
    const value = fc.bigInt(0n, 2n ** 64n - 1n);
    const row = fc.tuple(fc.nat(), value, fc.maxSafeNat());
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 200 }), (rows) => {
        const text = written('2.3', (w) => {
          w.header();
          w.group(1795226192_368273, ['7']);
          for (const [device, big, small] of rows) {
            w.record('cpu', String(device));
            w.bigint(big);
            w.number(small);
            w.endRecord(2);
          }
          w.flush();
        });
        const read: unknown[] = [];
        const parser = new RawParser({
          record: (_, device, values) => read.push([Number(device), values[0], Number(values[1])]),
          problem: ({ reason }) => read.push(reason),
        });
        parser.push(Buffer.from(text));
        parser.end();
        expect(read).toEqual(rows);
      }),
    );
  });
});
