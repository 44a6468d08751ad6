/** Values of 64 bits in two halves. */
import fc from 'fast-check';
import { RawWriter } from 'triscope/formats/tacc';
import { describe, expect, it } from 'vitest';

function written(high: number, low: number): string {
  let text = '';
  const header = { hostname: 'h', uname: 'u', uptime: 0, schemas: [] };
  const writer = new RawWriter(header, (bytes) => (text += Buffer.from(bytes).toString()));
  writer.record('t', 'd');
  writer.words(high, low);
  writer.endRecord(1);
  writer.flush();
  return text;
}

describe('words', () => {
  it.each([
    [0, 0, '0'],
    [1, 0, '4294967296'],
    [0x1fffff, 0xffffffff, '9007199254740991'],
    [0x200000, 0, '9007199254740992'],
    [0x8ac72304, 0x89e80000, '10000000000000000000'],
    [0xffffffff, 0xffffffff, '18446744073709551615'],
  ])('%i, %i are %s', (high, low, digits) => {
    expect(written(high, low)).toBe(`t d ${digits}\n`);
  });

  it('are the digits of the number that they make', () => {
    const half = fc.oneof(
      fc.integer({ min: 0, max: 0xffffffff }),
      fc.constantFrom(0, 1, 0xffffffff),
    );
    fc.assert(
      fc.property(half, half, (high, low) => {
        expect(written(high, low)).toBe(`t d ${(BigInt(high) << 32n) | BigInt(low)}\n`);
      }),
    );
  });
});
