/** Compressed parts that are made apart. */
import { crc32, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { crcOfBoth, deflated } from '../../../src/query/export/deflate.ts';

it('the CRC of both is that of the bytes behind one another', () => {
  const bytes = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(bytes, bytes, (first, second) => {
      const whole = crc32(Buffer.concat([first, second]));
      expect(crcOfBoth(crc32(first), crc32(second), second.length)).toBe(whole);
    }),
  );
  const large = Buffer.alloc((1 << 20) + 7, 'abc');
  expect(crcOfBoth(crc32('x'), crc32(large), large.length)).toBe(
    crc32(Buffer.concat([Buffer.from('x'), large])),
  );
});

it('parts behind one another are one stream', () => {
  const texts = ['first '.repeat(500), '', 'second '.repeat(9)].map((text) => Buffer.from(text));
  const end = Uint8Array.of(3, 0);
  const stream = Buffer.concat([...texts.map((text) => deflated(text).bytes), end]);
  expect(inflateRawSync(stream)).toEqual(Buffer.concat(texts));
});
