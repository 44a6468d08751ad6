import { describe, expect, it } from 'vitest';
import { plainName } from '../../src/model/schema-check.ts';

describe('a name', () => {
  it('keeps what a column may hold, a byte order mark too, and has an underscore for the rest', () => {
    expect(plainName('\ufeffabc')).toBe('\ufeffabc');
    expect(plainName('a\u0000b\ud800')).toBe('a_b\ufffd');
    expect(plainName('')).toBe('_');
  });
});
